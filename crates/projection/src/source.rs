//! What the crate needs of the source of truth. It never writes to it.

use std::error::Error;

use async_trait::async_trait;

use crate::model::{Namespace, Position, Projected, Range};

/// What a source says when it can't answer.
pub type SourceError = Box<dyn Error + Send + Sync>;

/// The source of truth: a table, a service, a directory. It must not answer from a state older than what it has confirmed to a writer that
/// then wrote to the index: of a database with replicas, ask the primary. It bounds the time of its answers itself.
#[async_trait]
pub trait Source<T: Projected>: Send + Sync + 'static {
    /// The first entries of a namespace by order and then by the bytes of the id, at most `range.limit`, and only those behind `range.after`
    /// and up to `range.upper`. The caller is given them as they are: nothing of it is checked.
    ///
    /// # Errors
    ///
    /// Whatever keeps it from answering. An empty answer says that there is nothing.
    async fn head(&self, namespace: &Namespace, range: &Range) -> Result<Vec<T>, SourceError>;

    /// The next entries of a namespace behind a place, at most `count`, in the same order. Fewer than `count` mean that there are no more.
    ///
    /// # Errors
    ///
    /// Whatever keeps it from answering.
    async fn page(
        &self,
        namespace: &Namespace,
        after: Option<&Position>,
        count: usize,
    ) -> Result<Vec<T>, SourceError>;
}
