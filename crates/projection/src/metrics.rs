//! What a projection counts, as plain numbers to be shown by whatever means the program has. It exports nothing.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::projection::{FallbackReason, RebuildError, Rebuilt};

/// How often the source was asked, by the reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fallbacks {
    /// There is no index.
    pub no_index: u64,
    /// The index was empty.
    pub empty: u64,
    /// The index was not built.
    pub unbuilt: u64,
    /// The index was damaged.
    pub damaged: u64,
    /// The index had missed a write.
    pub missed_write: u64,
    /// The index did not answer in time.
    pub timeout: u64,
    /// The index was left alone.
    pub circuit_open: u64,
    /// The index refused or could not be reached.
    pub failed: u64,
}

impl Fallbacks {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.no_index
            + self.empty
            + self.unbuilt
            + self.damaged
            + self.missed_write
            + self.timeout
            + self.circuit_open
            + self.failed
    }
}

/// What happened in this process since the projection was made.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Metrics {
    /// Answers of the index.
    pub served_by_index: u64,
    /// Questions to the source instead.
    pub fallbacks: Fallbacks,
    /// Questions to the source that failed, and with them the read.
    pub source_failures: u64,
    /// Single writes that may not have reached the index.
    pub failed_writes: u64,
    /// Repairs that a read began.
    pub repairs_begun: u64,
    /// Rebuilds that succeeded, asked for or begun by a read.
    pub rebuilds: u64,
    /// Rebuilds that found another one under way.
    pub rebuilds_busy: u64,
    /// Rebuilds that failed otherwise.
    pub rebuilds_failed: u64,
    /// How old the rebuild was from which the index last answered.
    pub age: Duration,
    /// Namespaces that the source answers until a rebuild makes up for a write that failed.
    pub namespaces_in_doubt: usize,
    /// Namespaces for which the index is left alone, or was within the last sixty pauses of the breaker and nobody has tried since.
    pub circuits_open: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    served_by_index: AtomicU64,
    no_index: AtomicU64,
    empty: AtomicU64,
    unbuilt: AtomicU64,
    damaged: AtomicU64,
    missed_write: AtomicU64,
    timeout: AtomicU64,
    circuit_open: AtomicU64,
    failed: AtomicU64,
    pub(crate) source_failures: AtomicU64,
    pub(crate) failed_writes: AtomicU64,
    pub(crate) repairs_begun: AtomicU64,
    rebuilds: AtomicU64,
    rebuilds_busy: AtomicU64,
    rebuilds_failed: AtomicU64,
    age_ms: AtomicU64,
}

impl Counters {
    pub(crate) fn answered(&self, age: Duration) {
        self.served_by_index.fetch_add(1, Ordering::Relaxed);
        let age = u64::try_from(age.as_millis()).unwrap_or(u64::MAX);
        self.age_ms.store(age, Ordering::Relaxed);
    }

    pub(crate) fn fell_back(&self, reason: &FallbackReason) {
        let counter = match reason {
            FallbackReason::NoIndex => &self.no_index,
            FallbackReason::Empty => &self.empty,
            FallbackReason::Unbuilt => &self.unbuilt,
            FallbackReason::Damaged(_) => &self.damaged,
            FallbackReason::MissedWrite => &self.missed_write,
            FallbackReason::Timeout => &self.timeout,
            FallbackReason::CircuitOpen => &self.circuit_open,
            FallbackReason::Failed(_) => &self.failed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn rebuilt(&self, outcome: &Result<Rebuilt, RebuildError>) {
        let counter = match outcome {
            Ok(_) => &self.rebuilds,
            Err(RebuildError::Index(crate::IndexError::Busy { .. })) => &self.rebuilds_busy,
            Err(_) => &self.rebuilds_failed,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }

    /// A repair panicked, in the source or in what it made of its rows.
    pub(crate) fn rebuild_panicked(&self) {
        self.rebuilds_failed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn read(&self, circuits_open: usize, namespaces_in_doubt: usize) -> Metrics {
        let of = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Metrics {
            served_by_index: of(&self.served_by_index),
            fallbacks: Fallbacks {
                no_index: of(&self.no_index),
                empty: of(&self.empty),
                unbuilt: of(&self.unbuilt),
                damaged: of(&self.damaged),
                missed_write: of(&self.missed_write),
                timeout: of(&self.timeout),
                circuit_open: of(&self.circuit_open),
                failed: of(&self.failed),
            },
            source_failures: of(&self.source_failures),
            failed_writes: of(&self.failed_writes),
            repairs_begun: of(&self.repairs_begun),
            rebuilds: of(&self.rebuilds),
            rebuilds_busy: of(&self.rebuilds_busy),
            rebuilds_failed: of(&self.rebuilds_failed),
            age: Duration::from_millis(of(&self.age_ms)),
            namespaces_in_doubt,
            circuits_open,
        }
    }
}
