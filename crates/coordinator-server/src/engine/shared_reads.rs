//! Reads that many ask for at once: one is under way for each key, and its outcome is told again for a short time, with how old it is. Fifty dashboards
//! cost what one costs. A failure is shared, too: nobody waits for the same absence one after the other.

use std::collections::HashMap;
use std::future::Future;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use tokio::time::Instant;

use super::EngineError;

/// From this many keys on, outcomes that are too old are dropped whenever their number has doubled.
const MANY: usize = 256;

/// What was read, and when.
#[derive(Debug)]
pub(crate) struct Look<T> {
    /// What came of it.
    pub(crate) outcome: Result<T, EngineError>,
    /// When it began, by this coordinator's clock.
    pub(crate) at: SystemTime,
    began: Instant,
}

impl<T> Look<T> {
    /// How long ago it was read.
    pub(crate) fn age(&self) -> Duration {
        self.began.elapsed()
    }
}

type Slot<T> = tokio::sync::Mutex<Option<Arc<Look<T>>>>;

/// Shared reads, by key.
pub(super) struct SharedReads<K, T> {
    keep: Duration,
    slots: Mutex<Slots<K, T>>,
}

/// What is known, by key.
struct Slots<K, T> {
    of: HashMap<K, Arc<Slot<T>>>,
    /// With how many keys those are looked for that are too old.
    full: usize,
}

impl<K: Clone + Eq + Hash, T> SharedReads<K, T> {
    /// What was read is told again for so long.
    pub(super) fn new(keep: Duration) -> Self {
        Self {
            keep,
            slots: Mutex::new(Slots {
                of: HashMap::new(),
                full: MANY,
            }),
        }
    }

    /// What is known, or what `read` gives. Whoever asks meanwhile waits for that.
    pub(super) async fn get<F>(&self, key: &K, read: impl FnOnce() -> F) -> Arc<Look<T>>
    where
        F: Future<Output = Result<T, EngineError>>,
    {
        let asked = Instant::now();
        let slot = self.slot(key);
        let mut known = slot.lock().await;
        // What was begun after the question is new enough, however long is kept.
        let is_fresh = |look: &Arc<Look<T>>| look.began >= asked || look.age() < self.keep;
        if let Some(look) = known.as_ref().filter(|look| is_fresh(look)) {
            return Arc::clone(look);
        }
        let (at, began) = (SystemTime::now(), Instant::now());
        let look = Arc::new(Look {
            outcome: read().await,
            at,
            began,
        });
        *known = Some(Arc::clone(&look));
        look
    }

    fn slot(&self, key: &K) -> Arc<Slot<T>> {
        let mut slots = self.slots.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(slot) = slots.of.get(key) {
            return Arc::clone(slot);
        }
        if slots.of.len() >= slots.full {
            // Anybody may ask for any name.
            slots.of.retain(|_, slot| {
                let known = slot.try_lock();
                known.map_or(true, |known| {
                    known.as_ref().is_some_and(|look| look.age() < self.keep)
                })
            });
            slots.full = MANY.max(slots.of.len() * 2);
        }
        Arc::clone(slots.of.entry(key.clone()).or_default())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::atomic::{AtomicUsize, Ordering};

    use futures_util::future::join_all;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    async fn ask(reads: &SharedReads<u32, usize>, key: u32, count: &AtomicUsize) -> usize {
        let read = || async {
            // waits: the clock is the test's; a read takes that long
            tokio::time::sleep(SECOND / 2).await;
            let count = count.fetch_add(1, Ordering::SeqCst);
            if key == 0 {
                Err(EngineError::GroupNotFound)
            } else {
                Ok(count)
            }
        };
        let look = reads.get(&key, read).await;
        look.outcome.clone().unwrap_or(usize::MAX)
    }

    #[tokio::test(start_paused = true)]
    async fn those_who_ask_at_once_or_soon_share_one_read() {
        let reads = SharedReads::new(SECOND);
        let count = AtomicUsize::new(0);
        let asked = join_all((0..50).map(|_| ask(&reads, 1, &count))).await;
        assert_eq!(asked, [0; 50]);
        tokio::time::advance(SECOND / 4).await;
        assert_eq!(ask(&reads, 1, &count).await, 0);
        assert_eq!(
            ask(&reads, 2, &count).await,
            1,
            "another key is another read"
        );
        tokio::time::advance(SECOND).await;
        assert_eq!(ask(&reads, 1, &count).await, 2);
    }

    #[tokio::test(start_paused = true)]
    async fn a_failure_is_shared_and_passes() {
        let reads = SharedReads::new(SECOND);
        let count = AtomicUsize::new(0);
        let asked = join_all((0..50).map(|_| ask(&reads, 0, &count))).await;
        assert_eq!(asked, [usize::MAX; 50]);
        assert_eq!(count.load(Ordering::SeqCst), 1);
        tokio::time::advance(SECOND).await;
        ask(&reads, 0, &count).await;
        assert_eq!(count.load(Ordering::SeqCst), 2);
    }

    #[tokio::test(start_paused = true)]
    async fn one_who_goes_away_leaves_the_others_an_answer() {
        let reads = SharedReads::new(SECOND);
        let count = AtomicUsize::new(0);
        let hasty = tokio::time::timeout(SECOND / 4, ask(&reads, 1, &count));
        let (hasty, patient) = tokio::join!(hasty, ask(&reads, 1, &count));
        assert!(hasty.is_err());
        assert_eq!(patient, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn names_that_nobody_asks_for_any_more_are_forgotten() {
        let reads = SharedReads::new(SECOND);
        let count = AtomicUsize::new(0);
        for key in 1..=1_000 {
            ask(&reads, key, &count).await;
        }
        assert!(reads.slots.lock().unwrap().of.len() <= MANY);
    }
}
