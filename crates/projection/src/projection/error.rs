//! Why the source was asked, and what fails for good. It holds no remedies.

use crate::index::IndexError;
use crate::model::{EntryId, Namespace};
use crate::source::SourceError;

/// Why an answer does not come from the index, or a write did not reach it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FallbackReason {
    /// There is no index.
    #[error("there is no index")]
    NoIndex,
    /// The index holds nothing for the namespace.
    #[error("the index is empty")]
    Empty,
    /// The namespace was never built, or what was built is gone.
    #[error("the index is not built")]
    Unbuilt,
    /// What the index holds does not fit together or can't be read.
    #[error("the index is damaged: {0}")]
    Damaged(String),
    /// A write of this process did not reach the index, and no rebuild has made up for it yet.
    #[error("the index missed a write, and has not been rebuilt since")]
    MissedWrite,
    /// The index did not answer in time.
    #[error("the index did not answer in time")]
    Timeout,
    /// The index failed too often just now and is left alone.
    #[error("the index failed repeatedly and is left alone for a while")]
    CircuitOpen,
    /// The index refused or could not be reached.
    #[error("{0}")]
    Failed(IndexError),
}

impl FallbackReason {
    pub(super) fn of(error: IndexError) -> Self {
        match error {
            IndexError::Empty => Self::Empty,
            IndexError::Unbuilt => Self::Unbuilt,
            IndexError::Damaged(what) => Self::Damaged(what),
            error => Self::Failed(error),
        }
    }

    /// Whether a rebuild can help. One that can't reach the index does not.
    pub(super) fn wants_repair(&self) -> bool {
        matches!(
            self,
            Self::Empty | Self::Unbuilt | Self::Damaged(_) | Self::MissedWrite
        )
    }
}

/// The source failed, after the index had not answered.
#[derive(Debug, thiserror::Error)]
#[error("the source of {namespace} was asked because {index}, and failed: {source}")]
pub struct SnapshotError {
    /// The namespace that was read.
    pub namespace: Namespace,
    /// Why the index did not answer.
    pub index: FallbackReason,
    /// What the source said.
    pub source: SourceError,
}

/// A write may not have reached the index.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "a write to {namespace} may not have reached the index ({reason}); the next read of it in this process begins a rebuild"
)]
pub struct WriteError {
    /// The namespace concerned.
    pub namespace: Namespace,
    /// What happened.
    pub reason: FallbackReason,
}

/// A namespace was not rebuilt. What the index held is as it was; where the index failed in the last step, it may hold all that was rebuilt instead.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RebuildError {
    /// There is no index.
    #[error("there is no index to rebuild")]
    NoIndex,
    /// It took too long.
    #[error(
        "the rebuild did not end within its deadline; raise `repair_deadline` if the namespace is that large"
    )]
    Deadline,
    /// The index refused or failed.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The source failed.
    #[error("the source of {namespace} failed during a rebuild: {source}")]
    Source {
        /// The namespace that was rebuilt.
        namespace: Namespace,
        /// What the source said.
        source: SourceError,
    },
    /// A page of the source does not begin behind the place asked for, or is not sorted.
    #[error(
        "the source's page of {namespace} is not sorted by order and the bytes of the id at {id}; correct its query"
    )]
    Unsorted {
        /// The namespace that was rebuilt.
        namespace: Namespace,
        /// The first entry that is out of place.
        id: EntryId,
    },
}
