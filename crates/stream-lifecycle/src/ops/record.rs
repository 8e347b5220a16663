//! Entries as a consumer gets them: each knows which life of the shard it came from.

use super::consumer::{Acknowledged, ShardConsumer};
use crate::error::LifecycleError;
use crate::handle::Handle;
use crate::model::{Entry, GroupName, Registration, StreamId};
use crate::wire::RedisLink;

/// An entry that was delivered. Its acknowledgement goes to the generation it came from, never to a later one.
#[derive(Clone, Debug)]
pub struct Record<L> {
    handle: Handle<L>,
    group: GroupName,
    entry: Entry,
}

impl<L: RedisLink> Record<L> {
    pub(super) const fn new(handle: Handle<L>, group: GroupName, entry: Entry) -> Self {
        Self {
            handle,
            group,
            entry,
        }
    }

    /// The entry.
    #[must_use]
    pub const fn entry(&self) -> &Entry {
        &self.entry
    }

    /// Where it came from.
    #[must_use]
    pub const fn handle(&self) -> &Handle<L> {
        &self.handle
    }

    /// Acknowledges it, without asking who does.
    ///
    /// # Errors
    /// As [`ShardConsumer::ack`].
    pub async fn ack(&self) -> Result<Acknowledged, LifecycleError> {
        self.handle.ack(&self.group, &[self.entry.id]).await
    }

    /// Acknowledges it as this consumer, if it still has the right to (case C36).
    ///
    /// # Errors
    /// As [`ShardConsumer::ack_as`].
    pub async fn ack_as(
        &self,
        registration: &Registration,
    ) -> Result<Acknowledged, LifecycleError> {
        self.handle.ack_as(registration, &[self.entry.id]).await
    }
}

/// What a read gave.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Batch<L> {
    /// Entries to be handled.
    pub records: Vec<Record<L>>,
    /// Entries that were deleted while they were pending: nothing to handle, but to be acknowledged and counted as lost (case C15).
    pub deleted: Vec<StreamId>,
}
