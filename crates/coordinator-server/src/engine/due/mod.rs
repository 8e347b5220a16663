//! Due work: which groups want a tick, so that a tick skips nothing that is due and loads nothing that is not (rule M5). What this coordinator knows itself is
//! in memory; what others know is in an index that all of them share. What both lack, the sweep finds.

mod entry;
mod source;
mod times;
mod visits;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use coordinator_core::names::GroupId;
use coordinator_core::settings::Settings;
use coordinator_core::time::{Millis, Timestamp};
use futures_util::future::join_all;
use projection::{
    FallbackReason, Index, Limit, Metrics, Position, Projection, Range, ServedBy,
    Settings as IndexSettings, Snapshot, SnapshotError,
};
use store::GroupStore;

pub(super) use visits::Visit;

use super::entry_id::{entry_id, part, part_of};
use super::outbox::Outbox;
pub(super) use entry::version_of;
use entry::{DueGroup, PARTS, order_of};
use source::DueSource;
use times::{DueTimes, Telling};
use visits::Visits;

/// For how long the index is waited for: a tick waits as long at most.
const INDEX: Duration = Duration::from_millis(250);

/// The index is read about as often in a lease, with the next tick: it tells of what other coordinators left behind.
const READS_IN_A_LEASE: u64 = 15;

/// The groups that wait for something.
pub(super) struct DueWork {
    times: Arc<DueTimes>,
    visits: Arc<Visits>,
    shared: Option<Shared>,
}

/// The index that all coordinators share.
struct Shared {
    projection: Projection<DueGroup>,
    outbox: Outbox<Telling>,
    /// Behind which place each part is read on with the next tick: there was more than was read at once.
    after: Mutex<Vec<Option<Position>>>,
    is_well: AtomicBool,
    /// How long the index is not read again when it told of all that was due, and when it was read last.
    pause: Millis,
    read_at: Mutex<Option<Timestamp>>,
    /// How old the oldest part was of those that answered last, in milliseconds.
    oldest: AtomicU64,
}

impl DueWork {
    pub(super) fn new(
        store: Arc<dyn GroupStore>,
        settings: Settings,
        index: Option<Arc<dyn Index>>,
    ) -> Self {
        let times = Arc::new(DueTimes::default());
        let shared = index.map(|index| {
            let pause = Millis::new(settings.member_lease_ttl().get() / READS_IN_A_LEASE);
            let source = DueSource::new(store, settings, Arc::clone(&times));
            let settings = IndexSettings::default().name("due").index_timeout(INDEX);
            let projection = Projection::shared(Arc::new(source), Some(index), settings);
            Shared {
                projection,
                outbox: Outbox::default(),
                after: Mutex::new(vec![None; PARTS.into()]),
                is_well: AtomicBool::new(false),
                pause,
                read_at: Mutex::default(),
                oldest: AtomicU64::default(),
            }
        });
        Self {
            times,
            visits: Visits::new(),
            shared,
        }
    }

    /// What became of the questions to the index; none where there is none.
    pub(super) fn index_metrics(&self) -> Option<Metrics> {
        let shared = self.shared.as_ref()?;
        let mut metrics = shared.projection.metrics();
        metrics.age = Duration::from_millis(shared.oldest.load(Ordering::Relaxed));
        Some(metrics)
    }

    /// A group was looked at, and wants its next tick then; `None` if it waits for nothing.
    pub(super) fn note(&self, group: &GroupId, due: Option<Timestamp>, seen_at: Timestamp) {
        let telling = self.times.note(group, due, seen_at);
        if let (Some(telling), Some(shared)) = (telling, &self.shared) {
            shared.outbox.put(group.clone(), telling);
        }
    }

    /// A group is to be looked at soon, or not: when it wants that is not known.
    pub(super) fn look_soon(&self, group: &GroupId, soon: Option<Timestamp>) {
        self.times.look_soon(group, soon);
    }

    /// Whether the index answers, so that nobody is forgotten between two sweeps but by a lost write.
    pub(super) fn is_shared(&self) -> bool {
        let shared = self.shared.as_ref();
        shared.is_some_and(|shared| shared.is_well.load(Ordering::Relaxed))
    }

    /// Wants visits to all groups that are due.
    pub(super) async fn want_due(&self, now: Timestamp) {
        for group in self.times.take_due(now) {
            self.visits.want(group);
        }
        let Some(shared) = &self.shared else { return };
        if !shared.wants_reading(now) {
            return;
        }
        for found in shared.due(now).await {
            match self.times.compare(&found, now) {
                Some(telling) => shared.outbox.put(found.group, telling),
                None => self.visits.want(found.group),
            }
        }
    }

    /// The next visit, as soon as there is room for it.
    pub(super) async fn next_visit(&self) -> Visit {
        self.visits.next().await
    }

    /// Tells the index what is found out, for ever.
    pub(super) async fn tell_index(&self) {
        let Some(shared) = &self.shared else {
            return std::future::pending().await;
        };
        let tell = |group, telling| shared.tell(group, telling);
        shared.outbox.tell(tell).await;
    }
}

impl Shared {
    /// Whether to read the index with this tick: there is more to read, or it was read a while ago.
    fn wants_reading(&self, now: Timestamp) -> bool {
        let has_more = self.after().iter().any(Option::is_some);
        let mut read_at = self.read_at.lock().unwrap_or_else(PoisonError::into_inner);
        let is_recent = read_at.is_some_and(|at| at <= now && now < at.plus(self.pause));
        if is_recent && !has_more {
            return false;
        }
        *read_at = Some(now);
        true
    }

    /// What is due by the index: of each part a page, and with the next tick the next one.
    async fn due(&self, now: Timestamp) -> Vec<DueGroup> {
        let after = self.after().clone();
        let reads = (0..PARTS)
            .zip(after)
            .map(|(number, after)| self.read(number, after, now));
        let mut is_well = true;
        let mut oldest = None;
        let mut found = Vec::new();
        let mut after = Vec::with_capacity(PARTS.into());
        for read in join_all(reads).await {
            // Its source never fails; if it did, the sweep would find what is missing.
            let Ok(read) = read else {
                is_well = false;
                after.push(None);
                continue;
            };
            is_well &= matches!(
                read.served_by,
                ServedBy::Index | ServedBy::Source(FallbackReason::Empty)
            );
            if read.served_by == ServedBy::Index {
                oldest = oldest.max(Some(read.age));
            }
            let is_full = read.items.len() == Limit::MOST.get();
            after.push(read.items.last().filter(|_| is_full).map(Position::of));
            found.extend(read.items);
        }
        *self.after() = after;
        self.is_well.store(is_well, Ordering::Relaxed);
        if let Some(oldest) = oldest {
            let oldest = u64::try_from(oldest.as_millis()).unwrap_or(u64::MAX);
            self.oldest.store(oldest, Ordering::Relaxed);
        }
        found
    }

    async fn read(
        &self,
        number: u16,
        after: Option<Position>,
        now: Timestamp,
    ) -> Result<Snapshot<DueGroup>, SnapshotError> {
        let range = Range {
            limit: Limit::MOST,
            after,
            upper: Some(order_of(now)),
        };
        self.projection.range(&part(number), &range).await
    }

    async fn tell(&self, group: GroupId, telling: Telling) {
        let told = match telling {
            Telling::Due(due) => self.projection.upsert(&due).await,
            Telling::Nothing(seen_at) => {
                let (part, id) = (part_of(&group, PARTS), entry_id(&group));
                self.projection
                    .remove(&part, &id, version_of(seen_at))
                    .await
            }
        };
        if let Err(error) = told {
            tracing::debug!(%group, %error, "the index of due groups was not told");
        }
    }

    fn after(&self) -> MutexGuard<'_, Vec<Option<Position>>> {
        self.after.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::collections::BTreeMap;

    use coordinator_core::names::{ConsumerGroup, StreamPrefix};
    use futures_util::FutureExt;
    use projection::{Build, Entry, MemoryIndex, Projected};
    use store::MemoryStore;

    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_000_000);

    fn due(stream: &str, number: usize, ms: u64) -> DueGroup {
        DueGroup {
            group: GroupId {
                stream: StreamPrefix::parse(stream).unwrap(),
                group: ConsumerGroup::parse(&format!("group-{number}")).unwrap(),
            },
            due: Timestamp::from_ms(ms),
            seen_at: Timestamp::from_ms(1),
        }
    }

    /// Due work whose index was filled by another coordinator.
    async fn filled(all: impl Iterator<Item = DueGroup>) -> DueWork {
        let index = MemoryIndex::new();
        let mut parts: BTreeMap<_, Vec<Entry>> = BTreeMap::new();
        for due in all {
            let part = parts.entry(due.namespace().to_string());
            part.or_default().push(Entry::of(&due));
        }
        for number in 0..PARTS {
            let mut build = Build::new(&part(number));
            index.begin(&mut build).await.unwrap();
            let entries = parts.remove(&number.to_string()).unwrap_or_default();
            for page in entries.chunks(1_000) {
                index.load(&mut build, page).await.unwrap();
            }
            index.commit(build).await.unwrap();
        }
        let store = Arc::new(MemoryStore::new());
        DueWork::new(store, Settings::default(), Some(Arc::new(index)))
    }

    #[tokio::test]
    async fn m5_one_stream_with_10_000_due_groups_delays_no_other() {
        let crowd = (0..10_000).map(|number| due("crowd", number, 5));
        let orders = due("orders", 0, NOW.as_ms());
        let later = due("later", 0, NOW.as_ms() + 1);
        let work = filled(crowd.chain([orders.clone(), later])).await;
        work.want_due(NOW).await;
        let first = [work.next_visit().await, work.next_visit().await];
        assert!(first.iter().any(|visit| visit.group == orders.group));
        assert!(work.is_shared());
    }

    /// What is more than a page is read on with the next tick, and from the beginning after the end.
    #[tokio::test]
    async fn m5_nothing_that_is_due_is_skipped_however_much_there_is() {
        let work = filled((0..40_000).map(|number| due("crowd", number, 5))).await;
        let mut visited = std::collections::BTreeSet::new();
        let mut ticks = 0;
        while visited.len() < 40_000 {
            ticks += 1;
            assert!(ticks <= 4, "{} of 40,000 are visited", visited.len());
            work.want_due(NOW).await;
            let next = || tokio::task::unconstrained(work.next_visit()).now_or_never();
            while let Some(visit) = next() {
                visited.insert(visit.group.clone());
            }
        }
    }

    #[tokio::test]
    async fn what_this_coordinator_knows_better_is_told_to_the_index_and_not_visited() {
        let orders = due("orders", 0, 5);
        let work = filled(std::iter::once(orders.clone())).await;
        let later = NOW.plus(Millis::new(500));
        work.note(&orders.group, Some(later), Timestamp::from_ms(2));
        work.want_due(NOW).await;
        assert!(work.next_visit().now_or_never().is_none());
        let shared = work.shared.as_ref().unwrap();
        let mut telling = Box::pin(work.tell_index());
        assert!((&mut telling).now_or_never().is_none());
        assert_eq!(shared.due(NOW).await, []);
        let found = shared.due(later).await;
        assert_eq!((found.len(), found[0].due), (1, later));
    }

    /// A tick comes more often than the index is read, unless that had more than was read.
    #[tokio::test]
    async fn m5_the_index_is_read_now_and_then_and_what_is_known_here_with_each_tick() {
        let (orders, bills) = (due("orders", 0, 5), due("bills", 0, 5));
        let work = filled([orders.clone(), bills.clone()].into_iter()).await;
        let reads = || work.index_metrics().unwrap().served_by_index;
        work.want_due(NOW).await;
        let first = reads();
        assert!(first > 0);
        let known = due("known", 0, 5).group;
        work.note(&known, Some(NOW), Timestamp::from_ms(2));
        work.want_due(NOW.plus(Millis::new(999))).await;
        assert_eq!(reads(), first);
        let mut visited = Vec::new();
        for _ in 0..3 {
            visited.push(work.next_visit().await.group.clone());
        }
        visited.sort();
        assert_eq!(visited, [bills.group, known, orders.group]);
        work.want_due(NOW.plus(Millis::new(1_000))).await;
        assert!(reads() > first);
    }

    #[tokio::test]
    async fn without_an_index_what_is_known_here_is_visited() {
        let store = Arc::new(MemoryStore::new());
        let work = DueWork::new(store, Settings::default(), None);
        let orders = due("orders", 0, 5).group;
        work.note(&orders, Some(NOW), Timestamp::from_ms(2));
        work.want_due(NOW).await;
        assert_eq!(work.next_visit().await.group, orders);
        assert!(!work.is_shared());
    }
}
