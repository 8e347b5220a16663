//! The name of one grant of one shard. It says nothing about the shard itself.

use std::fmt;

/// Names one start of one shard's worker. Everything a worker reports carries the grant it was started with, so that what
/// comes late from an older grant is told apart (case C35).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GrantId {
    /// The member's epoch when the grant was taken over.
    pub epoch: i64,
    /// Rises with every grant of this member; never reused.
    pub counter: u64,
}

impl fmt::Display for GrantId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}/{}", self.epoch, self.counter)
    }
}
