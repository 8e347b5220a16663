//! What happens to a member, as facts. How the facts come about (HTTP, workers, timers) is the driver's business.

use protocol::{HeartbeatResponse, ShardId, ShardProgress};

use super::GrantId;

/// A fact for the machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The member shall begin to exist.
    Started,
    /// A heartbeat was answered.
    AnswerReceived {
        /// The request this was received for.
        request_id: String,
        /// The answer.
        response: Box<HeartbeatResponse>,
    },
    /// A heartbeat was not answered.
    RequestFailed {
        /// The request.
        request_id: String,
        /// What is known about the failure.
        kind: FailureKind,
    },
    /// Somebody says that the group's metadata has reached this version. Only a hint to ask at once.
    VersionChanged {
        /// The version.
        metadata_version: u64,
    },
    /// The worker of a grant runs.
    WorkerStarted {
        /// Its shard.
        shard: ShardId,
        /// Its grant.
        grant: GrantId,
    },
    /// The worker of a grant has ended: it reads nothing and handles nothing any more.
    WorkerStopped {
        /// Its shard.
        shard: ShardId,
        /// Its grant.
        grant: GrantId,
    },
    /// A worker that was told to stop has ended its blocked read and finishes what it has.
    InFlight {
        /// Its shard.
        shard: ShardId,
        /// Its grant.
        grant: GrantId,
        /// How many records it still has.
        records: u32,
    },
    /// How far a worker has come.
    Progress {
        /// Its grant.
        grant: GrantId,
        /// Its shard and positions.
        row: ShardProgress,
    },
    /// The member shall finish and leave.
    Shutdown,
    /// Time has passed, perhaps.
    Tick,
}

/// Why a heartbeat was not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailureKind {
    /// Connection refused or lost, timeout, an answer that is none, or a server that is not able just now.
    Unavailable,
    /// The server asks to wait.
    Throttled {
        /// For how long at least, in milliseconds.
        retry_after_ms: u64,
    },
    /// The credentials are missing, wrong or not enough. May pass: credentials can be renewed.
    Denied,
    /// The server says that the request is no heartbeat; sending it again is useless.
    Invalid {
        /// What the server says.
        message: String,
    },
}
