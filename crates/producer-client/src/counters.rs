//! What a producer has done so far, as plain numbers. Exporting them is up to the application.

use std::sync::atomic::{AtomicU64, Ordering};

/// A snapshot of a producer's counters. They only rise.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProducerCounters {
    /// Records added.
    pub published: u64,
    /// Records whose stream was not where the routing said.
    pub stale_routes: u64,
    /// Questions to the coordinator where the shards are, those without an answer included.
    pub refreshes: u64,
    /// Questions that got no usable answer.
    pub refresh_failures: u64,
    /// Records that were not added, or may not have been.
    pub failures: u64,
    /// Of the failures, those that may have been added.
    pub ambiguous: u64,
    /// Records of `publish_once` that had been added before. They don't count as published.
    pub duplicates: u64,
    /// Calls of exact publication that were repeated, because Redis could not take them, was not reached, or did not answer.
    pub repeats: u64,
    /// Exact publications that met a sealed shard, at their first or second attempt.
    pub sealed: u64,
    /// Exact publications that met a shard without its stream, at their first or second attempt.
    pub streams_lost: u64,
    /// Exact publications that met no generation, or one that is over or later than known, at their first or second attempt.
    pub other_generations: u64,
    /// Exact publications that met an earlier generation than known, at their first or second attempt: Redis lost writes.
    pub writes_lost: u64,
}

/// The counters themselves.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) published: AtomicU64,
    pub(crate) stale_routes: AtomicU64,
    pub(crate) refreshes: AtomicU64,
    pub(crate) refresh_failures: AtomicU64,
    pub(crate) failures: AtomicU64,
    pub(crate) ambiguous: AtomicU64,
    pub(crate) duplicates: AtomicU64,
    pub(crate) repeats: AtomicU64,
    pub(crate) sealed: AtomicU64,
    pub(crate) streams_lost: AtomicU64,
    pub(crate) other_generations: AtomicU64,
    pub(crate) writes_lost: AtomicU64,
}

impl Counters {
    pub(crate) fn count(counter: &AtomicU64) {
        Self::count_many(counter, 1);
    }

    pub(crate) fn count_many(counter: &AtomicU64, times: usize) {
        counter.fetch_add(u64::try_from(times).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    pub(crate) fn snapshot(&self) -> ProducerCounters {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        ProducerCounters {
            published: read(&self.published),
            stale_routes: read(&self.stale_routes),
            refreshes: read(&self.refreshes),
            refresh_failures: read(&self.refresh_failures),
            failures: read(&self.failures),
            ambiguous: read(&self.ambiguous),
            duplicates: read(&self.duplicates),
            repeats: read(&self.repeats),
            sealed: read(&self.sealed),
            streams_lost: read(&self.streams_lost),
            other_generations: read(&self.other_generations),
            writes_lost: read(&self.writes_lost),
        }
    }
}
