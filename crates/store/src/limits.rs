//! How long the right to change a group is kept and waited for. Enforced by the stores.

use std::time::Duration;

/// The limits of the right to change a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockLimits {
    /// After this time the store forgets a right that was not given back.
    pub ttl: Duration,
    /// For this long `begin` waits while somebody else has the right.
    pub wait: Duration,
}

impl Default for LockLimits {
    fn default() -> Self {
        Self {
            ttl: Duration::from_secs(10),
            wait: Duration::from_secs(3),
        }
    }
}
