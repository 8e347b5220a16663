//! Where a member is in its life, and what it remembers of the request under way. It decides nothing.

use std::collections::BTreeSet;

use protocol::ShardId;

use super::{MonotonicMillis, StopReason};

/// Where the member is in its life.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Phase {
    /// Not started.
    New,
    /// Asks to be let in, with epoch 0 and nothing owned.
    Joining,
    /// In.
    Member,
    /// Out, waiting for its workers to end before it does what comes next.
    Clearing(Next),
    /// Letting go of everything.
    Leaving,
    /// Finished.
    Stopped,
}

/// What comes after the last worker has ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Next {
    Rejoin,
    Stop(StopReason),
}

/// The one request under way.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Outstanding {
    pub(super) request_id: String,
    pub(super) sent_at: MonotonicMillis,
    pub(super) is_leave: bool,
    pub(super) owned: BTreeSet<ShardId>,
    pub(super) revoked: BTreeSet<ShardId>,
}

/// Timing as last told by the coordinator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Timing {
    pub(super) heartbeat_interval_ms: u64,
    pub(super) member_lease_ttl_ms: u64,
    pub(super) rebalance_timeout_ms: u64,
}
