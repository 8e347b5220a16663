//! A source of truth in memory that counts its questions and fails or waits on demand, and what it holds.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use projection::{
    EntryId, Namespace, Order, Position, Projected, Range, Source, SourceError, Stored, Unreadable,
    Version,
};
use tokio::sync::watch;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) space: String,
    pub(crate) id: String,
    pub(crate) order: i64,
    pub(crate) version: u64,
    pub(crate) text: String,
}

pub(crate) fn space(name: &str) -> Namespace {
    Namespace::new(name).unwrap()
}

pub(crate) fn id(name: &str) -> EntryId {
    EntryId::new(name).unwrap()
}

pub(crate) fn version(number: u64) -> Version {
    Version::new(number).unwrap()
}

/// An item whose text tells its version.
pub(crate) fn item(space: &str, id: &str, order: i64, version: u64) -> Item {
    Item {
        space: space.to_owned(),
        id: id.to_owned(),
        order,
        version,
        text: format!("text:{version}"),
    }
}

impl Projected for Item {
    fn namespace(&self) -> Namespace {
        space(&self.space)
    }

    fn id(&self) -> EntryId {
        id(&self.id)
    }

    fn order(&self) -> Order {
        Order::new(self.order).unwrap()
    }

    fn version(&self) -> Version {
        version(self.version)
    }

    fn payload(&self) -> Vec<u8> {
        self.text.clone().into_bytes()
    }

    fn restore(stored: Stored<'_>) -> Result<Self, Unreadable> {
        Ok(Self {
            space: stored.namespace.to_string(),
            id: stored.id.to_string(),
            order: stored.order.get(),
            version: stored.version.get(),
            text: String::from_utf8(stored.payload.to_vec())
                .map_err(|error| Unreadable(error.to_string()))?,
        })
    }
}

/// The source. Its rows are right by definition.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    rows: Mutex<BTreeMap<(String, i64, String), Item>>,
    /// Questions for heads so far, with what was asked.
    pub(crate) heads: Mutex<Vec<(Namespace, Range)>>,
    /// Sizes of the pages asked for.
    pub(crate) pages: Mutex<Vec<usize>>,
    pub(crate) fails: AtomicBool,
    pub(crate) pages_fail: AtomicBool,
    /// Answers that are given instead of the next pages.
    pub(crate) planted: Mutex<VecDeque<Vec<Item>>>,
    pub(crate) delay: Mutex<Duration>,
    /// Whether pages wait until they are let go.
    pub(crate) is_held: watch::Sender<bool>,
    pub(crate) slowest: Mutex<Duration>,
    pub(crate) pages_at_once: AtomicUsize,
    pub(crate) most_pages_at_once: AtomicUsize,
}

impl Rows {
    pub(crate) fn put(&self, item: &Item) {
        let mut rows = self.rows.lock().unwrap();
        rows.retain(|_, row| row.space != item.space || row.id != item.id);
        let place = (item.space.clone(), item.order, item.id.clone());
        rows.insert(place, item.clone());
    }

    /// As [`put`](Self::put), for many rows that are new.
    pub(crate) fn fill(&self, items: impl IntoIterator<Item = Item>) {
        let mut rows = self.rows.lock().unwrap();
        for item in items {
            rows.insert((item.space.clone(), item.order, item.id.clone()), item);
        }
    }

    pub(crate) fn delete(&self, space: &str, id: &str) {
        let mut rows = self.rows.lock().unwrap();
        rows.retain(|_, row| row.space != space || row.id != id);
    }

    pub(crate) fn all(&self, space: &str) -> Vec<Item> {
        self.some(space, |_| true, usize::MAX)
    }

    pub(crate) fn heads_asked(&self) -> usize {
        self.heads.lock().unwrap().len()
    }

    fn some(&self, space: &str, wanted: impl Fn(&Item) -> bool, count: usize) -> Vec<Item> {
        let rows = self.rows.lock().unwrap();
        let from = (space.to_owned(), i64::MIN, String::new());
        let within = rows.range(from..).map(|(_, row)| row);
        let within = within.take_while(|row| row.space == space);
        within
            .filter(|row| wanted(row))
            .take(count)
            .cloned()
            .collect()
    }

    async fn wait(&self) {
        let delay = *self.delay.lock().unwrap();
        // waits: as long as a slow source
        tokio::time::sleep(delay).await;
    }
}

#[async_trait]
impl Source<Item> for Rows {
    async fn head(&self, namespace: &Namespace, range: &Range) -> Result<Vec<Item>, SourceError> {
        let begun = std::time::Instant::now();
        self.heads
            .lock()
            .unwrap()
            .push((namespace.clone(), range.clone()));
        self.wait().await;
        if self.fails.load(Ordering::SeqCst) {
            return Err("the table is locked".into());
        }
        let within = |row: &Item| range.has(&Position::of(row));
        let rows = self.some(namespace.as_str(), within, range.limit.get());
        let mut slowest = self.slowest.lock().unwrap();
        *slowest = begun.elapsed().max(*slowest);
        Ok(rows)
    }

    async fn page(
        &self,
        namespace: &Namespace,
        after: Option<&Position>,
        count: usize,
    ) -> Result<Vec<Item>, SourceError> {
        self.pages.lock().unwrap().push(count);
        let at_once = self.pages_at_once.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_pages_at_once.fetch_max(at_once, Ordering::SeqCst);
        self.wait().await;
        let mut held = self.is_held.subscribe();
        held.wait_for(|is_held| !is_held).await.unwrap();
        self.pages_at_once.fetch_sub(1, Ordering::SeqCst);
        if self.pages_fail.load(Ordering::SeqCst) {
            return Err("the table is locked".into());
        }
        if let Some(planted) = self.planted.lock().unwrap().pop_front() {
            return Ok(planted);
        }
        let behind = |row: &Item| after.is_none_or(|after| Position::of(row) > *after);
        Ok(self.some(namespace.as_str(), behind, count))
    }
}
