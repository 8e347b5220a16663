//! How workers read, try again and give up. Where the values come from is not known here.

use std::time::Duration;

use super::backoff::Backoff;

/// What happens to a record after its last attempt, on a shard whose lives are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Exhausted {
    /// It is moved to the stream of dead letters, and the shard goes on.
    #[default]
    DeadLetter,
    /// The shard stops at it until somebody acts: see [`TroubleKind::Halted`](crate::TroubleKind::Halted). It can still be given
    /// to another member, which stops there too.
    Halt,
}

/// How a worker reads.
#[derive(Debug, Clone, Copy)]
pub(crate) struct WorkerSettings {
    /// Entries per read.
    pub(crate) read_count: usize,
    /// How long a read waits at most.
    pub(crate) block: Duration,
    /// The pauses after errors of the handler.
    pub(crate) handler_backoff: Backoff,
    /// The pauses after errors of Redis.
    pub(crate) redis_backoff: Backoff,
    /// How often an idle worker looks for entries that somebody left pending.
    pub(crate) recheck: Duration,
    /// How many attempts are made at a record.
    pub(crate) max_attempts: u32,
    /// What comes after the last one.
    pub(crate) exhausted: Exhausted,
    /// How many records of a shard are handled at once; none: in order, one after another.
    pub(crate) unordered: Option<usize>,
}
