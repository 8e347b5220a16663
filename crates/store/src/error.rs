//! What can go wrong with a store. A store that can't be reached is told apart from one that holds what can't be understood.

use std::sync::Arc;

use coordinator_core::names::MemberId;
use coordinator_core::numbers::StoreRevision;

/// The cause of an error, as the store's driver reported it.
pub type Cause = Arc<dyn std::error::Error + Send + Sync>;

/// Why a store did not answer.
#[derive(Clone, Debug, thiserror::Error)]
pub enum StoreError {
    /// The store is away, loading, read-only, full or out of time. Repeat later; nothing may be concluded from it (cases C05, C08, C09).
    #[error("the store is unavailable: {reason}")]
    Unavailable {
        /// What it answered, in short.
        reason: String,
        /// The driver's error.
        #[source]
        source: Option<Cause>,
    },
    /// The store refuses for good, for example for want of a permission (case C11).
    #[error("the store refuses: {reason}")]
    Refused {
        /// What is refused, and what would help.
        reason: String,
        /// The driver's error.
        #[source]
        source: Option<Cause>,
    },
    /// The group is being changed by somebody else for longer than one waits.
    #[error("the group is being changed by another coordinator; waited {waited_ms} ms")]
    Locked {
        /// How long was waited, in milliseconds.
        waited_ms: u64,
    },
    /// The record can't be read, is newer than this program, or does not agree with itself: it is left as it is (rule C6).
    #[error("the record of the group can't be trusted: {reason}")]
    Corrupt {
        /// What is wrong with it.
        reason: String,
        /// The decoder's error.
        #[source]
        source: Option<Cause>,
    },
}

/// Why a commit did not take place. Nothing was written.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CommitError {
    /// The lock ran out or was taken over.
    #[error("the lock on the group was lost")]
    LockLost,
    /// The record changed since it was read (rule E1).
    #[error("the record is at revision {found:?}, expected {expected}")]
    Conflict {
        /// The revision that was read.
        expected: StoreRevision,
        /// The revision that is there; none if the group is gone.
        found: Option<StoreRevision>,
    },
    /// A lease that the decision judged was renewed since it was read.
    #[error("the lease of member {member} was renewed meanwhile")]
    LeaseRenewed {
        /// The member.
        member: MemberId,
    },
    /// The store did not answer, and reading back did not tell whether it had written.
    #[error(transparent)]
    Store(#[from] StoreError),
}

/// Why a group was not created.
#[derive(Clone, Debug, thiserror::Error)]
pub enum CreateError {
    /// It is there already.
    #[error("the group exists already")]
    AlreadyExists,
    /// The lock ran out or was taken over.
    #[error("the lock on the group was lost")]
    LockLost,
    /// The store did not answer.
    #[error(transparent)]
    Store(#[from] StoreError),
}
