//! What is true of the listing: the directory and the records of the groups. It reads no more records than are asked for.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use coordinator_core::names::{GroupId, StreamPrefix};
use coordinator_core::settings::Settings;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use projection::{EntryId, Limit, Namespace, Position, Range, Source, SourceError};
use store::{GroupStore, StoreError};

use super::entry::ListedGroup;
use crate::engine::directory::names_behind;
use crate::engine::entry_id::entry_id;

/// How many records are read at once.
const AT_ONCE: usize = 8;

/// Names in the order of the listing.
type Names = BTreeMap<EntryId, GroupId>;

pub(super) struct ListingSource {
    store: Arc<dyn GroupStore>,
    settings: Settings,
    /// The names that a rebuild has read and whose groups it was not yet given: it walks the directory once.
    of_rebuild: Mutex<Option<Names>>,
}

impl ListingSource {
    pub(super) fn new(store: Arc<dyn GroupStore>, settings: Settings) -> Self {
        Self {
            store,
            settings,
            of_rebuild: Mutex::default(),
        }
    }

    /// The first groups of these names, at most so many, which are taken out. Those that are gone or can't be read are left out; the latter are logged.
    async fn take(&self, names: &mut Names, count: usize) -> Result<Vec<ListedGroup>, StoreError> {
        let mut found = Vec::new();
        while found.len() < count && !names.is_empty() {
            let some = std::iter::from_fn(|| names.pop_first());
            let some: Vec<_> = some.take(count - found.len()).collect();
            let read = some.into_iter().map(|(_, group)| self.read(group));
            let read: Vec<_> = stream::iter(read).buffered(AT_ONCE).try_collect().await?;
            found.extend(read.into_iter().flatten());
        }
        Ok(found)
    }

    async fn read(&self, group: GroupId) -> Result<Option<ListedGroup>, StoreError> {
        ListedGroup::read(&*self.store, &self.settings, &group).await
    }

    /// The groups behind a place, at most so many. The directory is walked again only where it names many that are gone.
    async fn behind(
        &self,
        after: Option<&Position>,
        count: usize,
    ) -> Result<Vec<ListedGroup>, StoreError> {
        let mut after = after.map(|after| after.id.clone());
        let mut found = Vec::new();
        loop {
            let kept = count.max(Limit::MOST.get());
            let mut names = names_behind(&*self.store, after.as_ref(), kept).await?;
            let is_all = names.len() < kept;
            after = names.last_key_value().map(|(id, _)| id.clone());
            let room = count - found.len();
            found.extend(self.take(&mut names, room).await?);
            if is_all || found.len() == count {
                return Ok(found);
            }
        }
    }

    /// The groups of a stream behind a place, at most so many, and whether these are all.
    pub(super) async fn of_stream(
        &self,
        stream: &StreamPrefix,
        after: Option<EntryId>,
        count: usize,
    ) -> Result<(Vec<ListedGroup>, bool), StoreError> {
        let all = self.store.groups_of(stream).await?;
        let named = all.into_iter().map(|group| (entry_id(&group), group));
        let mut names: Names = named
            .filter(|(id, _)| after.as_ref().is_none_or(|after| id > after))
            .collect();
        let found = self.take(&mut names, count).await?;
        Ok((found, names.is_empty()))
    }

    /// All groups behind a place, after one walk of the directory.
    pub(super) async fn all_behind(&self, place: &EntryId) -> Result<Vec<ListedGroup>, StoreError> {
        let mut names = names_behind(&*self.store, Some(place), usize::MAX).await?;
        self.take(&mut names, usize::MAX).await
    }

    fn of_rebuild(&self) -> MutexGuard<'_, Option<Names>> {
        self.of_rebuild
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Source<ListedGroup> for ListingSource {
    async fn head(&self, _: &Namespace, range: &Range) -> Result<Vec<ListedGroup>, SourceError> {
        let (after, limit) = (range.after.as_ref(), range.limit.get());
        Ok(self.behind(after, limit).await?)
    }

    async fn page(
        &self,
        _: &Namespace,
        after: Option<&Position>,
        count: usize,
    ) -> Result<Vec<ListedGroup>, SourceError> {
        // One rebuild at a time asks for pages, from the beginning to the end. What is left of one that broke off is old.
        let kept = self.of_rebuild().take().filter(|_| after.is_some());
        let mut names = match kept {
            Some(names) => names,
            None => {
                let after = after.map(|after| &after.id);
                names_behind(&*self.store, after, usize::MAX).await?
            }
        };
        if let Some(after) = after {
            names = names.split_off(&after.id);
            names.remove(&after.id);
        }
        let found = self.take(&mut names, count).await?;
        *self.of_rebuild() = Some(names).filter(|names| !names.is_empty());
        Ok(found)
    }
}
