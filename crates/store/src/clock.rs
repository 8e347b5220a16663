//! Where a store without a server of its own takes the time from. A store on a server uses the server's time instead.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use coordinator_core::time::{Millis, Timestamp};

/// Tells a store the time.
pub trait StoreClock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// The system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl StoreClock for SystemClock {
    fn now(&self) -> Timestamp {
        let since_epoch = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp::from_ms(u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX))
    }
}

/// A clock that goes on when it is told to, in either direction.
#[derive(Debug)]
pub struct ManualClock(AtomicU64);

impl ManualClock {
    /// A clock that stands at `now`.
    #[must_use]
    pub const fn at(now: Timestamp) -> Self {
        Self(AtomicU64::new(now.as_ms()))
    }

    /// Puts the clock to `now`, which may be in its past.
    pub fn set(&self, now: Timestamp) {
        self.0.store(now.as_ms(), Ordering::SeqCst);
    }

    /// Lets `span` go by.
    pub fn advance(&self, span: Millis) {
        self.0.fetch_add(span.get(), Ordering::SeqCst);
    }
}

impl StoreClock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_ms(self.0.load(Ordering::SeqCst))
    }
}
