//! What is true of the listing: the directory and the records of the groups. It reads no more records than are asked for.

use std::sync::Arc;

use async_trait::async_trait;
use coordinator_core::names::GroupId;
use coordinator_core::settings::Settings;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use projection::{Namespace, Position, Range, Source, SourceError};
use store::{GroupStore, StoreError};

use super::entry::{ListedGroup, order};
use crate::engine::entry_id::entry_id;
use crate::engine::of_stream::group_ids_where;

/// How many records are read at once.
const AT_ONCE: usize = 8;

pub(super) struct ListingSource {
    store: Arc<dyn GroupStore>,
    settings: Settings,
}

impl ListingSource {
    pub(super) fn new(store: Arc<dyn GroupStore>, settings: Settings) -> Self {
        Self { store, settings }
    }

    /// The groups behind a place, at most so many. Those that can't be read are logged and left out.
    async fn behind(
        &self,
        after: Option<&Position>,
        count: usize,
    ) -> Result<Vec<ListedGroup>, StoreError> {
        let place = |group: &GroupId| Position {
            order: order(),
            id: entry_id(group),
        };
        let is_behind = |group: &GroupId| after.is_none_or(|after| place(group) > *after);
        let groups = group_ids_where(&*self.store, is_behind).await?;
        let mut groups: Vec<GroupId> = groups.into_iter().collect();
        groups.sort_by_key(place);
        // The directory may name some that are gone: as many more are read then.
        let read = async |group| ListedGroup::read(&*self.store, &self.settings, &group).await;
        let reading = stream::iter(groups).map(read);
        let reading = reading.buffered(AT_ONCE);
        let there = reading.try_filter_map(async |listed| Ok(listed));
        there.take(count).try_collect().await
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
        Ok(self.behind(after, count).await?)
    }
}
