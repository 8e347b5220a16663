//! What outlasts a process that handles entries: attempts, pauses, dead letters, deletions, and the owner's sign of life. Each
//! is refused once the shard has moved. Where lives are not told apart there is no place for any of it. When they are used is
//! the worker's business.

use std::sync::Arc;
use std::time::Duration;

use stream_lifecycle::{
    InvalidInput, LifecycleError, Rejection, ShardInspect, ShardRedelivery, StreamId,
};

use super::Trouble;
use super::exact::{Exact, PAGE, parsed};
use super::reply::Entry;
use super::shard_stream::{Reader, ShardStream};

/// What is recorded of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Recorded {
    /// How many attempts were counted.
    pub(crate) count: u32,
    /// How long it is not to be handled yet.
    pub(crate) wait: Duration,
}

/// What became of a further attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counted {
    /// It is counted: so many were, this one included.
    Attempt(u32),
    /// It is too early for it.
    Wait(Duration),
    /// The entry is pending no more.
    Gone,
}

/// What became of entries that were to be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Deleted {
    /// How many were pending.
    pub(crate) known: usize,
    /// How many are deleted; the others are needed by another group, or the server can't tell.
    pub(crate) deleted: usize,
}

impl ShardStream {
    /// What is recorded of each entry; none where there is no place for it.
    pub(crate) async fn attempts(
        &self,
        reader: &Reader,
        entries: &[Entry],
    ) -> Result<Option<Vec<Recorded>>, Trouble> {
        let Some(Exact {
            handle,
            registration,
        }) = &reader.exact
        else {
            return Ok(None);
        };
        let ids: Result<Vec<StreamId>, InvalidInput> =
            entries.iter().map(|entry| entry.id.parse()).collect();
        let ids = ids.map_err(LifecycleError::from)?;
        let mut recorded = Vec::with_capacity(ids.len());
        for page in ids.chunks(PAGE) {
            let rows = handle.attempts(&registration.group, page).await?;
            recorded.extend(rows.into_iter().map(|row| {
                row.map_or_else(Recorded::default, |row| Recorded {
                    count: number(row.count),
                    wait: row.wait(),
                })
            }));
        }
        Ok(Some(recorded))
    }

    /// Counts one more attempt before it is made. None where there is no place for it.
    pub(crate) async fn attempt(
        &self,
        reader: &Reader,
        id: &str,
    ) -> Result<Option<Counted>, Trouble> {
        let Some(exact) = &reader.exact else {
            return Ok(None);
        };
        match exact.handle.attempt(&exact.registration, one(id)?).await {
            Ok(row) if row.is_due() => Ok(Some(Counted::Attempt(number(row.count)))),
            Ok(row) => Ok(Some(Counted::Wait(row.wait()))),
            Err(LifecycleError::NotPending { .. }) => Ok(Some(Counted::Gone)),
            Err(error) => Err(error.into()),
        }
    }

    /// The entry is not to be handled before so long from now, whoever owns the shard then.
    pub(crate) async fn postpone(
        &self,
        reader: &Reader,
        id: &str,
        pause: Duration,
    ) -> Result<(), Trouble> {
        let Some(exact) = &reader.exact else {
            return Ok(());
        };
        let postponed = exact
            .handle
            .postpone(&exact.registration, one(id)?, pause)
            .await;
        match postponed {
            Ok(_) | Err(LifecycleError::NotPending { .. }) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Copies the entry to the dead letters and acknowledges it, in one step. Whether there was anything to copy: not if its
    /// record was gone (case C15), or if it was pending no more.
    pub(crate) async fn dead_letter(
        &self,
        reader: &Reader,
        id: &str,
        reason: &str,
    ) -> Result<bool, Trouble> {
        let Some(exact) = &reader.exact else {
            return Ok(false);
        };
        let (id, rejection) = (one(id)?, Rejection::new(reason));
        let moved = exact
            .handle
            .dead_letter(&exact.registration, &[id], &rejection)
            .await?;
        Ok(!moved.moved.is_empty())
    }

    /// Acknowledges, and deletes what every group has acknowledged.
    pub(crate) async fn acknowledge_and_delete(
        &self,
        reader: &mut Reader,
        ids: &[Arc<str>],
    ) -> Result<Deleted, Trouble> {
        let mut all = Deleted::default();
        let Some(exact) = &reader.exact else {
            all.known = self.acknowledge(reader, ids).await?;
            return Ok(all);
        };
        for page in parsed(ids)?.chunks(PAGE) {
            let done = exact
                .handle
                .ack_and_delete(&exact.registration, page)
                .await?;
            all.known += usize::try_from(done.acknowledged).unwrap_or(usize::MAX);
            all.deleted += usize::try_from(done.deleted).unwrap_or(usize::MAX);
        }
        Ok(all)
    }

    /// A sign of life, after so many new entries were given since the last one. Returns how many entries were trimmed unread in
    /// this life of the shard (case C30); none where that is not counted.
    pub(crate) async fn refresh(
        &self,
        reader: &Reader,
        delivered: Option<u64>,
    ) -> Result<Option<u64>, Trouble> {
        let Some(exact) = &reader.exact else {
            return Ok(None);
        };
        let trimmed = exact
            .handle
            .refresh_counting(&exact.registration, delivered)
            .await?;
        Ok(Some(trimmed))
    }

    /// How many entries were known as trimmed unread before; none where that is not counted.
    pub(crate) async fn trimmed_before(&self, reader: &Reader) -> Result<Option<u64>, Trouble> {
        let Some(exact) = &reader.exact else {
            return Ok(None);
        };
        let evidence = exact.handle.drain_evidence().await?;
        let group = evidence.groups.iter().find(|row| row.name == *self.group);
        Ok(Some(group.map_or(0, |row| row.trimmed_unread)))
    }
}

fn number(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn one(id: &str) -> Result<StreamId, Trouble> {
    Ok(id
        .parse()
        .map_err(|error: InvalidInput| LifecycleError::from(error))?)
}
