//! Why the engine refuses or fails. How that is said over HTTP is not known here.

use coordinator_core::names::ReshardingId;
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
    /// Shard streams could not be made, or taken away.
    #[error(transparent)]
    Plane(#[from] PlaneError),
    /// Shard streams could not be looked at. Nothing was to be made.
    #[error(transparent)]
    Unread(PlaneError),
    /// A change of the shard count is recorded, and goes on, though this call did not come to its end.
    #[error(
        "{source}. The change is recorded as {resharding} and goes on by itself once it can; ask for the same count again to wait for it, or take it back"
    )]
    Begun {
        resharding: ReshardingId,
        source: Box<Self>,
    },
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the task of the group ended before it answered; repeat the request")]
    Interrupted,
}

impl EngineError {
    /// The same, where a change is recorded by then.
    pub(super) fn after_begin_of(self, resharding: &ReshardingId) -> Self {
        Self::Begun {
            resharding: resharding.clone(),
            source: Box::new(self),
        }
    }
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
