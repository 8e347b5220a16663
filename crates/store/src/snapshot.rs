//! A group as a store had it at one moment, and what proves that it is still so. Rule E1.

use std::sync::Arc;

use coordinator_core::numbers::StoreRevision;
use coordinator_core::record::GroupRecord;
use coordinator_core::time::Timestamp;

/// A random token of one commit. Two contents never share one, not even after the store lost writes (rule E1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Etag(Arc<str>);

impl Etag {
    /// A token that no commit had before.
    #[must_use]
    pub fn fresh() -> Self {
        Self(uuid::Uuid::new_v4().simple().to_string().into())
    }

    /// The token as it was stored.
    #[must_use]
    pub fn from_stored(text: &str) -> Self {
        Self(text.into())
    }

    /// The token as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// What identifies one version of a record. Rule E1: a write commits only if both are unchanged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Rises by one with every commit.
    pub revision: StoreRevision,
    /// Random for every commit.
    pub etag: Etag,
}

/// A group as the store had it at `now`, the deadlines of its leases filled in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The record; every live member's `lease_deadline` is the stored one, `None` where the store has none.
    pub record: Arc<GroupRecord>,
    /// Which version of it.
    pub stamp: Stamp,
    /// The store's time when it was read.
    pub now: Timestamp,
}
