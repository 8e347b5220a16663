//! The circuit breaker: an index that fails again and again is left alone for a while, so that nobody waits for it. It makes no calls.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

#[derive(Debug)]
pub(super) struct Breaker {
    threshold: u32,
    pause: Duration,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    failures: u32,
    /// Until when nobody tries; `None` while the index is in use.
    closed_until: Option<Instant>,
}

/// One call of the index, whose outcome the breaker wants to know. A call that is dropped half-way counts as nothing.
#[derive(Debug)]
pub(super) struct Trial<'a>(&'a Breaker);

impl Breaker {
    pub(super) fn new(threshold: u32, pause: Duration) -> Self {
        Self {
            threshold: threshold.max(1),
            pause,
            state: Mutex::default(),
        }
    }

    /// Whether to call the index. When a pause is over, one caller is let through, and the others wait for another pause unless it succeeds.
    pub(super) fn lets_through(&self) -> bool {
        let mut state = self.state();
        match state.closed_until {
            None => true,
            Some(end) if Instant::now() < end => false,
            Some(_) => {
                state.closed_until = Some(Instant::now() + self.pause);
                true
            }
        }
    }

    pub(super) fn trial(&self) -> Trial<'_> {
        Trial(self)
    }

    pub(super) fn is_open(&self) -> bool {
        self.state().closed_until.is_some()
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Trial<'_> {
    pub(super) fn succeeded(self) {
        *self.0.state() = State::default();
    }

    pub(super) fn failed(self) {
        let mut state = self.0.state();
        state.failures = state.failures.saturating_add(1);
        if state.failures >= self.0.threshold {
            state.closed_until = Some(Instant::now() + self.0.pause);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn after_failures_in_a_row_nobody_is_let_through() {
        let breaker = Breaker::new(2, Duration::from_secs(60));
        breaker.trial().failed();
        breaker.trial().succeeded();
        breaker.trial().failed();
        assert!(breaker.lets_through() && !breaker.is_open());
        breaker.trial().failed();
        assert!(!breaker.lets_through() && breaker.is_open());
    }

    #[test]
    fn after_the_pause_one_tries_and_its_success_lets_all_through() {
        let mut breaker = Breaker::new(1, Duration::from_millis(20));
        breaker.trial().failed();
        // waits: for the pause to be over
        std::thread::sleep(Duration::from_millis(25));
        breaker.pause = Duration::from_secs(60);
        assert!(breaker.lets_through() && !breaker.lets_through());
        breaker.trial().succeeded();
        assert!(breaker.lets_through() && breaker.lets_through() && !breaker.is_open());
    }
}
