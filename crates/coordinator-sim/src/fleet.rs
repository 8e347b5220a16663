//! Many runs at the same time, one thread for each core.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use crate::counts::Counts;
use crate::options::Options;
use crate::run::{Outcome, simulate};

/// What came of many runs.
#[derive(Clone, Debug, Default)]
pub struct Fleet {
    /// What happened in all of them.
    pub counts: Counts,
    /// The failed run with the lowest seed among those that were done.
    pub failed: Option<Outcome>,
}

/// Runs seeds from the first one on until `goes_on` says no; it is asked before each, with the number of runs begun so far. A violation ends it
/// as well.
pub fn simulate_many(
    first: u64,
    options: &Options,
    threads: usize,
    goes_on: impl Fn(u64) -> bool + Sync,
) -> Fleet {
    let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let fleet = Mutex::new(Fleet::default());
    thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if !goes_on(number) {
                        break;
                    }
                    let outcome = simulate(first.wrapping_add(number), options);
                    let mut fleet = fleet
                        .lock()
                        .unwrap_or_else(std::sync::PoisonError::into_inner);
                    fleet.counts.add(&outcome.counts);
                    if outcome.violation.is_some() {
                        stop.store(true, Ordering::Relaxed);
                        let is_first = fleet
                            .failed
                            .as_ref()
                            .is_none_or(|failed| outcome.seed < failed.seed);
                        if is_first {
                            fleet.failed = Some(outcome);
                        }
                    }
                }
            });
        }
    });
    fleet
        .into_inner()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
