//! Publishing, once or at least once.

use std::future::Future;

use super::batches::{Size, cut};
use crate::error::LifecycleError;
use crate::handle::Handle;
use crate::model::{Fields, OnceKey, StreamId, Trim, check_batch};
use crate::wire::{Call, RedisLink, Reply, scripts};

/// What became of a publication that happens once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Published {
    /// The entry was added.
    Added(StreamId),
    /// It had been added before, as this entry. Nothing was written.
    Duplicate(StreamId),
}

impl Published {
    /// The entry, whenever it was added.
    #[must_use]
    pub const fn id(self) -> StreamId {
        match self {
            Self::Added(id) | Self::Duplicate(id) => id,
        }
    }
}

/// Adds entries to a generation, and never makes a stream that is not there.
pub trait ShardProducer: Send + Sync {
    /// Adds an entry. Repeating it after [`LifecycleError::Ambiguous`] may add it twice.
    ///
    /// # Errors
    /// [`LifecycleError::Sealed`], [`DataLost`](LifecycleError::DataLost), and if the generation is over.
    fn publish(
        &self,
        fields: &Fields,
    ) -> impl Future<Output = Result<StreamId, LifecycleError>> + Send;

    /// Adds entries in order, up to 64 in one call of a script, all calls sent at once. Each has an outcome of its own. A later call may
    /// succeed after an earlier one failed.
    ///
    /// # Errors
    /// For each entry as [`publish`](Self::publish); after a broken connection those of one call are all [`LifecycleError::Ambiguous`].
    fn publish_all(
        &self,
        entries: &[Fields],
    ) -> impl Future<Output = Vec<Result<StreamId, LifecycleError>>> + Send;

    /// Adds an entry unless this key was used already within the window of the retention, whoever repeats it, over whichever connection.
    /// Per generation; never across shards.
    ///
    /// # Errors
    /// [`LifecycleError::IdempotencyConflict`] if the key was used for other content, else as [`publish`](Self::publish).
    fn add_once(
        &self,
        key: &OnceKey,
        fields: &Fields,
    ) -> impl Future<Output = Result<Published, LifecycleError>> + Send;

    /// As [`add_once`](Self::add_once), where this digest stands for the content: entries with the same digest count as the same.
    ///
    /// # Errors
    /// As [`add_once`](Self::add_once).
    fn add_once_as(
        &self,
        key: &OnceKey,
        digest: [u8; 32],
        fields: &Fields,
    ) -> impl Future<Output = Result<Published, LifecycleError>> + Send;

    /// As [`add_once`](Self::add_once), up to 64 in one call of a script, in order, all calls sent at once. A later call may succeed after
    /// an earlier one failed.
    ///
    /// # Errors
    /// For each entry as [`add_once`](Self::add_once); those of one call fail together when their connection breaks.
    fn add_all_once(
        &self,
        entries: &[(OnceKey, Fields)],
    ) -> impl Future<Output = Vec<Result<Published, LifecycleError>>> + Send;

    /// Deletes entries; answers how many there were. What is pending of them stays pending (case C15).
    ///
    /// # Errors
    /// [`LifecycleError::DataLost`], no ids or more than 1,000, and if the generation is over.
    fn remove(&self, ids: &[StreamId]) -> impl Future<Output = Result<u64, LifecycleError>> + Send;
}

impl<L: RedisLink> Handle<L> {
    fn publish_call(&self, fields: &Fields) -> Call {
        let call = scripts::PUBLISH.bound(self.keys(), self.identity());
        self.with_trim(call)
            .args(fields.iter().flat_map(|(name, value)| [name, value]))
    }

    /// How the stream is trimmed never changes in a generation.
    fn with_trim(&self, call: Call) -> Call {
        let (precision, most) = match self.retention().keeps() {
            Trim::None => return call.arg("*"),
            Trim::Exact(most) => ("=", most),
            Trim::Approximate(most) => ("~", most),
        };
        call.arg("MAXLEN").arg(precision).arg(most).arg("*")
    }

    /// An entry with the number of its arguments before it.
    fn with_entry(&self, call: Call, fields: &Fields, trims: bool) -> Call {
        let trims = trims && self.retention().keeps() != Trim::None;
        let before = if trims { 4 } else { 1 };
        let call = call.arg(before + 2 * fields.len());
        let call = if trims {
            self.with_trim(call)
        } else {
            call.arg("*")
        };
        call.args(fields.iter().flat_map(|(name, value)| [name, value]))
    }

    fn once_call(&self, key: &OnceKey, digest: [u8; 32], fields: &Fields) -> Call {
        let call = scripts::ADD_ONCE.bound(self.keys(), self.identity());
        let call = call
            .arg(key.as_str())
            .arg(digest.as_slice())
            .arg(self.retention().once_ms());
        self.with_trim(call)
            .args(fields.iter().flat_map(|(name, value)| [name, value]))
    }
}

fn size(fields: &Fields) -> Size {
    let bytes = fields.iter().map(|(name, value)| name.len() + value.len());
    Size {
        arguments: 2 * fields.len(),
        bytes: bytes.sum(),
    }
}

fn published(mut reply: Reply) -> Result<Published, LifecycleError> {
    let (word, id) = (reply.text()?, reply.id()?);
    match word.as_str() {
        "added" => Ok(Published::Added(id)),
        "duplicate" => Ok(Published::Duplicate(id)),
        other => Err(reply.bad(other)),
    }
}

impl<L: RedisLink> ShardProducer for Handle<L> {
    async fn publish(&self, fields: &Fields) -> Result<StreamId, LifecycleError> {
        self.run(&self.publish_call(fields)).await?.id()
    }

    async fn publish_all(&self, entries: &[Fields]) -> Vec<Result<StreamId, LifecycleError>> {
        let ranges = cut(entries.iter().map(size));
        let calls: Vec<Call> = ranges
            .iter()
            .map(|range| {
                let call = scripts::PUBLISH_MANY.bound(self.keys(), self.identity());
                let entries = &entries[range.clone()];
                let last = entries.len() - 1;
                // Trimming once, with the last entry of a call, comes to the same.
                let entries = entries.iter().enumerate();
                entries.fold(call, |call, (index, fields)| {
                    self.with_entry(call, fields, index == last)
                })
            })
            .collect();
        let read = |reply| self.outcomes(reply, |mut outcome| outcome.id());
        self.deal(&ranges, &calls, read).await
    }

    async fn add_once(&self, key: &OnceKey, fields: &Fields) -> Result<Published, LifecycleError> {
        self.add_once_as(key, fields.digest(), fields).await
    }

    async fn add_once_as(
        &self,
        key: &OnceKey,
        digest: [u8; 32],
        fields: &Fields,
    ) -> Result<Published, LifecycleError> {
        published(self.run(&self.once_call(key, digest, fields)).await?)
    }

    async fn add_all_once(
        &self,
        entries: &[(OnceKey, Fields)],
    ) -> Vec<Result<Published, LifecycleError>> {
        let ranges = cut(entries.iter().map(|(_, fields)| size(fields)));
        let calls: Vec<Call> = ranges
            .iter()
            .map(|range| {
                let entries = &entries[range.clone()];
                let call = scripts::ADD_MANY_ONCE
                    .bound(self.keys(), self.identity())
                    .arg(self.retention().once_ms())
                    .arg(entries.len())
                    .args(entries.iter().map(|(key, _)| key.as_str()));
                entries.iter().fold(call, |call, (_, fields)| {
                    self.with_entry(call.arg(fields.digest().as_slice()), fields, true)
                })
            })
            .collect();
        let read = |reply| self.outcomes(reply, published);
        self.deal(&ranges, &calls, read).await
    }

    async fn remove(&self, ids: &[StreamId]) -> Result<u64, LifecycleError> {
        check_batch("ids", ids.len())?;
        let call = scripts::REMOVE.bound(self.keys(), self.identity());
        let call = call.args(ids.iter().map(StreamId::to_string));
        self.run(&call).await?.number()
    }
}
