//! The driver's clock, and the lease as the workers see it. What the lease means is the machine's business.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::time::Instant;

use crate::machine::MonotonicMillis;

/// Turns the system's monotonic time into the machine's.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    zero: Instant,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self {
            zero: Instant::now(),
        }
    }

    pub(crate) fn now(&self) -> MonotonicMillis {
        MonotonicMillis::new(u64::try_from(self.zero.elapsed().as_millis()).unwrap_or(u64::MAX))
    }

    pub(crate) fn instant(&self, moment: MonotonicMillis) -> Instant {
        self.zero + MonotonicMillis::default().until(moment)
    }
}

/// Rule T2: until when workers may read and acknowledge. The member's task writes it, and every worker looks before every
/// step, so that even a process that was stopped for a while does nothing after its lease.
#[derive(Debug)]
pub(crate) struct Lease {
    clock: Clock,
    until: AtomicU64,
}

impl Lease {
    pub(crate) fn new(clock: Clock) -> Self {
        Self {
            clock,
            until: AtomicU64::new(0),
        }
    }

    pub(crate) fn set(&self, until: Option<MonotonicMillis>) {
        self.until.store(
            until.map_or(0, MonotonicMillis::as_millis),
            Ordering::Release,
        );
    }

    pub(crate) fn is_valid(&self) -> bool {
        self.clock.now().as_millis() < self.until.load(Ordering::Acquire)
    }
}
