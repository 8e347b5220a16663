//! Looking at a generation without touching anything of it.

use std::fmt;
use std::future::Future;

use super::evidence::{DrainEvidence, evidence};
use crate::error::LifecycleError;
use crate::handle::Handle;
use crate::model::{Entry, Retention, ShardState, StreamId, check};
use crate::wire::{RedisLink, Reply, entries, scripts, stored_retention};

/// The most entries of one snapshot.
const LARGEST_SNAPSHOT: usize = 100_000;
/// The most entries of one look.
const LARGEST_PEEK: usize = 1_000;
/// How many groups are told of at most.
const GROUPS: usize = 100;

/// What is known of a consumer group.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct GroupStatus {
    /// Its name.
    pub name: String,
    /// How many consumers it has.
    pub consumers: u64,
    /// How many entries are delivered and not acknowledged.
    pub pending: u64,
    /// The last entry delivered.
    pub last_delivered: StreamId,
    /// How many entries are not delivered yet; none where Redis does not know, or says what can't be (case C25).
    pub lag: Option<u64>,
    /// How many entries were trimmed or deleted before the group was given them, as far as its reader counted
    /// ([`refresh_counting`](crate::ShardRedelivery::refresh_counting), case C30). Never reset.
    pub trimmed_unread: u64,
}

/// What is known of the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamStatus {
    /// How many entries it has.
    pub length: u64,
    /// The last id that was given.
    pub last_id: StreamId,
    /// How many entries were ever added.
    pub entries_added: u64,
    /// How many groups it has.
    pub group_count: u64,
    /// The first hundred of them.
    pub groups: Vec<GroupStatus>,
}

/// What is known of a generation.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Status {
    /// Where it is in its life.
    pub state: ShardState,
    /// When it ends by itself, in milliseconds since 1970.
    pub expires_ms: Option<u64>,
    /// How long things are kept.
    pub retention: Retention,
    /// When it was made.
    pub created_ms: Option<u64>,
    /// When it was sealed.
    pub sealed_ms: Option<u64>,
    /// When it was destroyed.
    pub destroyed_ms: Option<u64>,
    /// Who made it.
    pub owner: String,
    /// The stream; none if the generation is over, or if the stream was lost.
    pub stream: Option<StreamStatus>,
}

/// Looks at a generation. No consumer's state is touched; Redis itself makes sure that nothing is written.
pub trait ShardInspect: Send + Sync {
    /// What is known of it, whatever its state.
    ///
    /// # Errors
    /// If the shard is in another life or has none.
    fn status(&self) -> impl Future<Output = Result<Status, LifecycleError>> + Send;

    /// What a drain still waits for, told of every group (rule G4): what [`destroy_if_drained`](crate::ShardAdmin::destroy_if_drained)
    /// looks at, for people and for whoever decides when to try it. It proves nothing by itself: an entry may come the moment after.
    ///
    /// # Errors
    /// If the generation is over, and [`LifecycleError::KeyConflict`].
    fn drain_evidence(&self) -> impl Future<Output = Result<DrainEvidence, LifecycleError>> + Send;

    /// The first entries from an id on, at most 1,000.
    ///
    /// # Errors
    /// [`LifecycleError::DataLost`], and if the generation is over.
    fn peek(
        &self,
        from: StreamId,
        count: usize,
    ) -> impl Future<Output = Result<Vec<Entry>, LifecycleError>> + Send;

    /// All entries as of one moment, if there are at most `most` (up to 100,000).
    ///
    /// # Errors
    /// [`LifecycleError::SnapshotTooLarge`], [`DataLost`](LifecycleError::DataLost), and if the generation is over.
    fn snapshot(
        &self,
        most: usize,
    ) -> impl Future<Output = Result<Vec<Entry>, LifecycleError>> + Send;

    /// As [`snapshot`](Self::snapshot), with every entry decoded: one that can't be fails the call.
    ///
    /// # Errors
    /// [`LifecycleError::MalformedEntry`], else as [`snapshot`](Self::snapshot).
    fn snapshot_decoded<T, E>(
        &self,
        most: usize,
        decode: impl Fn(&Entry) -> Result<T, E> + Send,
    ) -> impl Future<Output = Result<Vec<T>, LifecycleError>> + Send
    where
        T: Send,
        E: fmt::Display + Send,
    {
        async move {
            let entries = self.snapshot(most).await?;
            let decoded = entries.iter().map(|entry| {
                decode(entry).map_err(|error| LifecycleError::MalformedEntry {
                    id: entry.id.to_string(),
                    problem: error.to_string(),
                })
            });
            decoded.collect()
        }
    }
}

fn group(mut row: Reply) -> Result<GroupStatus, LifecycleError> {
    Ok(GroupStatus {
        name: row.text()?,
        consumers: row.number()?,
        pending: row.number()?,
        last_delivered: row.id()?,
        lag: row.optional_number()?,
        trimmed_unread: row.number()?,
    })
}

fn stream(reply: &mut Reply) -> Result<Option<StreamStatus>, LifecycleError> {
    let Some(length) = reply.optional_number()? else {
        return Ok(None);
    };
    let (last_id, entries_added, group_count) = (reply.id()?, reply.number()?, reply.number()?);
    let groups: Result<Vec<GroupStatus>, LifecycleError> =
        reply.rows()?.into_iter().map(group).collect();
    Ok(Some(StreamStatus {
        length,
        last_id,
        entries_added,
        group_count,
        groups: groups?,
    }))
}

impl<L: RedisLink> ShardInspect for Handle<L> {
    async fn status(&self) -> Result<Status, LifecycleError> {
        let call = scripts::STATUS.bound(self.keys(), self.identity());
        let mut reply = self.run(&call.arg(GROUPS.to_string())).await?;
        let state = reply.text()?;
        Ok(Status {
            state: ShardState::parse(&state).ok_or_else(|| reply.bad(&state))?,
            expires_ms: reply.optional_number()?,
            retention: stored_retention(&reply.text()?)?,
            created_ms: reply.optional_number()?,
            sealed_ms: reply.optional_number()?,
            destroyed_ms: reply.optional_number()?,
            owner: reply.text()?,
            stream: stream(&mut reply)?,
        })
    }

    async fn drain_evidence(&self) -> Result<DrainEvidence, LifecycleError> {
        let call = scripts::EVIDENCE.bound(self.keys(), self.identity());
        evidence(self.run(&call).await?)
    }

    async fn peek(&self, from: StreamId, count: usize) -> Result<Vec<Entry>, LifecycleError> {
        check((1..=LARGEST_PEEK).contains(&count), "count", || {
            format!("{count} is not between 1 and {LARGEST_PEEK}")
        })?;
        let call = scripts::PEEK.bound(self.keys(), self.identity());
        let call = call.arg(from.to_string()).arg(count.to_string());
        entries("peek", self.run(&call).await?.value()?)
    }

    async fn snapshot(&self, most: usize) -> Result<Vec<Entry>, LifecycleError> {
        check((1..=LARGEST_SNAPSHOT).contains(&most), "most", || {
            format!("{most} is not between 1 and {LARGEST_SNAPSHOT}")
        })?;
        let call = scripts::SNAPSHOT.bound(self.keys(), self.identity());
        match self.run(&call.arg(most.to_string())).await {
            Ok(mut reply) => entries("snapshot", reply.value()?),
            Err(LifecycleError::SnapshotTooLarge { length, .. }) => {
                Err(LifecycleError::SnapshotTooLarge { length, most })
            }
            Err(error) => Err(error),
        }
    }
}
