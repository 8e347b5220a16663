//! What the machine wants done. It says what, the driver how.

use protocol::{HeartbeatRequest, ShardId};

use super::GrantId;

/// Something to do. Actions of one call are to be done in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Send this and report its answer or failure. Never more than one is outstanding.
    SendHeartbeat(Box<HeartbeatRequest>),
    /// Start a worker for the shard. There is no other for it.
    StartShard {
        /// The shard.
        shard: ShardId,
        /// The name of this start.
        grant: GrantId,
    },
    /// End the worker's blocked read, finish and acknowledge what it has, then report it stopped.
    StopShard {
        /// The shard.
        shard: ShardId,
        /// The name of its start.
        grant: GrantId,
    },
    /// End every worker: no more reading, handling or acknowledging, from now on. Each is reported stopped once it is.
    AbandonShards,
    /// The member is finished; nothing more will come.
    StopForGood(StopReason),
    /// The member's health has changed.
    Health(Health),
}

/// Why a member is finished.
#[derive(Debug, Clone, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum StopReason {
    /// It was shut down, let go of everything and the coordinator knows, or does not know it any more.
    #[error("the member has left")]
    Left,
    /// It was shut down and did not get that far in time. Its shards wait for its lease to end.
    #[error("the member was shut down and could not leave in order within {timeout_ms} ms")]
    ShutdownTimedOut {
        /// How long it tried.
        timeout_ms: u64,
    },
    /// The coordinator does not speak this protocol version.
    #[error("the coordinator does not support protocol version {version}")]
    UnsupportedProtocol {
        /// The version this client speaks.
        version: u32,
    },
    /// The coordinator says that what it was sent is no heartbeat.
    #[error("the coordinator refused the heartbeat as invalid{}{message}", if .message.is_empty() { "" } else { ": " })]
    InvalidRequest {
        /// What it says, if anything.
        message: String,
    },
}

/// How a member is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Health {
    /// Not a member yet.
    Starting,
    /// The last heartbeat was accepted.
    Healthy,
    /// Heartbeats fail or are refused; it keeps trying. As a running client tells it: or a shard of the member stands still.
    Degraded,
    /// Several attempts to become a member again have failed in a row (case C37), or another process seems to use its id
    /// (case C22); it keeps trying.
    Failing,
    /// Finished.
    Stopped,
}
