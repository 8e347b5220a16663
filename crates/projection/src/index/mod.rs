//! What an index is, and the kinds of it. When it is asked, and what happens when it does not answer, is the projection's business.

mod error;
mod memory;
mod redis_index;

use std::time::Duration;

use async_trait::async_trait;

pub use error::IndexError;
pub use memory::MemoryIndex;
pub use redis_index::{ConnectionLink, RedisIndex};

use crate::model::{Entry, EntryId, Epoch, Namespace, Range, Version};

/// A complete answer of an index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The entries, by order and id.
    pub entries: Vec<Entry>,
    /// Which rebuild they come from, single writes after it included.
    pub epoch: Epoch,
    /// How long ago that rebuild was, by the index's clock.
    pub age: Duration,
}

/// What became of a single write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Applied {
    /// It changed something: an entry, or what is remembered of removals.
    Written,
    /// The index knew this version or a later one, or there is none; nothing was changed.
    Superseded,
}

/// A rebuild, which nobody sees before its commit. Whoever holds it begins it, loads pages in order, and commits or abandons it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    /// The namespace that is rebuilt.
    pub namespace: Namespace,
    pub(crate) token: String,
    /// For how long it stands unless it is prolonged.
    pub(crate) lease: Duration,
    /// Pages that the index confirmed.
    pub(crate) pages: u64,
}

impl Build {
    /// A rebuild of a namespace that is yet to begin.
    #[must_use]
    pub fn new(namespace: &Namespace) -> Self {
        Self {
            namespace: namespace.clone(),
            token: uuid::Uuid::new_v4().simple().to_string(),
            lease: Duration::ZERO,
            pages: 0,
        }
    }
}

/// An index: quick, and allowed to fail, forget and lie in wait. Every operation concerns exactly one namespace. Writes carry the version
/// of the source's row and commute: whatever the order in which they arrive, the highest version stands.
#[async_trait]
pub trait Index: Send + Sync + 'static {
    /// The first entries of a namespace. Changes nothing.
    ///
    /// # Errors
    ///
    /// [`IndexError`]: the source is to be asked.
    async fn read(&self, namespace: &Namespace, range: &Range) -> Result<Answer, IndexError>;

    /// Writes an entry to its namespace, and to the rebuild under way if there is one.
    ///
    /// # Errors
    ///
    /// [`IndexError`]: it may or may not be written.
    async fn upsert(&self, entry: &Entry) -> Result<Applied, IndexError>;

    /// Removes what has this version or an earlier one, and keeps it removed: an upsert of such a version that comes later does nothing.
    ///
    /// # Errors
    ///
    /// [`IndexError`]: it may or may not be removed.
    async fn remove(
        &self,
        namespace: &Namespace,
        id: &EntryId,
        version: Version,
    ) -> Result<Applied, IndexError>;

    /// Begins a rebuild; said again, it changes nothing. One at a time per namespace, under a lease that each page and each [`renew`](Self::renew) prolongs.
    ///
    /// # Errors
    ///
    /// [`IndexError::Busy`] while another one is under way. After any other error, or where the call was dropped, it may have begun all the same:
    /// [`abandon`](Self::abandon) it.
    async fn begin(&self, build: &mut Build) -> Result<(), IndexError>;

    /// Loads a page into a rebuild. Readers don't see it yet. Entries of which the index knows a later version are left as they are.
    ///
    /// # Errors
    ///
    /// [`IndexError::Foreign`] if one of the entries belongs elsewhere: none is loaded. [`IndexError::BuildLost`]: begin anew.
    async fn load(&self, build: &mut Build, entries: &[Entry]) -> Result<(), IndexError>;

    /// Prolongs the lease of a rebuild whose next page takes its time.
    ///
    /// # Errors
    ///
    /// [`IndexError::BuildLost`]: begin anew.
    async fn renew(&self, build: &Build) -> Result<(), IndexError>;

    /// Puts the rebuild in the place of what the namespace held, in one step.
    ///
    /// # Errors
    ///
    /// [`IndexError::BuildLost`]: nothing has changed.
    async fn commit(&self, build: Build) -> Result<Epoch, IndexError>;

    /// Gives a rebuild up, so that the next one need not wait for the lease.
    ///
    /// # Errors
    ///
    /// [`IndexError`]: the lease runs out by itself.
    async fn abandon(&self, build: Build) -> Result<(), IndexError>;
}

/// An entry of another namespace is refused before anything is done.
fn all_belong(namespace: &Namespace, entries: &[Entry]) -> Result<(), IndexError> {
    match entries.iter().find(|entry| entry.namespace != *namespace) {
        None => Ok(()),
        Some(entry) => Err(IndexError::Foreign {
            namespace: namespace.clone(),
            id: entry.id.clone(),
            found: entry.namespace.clone(),
        }),
    }
}
