//! Monotonic time as the machine sees it: a number that is passed in. It reads no clock.

use std::time::Duration;

/// Milliseconds since some moment in the life of the process, on a clock that never goes back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MonotonicMillis(u64);

impl MonotonicMillis {
    /// The moment `millis` milliseconds after the clock's zero.
    #[must_use]
    pub const fn new(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the clock's zero.
    #[must_use]
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// This moment and `millis` milliseconds more.
    #[must_use]
    pub const fn plus(self, millis: u64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// How long it is from this moment to `later`; nothing if that is not later.
    #[must_use]
    pub const fn until(self, later: Self) -> Duration {
        Duration::from_millis(later.0.saturating_sub(self.0))
    }
}
