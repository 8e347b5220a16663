//! Why the engine refuses or fails. How that is said over HTTP is not known here.

use coordinator_core::numbers::ShardCount;
use coordinator_core::step::Rejection;
use store::{CommitError, PlaneError, StoreError};

/// Why a request to the engine came to nothing.
#[derive(Clone, Debug, thiserror::Error)]
pub(crate) enum EngineError {
    #[error("the consumer group does not exist")]
    GroupNotFound,
    #[error("the consumer group exists already")]
    GroupExists,
    #[error("the stream exists already: consumer group {group} belongs to it")]
    StreamExists { group: String },
    #[error("no group of the stream exists")]
    StreamNotFound,
    #[error(
        "consumer group {group} of the stream is half made; repeat its creation or delete it, then repeat this"
    )]
    Unfinished { group: String },
    #[error(
        "initialShardCount is {requested}, but the stream has {count}; all groups of a stream share one count, leave the field out"
    )]
    OtherShardCount {
        requested: ShardCount,
        count: ShardCount,
    },
    #[error(transparent)]
    Rejected(#[from] Rejection),
    #[error("the group is being changed so often that this change found no turn; repeat it")]
    Conflict,
    #[error("this coordinator is terminating; ask another one, or repeat later")]
    Terminating,
    #[error("this coordinator has no Redis of shard streams: it can't tell what is in them")]
    NoPlane,
    #[error(transparent)]
    Plane(#[from] PlaneError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the task of the group ended before it answered; repeat the request")]
    Interrupted,
}

impl From<CommitError> for EngineError {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Store(error) => Self::Store(error),
            CommitError::LockLost
            | CommitError::Conflict { .. }
            | CommitError::LeaseRenewed { .. } => Self::Conflict,
        }
    }
}
