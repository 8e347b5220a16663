//! Why an index did not answer or did not write. Whom to ask instead is not its business.

use std::time::Duration;

use crate::model::{EntryId, Namespace};

/// What an index says instead of an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The namespace was never rebuilt here, or what was built is gone.
    #[error("the namespace has not been built in the index")]
    Unbuilt,
    /// It was built and holds nothing at all.
    #[error("the namespace is empty in the index")]
    Empty,
    /// Its parts don't fit together: an id without a value, a value without an id, a value that can't be read.
    #[error("the namespace is damaged in the index: {0}")]
    Damaged(String),
    /// Another rebuild of the namespace is under way.
    #[error(
        "another rebuild of the namespace is under way; ask again soon, or in {remaining:?} if whoever does it has died"
    )]
    Busy {
        /// How long its lease runs unless it is prolonged.
        remaining: Duration,
    },
    /// The rebuild's lease ran out, or what it had loaded is lost.
    #[error("the rebuild of the namespace was lost before its commit; begin anew")]
    BuildLost,
    /// An entry was to be loaded into another namespace than its own.
    #[error(
        "the entry {id} belongs to the namespace {found}, not to {namespace}; nothing was loaded"
    )]
    Foreign {
        /// The namespace that is rebuilt.
        namespace: Namespace,
        /// The entry's id.
        id: EntryId,
        /// The entry's namespace.
        found: Namespace,
    },
    /// Rebuilds began and ended again and again while one write was tried.
    #[error("the write met a different rebuild each time it was tried; repeat it")]
    Contended,
    /// The server refused, or could not be reached.
    #[error("the index failed: {0}")]
    Failed(String),
}

impl IndexError {
    /// Whether the index itself is in trouble: it can't be reached or refuses. All else are answers.
    #[must_use]
    pub fn is_failure(&self) -> bool {
        matches!(self, Self::Failed(_))
    }
}
