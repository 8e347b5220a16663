//! Where it is kept what was asked of the coordinator and what became of it. What an event says is not known here: it is a text.

use async_trait::async_trait;
use coordinator_core::names::GroupId;

use crate::StoreError;

/// How many events are kept in each place; older ones go.
pub const AUDIT_CAP: usize = 1_000;

/// An event to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// The group that it is about, as it was named: it need not exist. None where what was named can't be the name of one.
    pub group: Option<GroupId>,
    /// Whether the caller proved who it is. Events of others are kept apart, so that nobody without credentials can push out what others did.
    pub is_proved: bool,
    /// The event.
    pub event: String,
}

/// Which events are asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AuditFilter {
    /// Those of one group.
    Group(GroupId),
    /// Those of the whole fleet, of callers who proved who they are.
    Fleet,
    /// Those of the whole fleet, of callers who did not.
    Unproved,
}

/// Keeps events, the latest [`AUDIT_CAP`] of each group that exists or existed, and as many of the fleet as a whole. Nothing is kept of a
/// group by itself that never existed: anybody may send any name.
#[async_trait]
pub trait AuditSink: Send + Sync {
    /// Keeps an event.
    ///
    /// # Errors
    /// [`StoreError`]; it may be kept in part.
    async fn record(&self, entry: &AuditEntry) -> Result<(), StoreError>;

    /// The latest events, newest first.
    ///
    /// # Errors
    /// [`StoreError`].
    async fn latest(&self, filter: &AuditFilter, limit: usize) -> Result<Vec<String>, StoreError>;
}
