//! Whether coordinators have been watching without a gap (rule M6), and whether the store kept what they wrote (rule C8). Judges no lease itself.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use coordinator_core::settings::Settings;
use coordinator_core::time::{Clock, Millis, Timestamp};
use store::{Coordination, Doubt, GroupStore, StoreError};

/// Keeps the mark that coordinators leave in the store with every tick.
pub(super) struct Watchtower {
    store: Arc<dyn GroupStore>,
    tick: Duration,
    gap: Millis,
    last: Mutex<Option<Last>>,
    /// The last moment that was given as a version, and the latest that the store told, in milliseconds.
    given: AtomicU64,
    latest: AtomicU64,
}

/// What was last heard, and when it was asked for; not trusted any more after the store could not be reached.
#[derive(Clone, Copy)]
struct Last {
    coordination: Coordination,
    asked: Instant,
    is_trusted: bool,
}

impl Watchtower {
    pub(super) fn new(store: Arc<dyn GroupStore>, settings: &Settings) -> Self {
        let lease = settings.member_lease_ttl().get();
        let tick = (lease / 40).clamp(20, 500);
        let gap = (lease / 10).max(tick + tick / 2);
        Self {
            store,
            tick: Duration::from_millis(tick),
            gap: Millis::new(gap),
            last: Mutex::new(None),
            given: AtomicU64::new(0),
            latest: AtomicU64::new(0),
        }
    }

    /// How often the mark is refreshed and due groups are visited.
    pub(super) const fn tick(&self) -> Duration {
        self.tick
    }

    /// Leaves the mark, and learns since when somebody has been watching.
    pub(super) async fn refresh(&self) -> Result<Coordination, StoreError> {
        // The age counts from before the question: a pause while it is under way must not look like watching.
        let asked = Instant::now();
        let mark = self.last().map(|last| last.coordination.now);
        let coordination = self.store.watch_over(self.gap, mark).await?;
        self.note_doubt(coordination);
        self.latest
            .fetch_max(coordination.now.as_ms(), Ordering::Relaxed);
        let mut last = self.lock();
        // Of two questions under way, the one asked later has the newer answer.
        if last.is_none_or(|last| last.asked <= asked) {
            *last = Some(Last {
                coordination,
                asked,
                is_trusted: true,
            });
        }
        Ok(coordination)
    }

    /// The clock for a decision on what was read at `now`.
    ///
    /// The last mark counts only if it is fresh by this process' time and by the store's: the one shows that this process was stopped, the
    /// other that the store's clock jumped, or that the whole machine slept. What is doubted is for the group to say.
    ///
    /// # Errors
    /// [`StoreError`]: whether somebody has been watching, and whether writes were lost, is not known. Nothing may be decided then.
    pub(super) async fn clock(&self, now: Timestamp) -> Result<Clock, StoreError> {
        let fresh = self.last().filter(|last| {
            last.is_trusted
                && last.asked.elapsed() <= Duration::from_millis(self.gap.get())
                && last.coordination.now <= now
                && now.since(last.coordination.now) <= self.gap
        });
        let coordination_since = match fresh {
            Some(last) => last.coordination.since,
            None => self.refresh().await?.since_for(now),
        };
        Ok(Clock {
            now,
            coordination_since,
            doubted_at: None,
        })
    }

    /// The store could not be reached: it may come back as another one, and is asked before the next decision.
    pub(super) fn trust_no_longer(&self) {
        if let Some(last) = &mut *self.lock() {
            last.is_trusted = false;
        }
    }

    /// The last sign that the store as a whole may have lost writes, as far as this coordinator has heard. Rule C8.
    pub(super) fn doubt(&self) -> Option<Doubt> {
        self.last().and_then(|last| last.coordination.doubt)
    }

    /// Tells all coordinators that the store may have lost writes (rule C8).
    ///
    /// # Errors
    /// [`StoreError`]; nobody may have heard of it then.
    pub(super) async fn spread_doubt(&self, at: Timestamp) -> Result<(), StoreError> {
        tracing::warn!(
            at_ms = at.as_ms(),
            "writes may be lost: a member knows more than the store has"
        );
        self.store.doubt(at).await?;
        self.refresh().await.map(drop)
    }

    fn note_doubt(&self, coordination: Coordination) {
        let is_news = self
            .last()
            .is_some_and(|last| coordination.doubt > last.coordination.doubt);
        if is_news {
            tracing::warn!(
                "writes may be lost: the store shows another history, or has lost a mark"
            );
        }
    }

    /// The store's time, as far as one can tell without asking. None before it was ever asked.
    pub(super) fn estimated_now(&self) -> Option<Timestamp> {
        self.last().map(|last| {
            let elapsed = u64::try_from(last.asked.elapsed().as_millis()).unwrap_or(u64::MAX);
            last.coordination.now.plus(Millis::new(elapsed))
        })
    }

    /// A moment by the store's clock, later than every one that was given before: a version of what this coordinator finds out now. It may be ahead of the
    /// store by as long as an answer takes.
    pub(super) fn next_moment(&self) -> Timestamp {
        let now = self.estimated_now().unwrap_or_default().as_ms();
        let later = |given: u64| Some(now.max(given + 1));
        let order = Ordering::Relaxed;
        let given = self.given.fetch_update(order, order, later);
        let given = given.unwrap_or_else(|given| given);
        Timestamp::from_ms(now.max(given + 1))
    }

    /// The latest moment that the store ever told this coordinator, whether or not its clock went back since.
    pub(super) fn latest(&self) -> Timestamp {
        Timestamp::from_ms(self.latest.load(Ordering::Relaxed))
    }

    fn last(&self) -> Option<Last> {
        *self.lock()
    }

    fn lock(&self) -> MutexGuard<'_, Option<Last>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::{LockLimits, ManualClock, MemoryStore, StoreClock};

    /// Every other coordinator's mark is ahead of the store's clock then.
    #[tokio::test]
    async fn m6_m7_a_clock_that_goes_back_is_a_gap_and_no_loss_of_writes() {
        let time = Arc::new(ManualClock::at(Timestamp::from_ms(1_000_000)));
        let store = Arc::new(MemoryStore::with(time.clone(), LockLimits::default()));
        let towers = [0, 1, 2].map(|_| Watchtower::new(store.clone(), &Settings::default()));
        for tower in &towers {
            tower.refresh().await.expect("a mark");
        }
        time.set(Timestamp::from_ms(999_990));
        for tower in &towers {
            let coordination = tower.refresh().await.expect("a mark");
            assert_eq!(coordination.doubt, None);
        }
    }

    /// What was read by a clock that was ahead, and is judged by one that went back since, is over for nobody.
    #[tokio::test]
    async fn m6_m7_a_clock_that_went_back_since_the_reading_judges_nobody() {
        let time = Arc::new(ManualClock::at(Timestamp::from_ms(1_000_000)));
        let store = MemoryStore::with(time.clone(), LockLimits::default());
        let tower = Watchtower::new(Arc::new(store), &Settings::default());
        tower.refresh().await.expect("a mark");
        let read_at = Timestamp::from_ms(1_060_000);
        time.set(Timestamp::from_ms(1_000_500));
        let clock = tower.clock(read_at).await.expect("a clock");
        assert_eq!((clock.now, clock.coordination_since), (read_at, read_at));
    }

    #[tokio::test]
    async fn m6_a_jump_of_the_stores_clock_that_no_tick_has_seen_yet_is_a_gap() {
        let time = Arc::new(ManualClock::at(Timestamp::from_ms(1_000_000)));
        let store = MemoryStore::with(time.clone(), LockLimits::default());
        let tower = Watchtower::new(Arc::new(store), &Settings::default());
        tower.refresh().await.expect("a mark");

        time.advance(Millis::new(1_000));
        let clock = tower.clock(time.now()).await.expect("a clock");
        assert_eq!(clock.coordination_since, Timestamp::from_ms(1_000_000));

        time.advance(Millis::new(60_000));
        let clock = tower.clock(time.now()).await.expect("a clock");
        assert_eq!(clock.coordination_since, clock.now);
    }
}
