//! All groups, page by page: from an index where there is one and it answers, else from their records. Nothing is decided by it.

mod entry;
mod source;

use std::sync::Arc;
use std::time::Duration;

use coordinator_core::names::{GroupId, StreamPrefix};
use coordinator_core::record::GroupRecord;
use coordinator_core::settings::Settings;
use coordinator_core::time::Timestamp;
use projection::{
    Applied, EntryId, Index, Limit, Metrics, Position, Projection, Range, ServedBy,
    Settings as IndexSettings, WriteError,
};
use store::{GroupStore, Snapshot, Stamp, StoreError};

pub(crate) use entry::ListedGroup;
use entry::{all_groups, order};
use source::ListingSource;

use super::due::version_of;
use super::entry_id::{before, entry_id};
use super::outbox::{Outbox, Versioned};
use super::recorded::restored;
use super::{Engine, EngineError, seen};
use crate::convert;

/// For how long the index is waited for: nothing urgent is asked of it, and what it misses costs a rebuild.
const INDEX: Duration = Duration::from_millis(500);
/// How many groups are read at once for a stream, which has few.
const FEW: Limit = Limit::clamped(64);
/// For how long a listing waits for what the index is yet to be told.
const PATIENCE: Duration = Duration::from_millis(100);

/// The listing of all groups.
pub(super) struct Listing {
    settings: Settings,
    source: Arc<ListingSource>,
    projection: Projection<ListedGroup>,
    outbox: Outbox<Telling>,
    has_index: bool,
}

/// What the index is to be told of a group.
enum Telling {
    /// That it is recorded so, in this version.
    Changed(Arc<GroupRecord>, Stamp, Timestamp),
    Gone(Timestamp),
}

/// A part of the listing.
#[derive(Clone, Debug)]
pub(crate) struct ListingPage {
    /// The groups, in the order of their ids.
    pub(crate) groups: Vec<ListedGroup>,
    /// Where the next page begins; none at the end.
    pub(crate) next: Option<String>,
    /// How long ago the index was built from the records, single changes since then included; none where the records themselves were read.
    pub(crate) index_age: Option<Duration>,
}

impl ListingPage {
    /// The page behind this one comes to it. Both are as old as the older, and by the index only if both are.
    fn append(&mut self, more: Self) {
        self.groups.extend(more.groups);
        self.next = more.next;
        self.index_age = self.index_age.zip(more.index_age).map(|(a, b)| a.max(b));
    }
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ListingError {
    #[error("this is no cursor of a listing")]
    Cursor,
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Versioned for Telling {
    fn version(&self) -> Timestamp {
        match self {
            Self::Changed(_, _, at) | Self::Gone(at) => *at,
        }
    }
}

impl Listing {
    pub(super) fn new(
        store: Arc<dyn GroupStore>,
        settings: Settings,
        index: Option<Arc<dyn Index>>,
    ) -> Self {
        let source = Arc::new(ListingSource::new(store, settings));
        let has_index = index.is_some();
        let of_index = IndexSettings::default().name("groups").index_timeout(INDEX);
        Self {
            settings,
            projection: Projection::shared(Arc::clone(&source) as _, index, of_index),
            source,
            outbox: Outbox::default(),
            has_index,
        }
    }

    /// What became of the questions to the index.
    pub(super) fn index_metrics(&self) -> Metrics {
        self.projection.metrics()
    }

    /// A page of the groups of one stream, or of all.
    async fn page(
        &self,
        stream: Option<&StreamPrefix>,
        cursor: Option<&str>,
        limit: Limit,
    ) -> Result<ListingPage, ListingError> {
        // What this coordinator changed itself is in it, unless the index is slow.
        let _ = tokio::time::timeout(PATIENCE, self.outbox.told()).await;
        let cursor = cursor.map(EntryId::new).transpose();
        let cursor = cursor.map_err(|_| ListingError::Cursor)?;
        match stream {
            Some(stream) => self.page_of(stream, cursor, limit).await,
            None => self.read(None, cursor, limit).await,
        }
    }

    /// A page of the groups of one stream, a few at a time: what stands behind them is another stream's.
    async fn page_of(
        &self,
        stream: &StreamPrefix,
        cursor: Option<EntryId>,
        limit: Limit,
    ) -> Result<ListingPage, ListingError> {
        let few = limit.min(FEW);
        let mut page = self.read(Some(stream), cursor.clone(), few).await?;
        if page.index_age.is_none() {
            return Ok(self.recorded_of(stream, cursor, limit).await?);
        }
        while page.groups.len() < limit.get()
            && let Some(next) = page.next.take()
        {
            let cursor = EntryId::new(next).map_err(|_| ListingError::Cursor)?;
            let room = Limit::clamped(limit.get() - page.groups.len());
            let more = self.read(Some(stream), Some(cursor), room.min(few)).await?;
            page.append(more);
        }
        Ok(page)
    }

    /// The same by the records, of which only those of the stream are read.
    async fn recorded_of(
        &self,
        stream: &StreamPrefix,
        cursor: Option<EntryId>,
        limit: Limit,
    ) -> Result<ListingPage, StoreError> {
        let (groups, is_all) = self.source.of_stream(stream, cursor, limit.get()).await?;
        let last = groups.last().filter(|_| !is_all);
        Ok(ListingPage {
            next: last.map(|last| entry_id(&last.id).to_string()),
            groups,
            index_age: None,
        })
    }

    async fn read(
        &self,
        stream: Option<&StreamPrefix>,
        cursor: Option<EntryId>,
        limit: Limit,
    ) -> Result<ListingPage, ListingError> {
        let begin = stream.map(before);
        let after = cursor.max(begin).map(|id| Position { order: order(), id });
        let range = Range {
            limit,
            after,
            upper: None,
        };
        let read = self.projection.range(&all_groups(), &range).await;
        let read = read.map_err(|error| of_source(error.source))?;
        let is_full = read.items.len() == limit.get();
        let is_of_stream = |group: &ListedGroup| stream.is_none_or(|it| group.id.stream == *it);
        let is_past = !read.items.last().is_none_or(is_of_stream);
        let last = read.items.last().filter(|_| is_full && !is_past);
        let next = last.map(|last| entry_id(&last.id).to_string());
        let mut groups = read.items;
        groups.retain(is_of_stream);
        Ok(ListingPage {
            groups,
            next,
            index_age: (read.served_by == ServedBy::Index).then_some(read.age),
        })
    }

    /// All groups behind a place, or those of one stream: pages of the index, or one walk over the records.
    async fn whole(
        &self,
        stream: Option<&StreamPrefix>,
        cursor: Option<&str>,
    ) -> Result<ListingPage, ListingError> {
        let mut all = self.page(stream, cursor, Limit::MOST).await?;
        while let Some(next) = all.next.take() {
            if all.index_age.is_none() && stream.is_none() {
                let behind = EntryId::new(next).map_err(|_| ListingError::Cursor)?;
                all.groups.extend(self.source.all_behind(&behind).await?);
                break;
            }
            all.append(self.page(stream, Some(&next), Limit::MOST).await?);
        }
        all.groups.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(all)
    }

    /// A group was changed by this coordinator. The index is told behind the answer.
    pub(super) fn changed(&self, record: Arc<GroupRecord>, stamp: Stamp, at: Timestamp) {
        if self.has_index {
            let id = record.id.clone();
            self.outbox.put(id, Telling::Changed(record, stamp, at));
        }
    }

    /// A group is gone. The index is told behind the answer.
    fn removed(&self, group: &GroupId, at: Timestamp) {
        if self.has_index {
            self.outbox.put(group.clone(), Telling::Gone(at));
        }
    }

    /// Tells the index what has changed, for ever.
    pub(super) async fn tell_index(&self) {
        let tell = |group, telling| self.tell(group, telling);
        self.outbox.tell(tell).await;
    }

    async fn tell(&self, group: GroupId, telling: Telling) {
        let told = match telling {
            Telling::Changed(record, stamp, at) => match restored(&record, &self.settings) {
                Ok(restored) => {
                    let listed = ListedGroup::of(&restored, stamp, at);
                    self.projection.upsert(&listed).await
                }
                Err(error) => {
                    tracing::error!(%group, %error, "the group is left out of the listing");
                    self.remove(&group, at).await
                }
            },
            Telling::Gone(at) => self.remove(&group, at).await,
        };
        if let Err(error) = told {
            tracing::debug!(%group, %error, "the index of groups was not told");
        }
    }

    async fn remove(&self, group: &GroupId, at: Timestamp) -> Result<Applied, WriteError> {
        let (id, version) = (entry_id(group), version_of(at));
        self.projection.remove(&all_groups(), &id, version).await
    }
}

fn of_source(error: projection::SourceError) -> ListingError {
    match error.downcast::<StoreError>() {
        Ok(error) => ListingError::Store(*error),
        Err(error) => ListingError::Store(StoreError::Unavailable {
            reason: error.to_string(),
            source: None,
        }),
    }
}

impl Engine {
    /// A page of all groups, or of those of a stream.
    pub(crate) async fn list(
        &self,
        stream: Option<&StreamPrefix>,
        cursor: Option<&str>,
        limit: Limit,
    ) -> Result<ListingPage, ListingError> {
        self.0.listing.page(stream, cursor, limit).await
    }

    /// All groups, or those of a stream, behind a place: in the order of their names, and as old as the oldest page of the index.
    pub(crate) async fn list_whole(
        &self,
        stream: Option<&StreamPrefix>,
        cursor: Option<&str>,
    ) -> Result<ListingPage, ListingError> {
        self.0.listing.whole(stream, cursor).await
    }

    /// A group as it is recorded now, listed; none where there is none that can be read.
    pub(crate) async fn list_one(&self, id: &GroupId) -> Result<Option<ListedGroup>, ListingError> {
        let settings = &self.0.listing.settings;
        Ok(ListedGroup::read(self.store(), settings, id).await?)
    }

    /// All that is shown of a listed group; none where there is none any more that can be read.
    pub(crate) async fn shown(
        &self,
        listed: ListedGroup,
    ) -> Result<Option<protocol::Group>, EngineError> {
        if listed.shown.is_some() {
            return Ok(listed.shown);
        }
        let look = self.shared_group(&listed.id).await;
        match seen(&look) {
            Ok(group) => Ok(Some(convert::group(group))),
            Err(EngineError::GroupNotFound | EngineError::Store(StoreError::Corrupt { .. })) => {
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    /// What the listing calls a group: what it gives as a place to go on from.
    pub(crate) fn listing_name(&self, group: &GroupId) -> String {
        entry_id(group).to_string()
    }

    /// Lists a group as it is recorded now, or no longer where it is gone, unless it is `listed` so: it was put back, or is listed otherwise than it was seen.
    pub(super) async fn relist(
        &self,
        group: &GroupId,
        listed: Option<&Stamp>,
    ) -> Result<(), StoreError> {
        if !self.0.listing.has_index {
            return Ok(());
        }
        // From before it is read: what is committed meanwhile is newer.
        let at = self.0.watchtower.next_moment();
        match self.store().load(group, None).await {
            Ok(Some(Snapshot { stamp, .. })) if listed == Some(&stamp) => {}
            Ok(Some(Snapshot { record, stamp, .. })) => {
                self.0.listing.changed(record, stamp, at);
            }
            Ok(None) => self.0.listing.removed(group, at),
            Err(error @ StoreError::Corrupt { .. }) => {
                tracing::error!(%group, %error, "the group is left out of the listing");
                self.0.listing.removed(group, at);
            }
            Err(error) => return Err(error),
        }
        Ok(())
    }

    /// A group is gone, and is to be listed no longer.
    pub(super) fn unlist(&self, group: &GroupId) {
        self.0
            .listing
            .removed(group, self.0.watchtower.next_moment());
    }
}
