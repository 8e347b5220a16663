//! Circuit breakers, one for each namespace: where the index fails again and again it is left alone for a while, so that nobody waits for it. Others may lie on
//! a server that is well. It makes no calls.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::model::Namespace;

/// How many namespaces with failures are remembered. Of more, the one is forgotten whose last failure is the longest ago.
const REMEMBERED: usize = 1024;

#[derive(Debug)]
pub(super) struct Breakers {
    threshold: u32,
    pause: Duration,
    failing: Mutex<HashMap<Namespace, State>>,
}

/// A namespace whose last call failed.
#[derive(Debug)]
struct State {
    failures: u32,
    last: Instant,
    /// Until when nobody tries; `None` while the index is in use.
    closed_until: Option<Instant>,
}

/// One call of the index, whose outcome the breaker wants to know. A call that is dropped half-way counts as nothing.
#[derive(Debug)]
pub(super) struct Trial<'a> {
    breakers: &'a Breakers,
    namespace: &'a Namespace,
}

impl Breakers {
    pub(super) fn new(threshold: u32, pause: Duration) -> Self {
        Self {
            threshold: threshold.max(1),
            pause,
            failing: Mutex::default(),
        }
    }

    /// Whether to call the index. When a pause is over, one caller is let through, and the others wait for another pause unless it succeeds.
    pub(super) fn lets_through(&self, namespace: &Namespace) -> bool {
        let mut failing = self.failing();
        let Some(state) = failing.get_mut(namespace) else {
            return true;
        };
        match state.closed_until {
            None => true,
            Some(end) if Instant::now() < end => false,
            Some(_) => {
                state.closed_until = Some(Instant::now() + self.pause);
                true
            }
        }
    }

    pub(super) fn trial<'a>(&'a self, namespace: &'a Namespace) -> Trial<'a> {
        Trial {
            breakers: self,
            namespace,
        }
    }

    /// For how many namespaces the index is left alone.
    pub(super) fn open(&self) -> usize {
        let failing = self.failing();
        let open = failing.values().filter(|it| it.closed_until.is_some());
        open.count()
    }

    fn failing(&self) -> MutexGuard<'_, HashMap<Namespace, State>> {
        self.failing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Trial<'_> {
    pub(super) fn succeeded(self) {
        self.breakers.failing().remove(self.namespace);
    }

    pub(super) fn failed(self) {
        let (now, mut failing) = (Instant::now(), self.breakers.failing());
        if failing.len() >= REMEMBERED && !failing.contains_key(self.namespace) {
            let oldest = failing.iter().min_by_key(|(_, state)| state.last);
            if let Some(oldest) = oldest.map(|(namespace, _)| namespace.clone()) {
                failing.remove(&oldest);
            }
        }
        let state = failing.entry(self.namespace.clone()).or_insert(State {
            failures: 0,
            last: now,
            closed_until: None,
        });
        state.failures = state.failures.saturating_add(1);
        state.last = now;
        if state.failures >= self.breakers.threshold {
            state.closed_until = Some(now + self.breakers.pause);
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn name(number: usize) -> Namespace {
        Namespace::new(format!("playlist-{number}")).unwrap()
    }

    #[test]
    fn after_failures_in_a_row_nobody_is_let_through_to_that_namespace() {
        let breakers = Breakers::new(2, Duration::from_secs(60));
        let (ill, well) = (name(0), name(1));
        breakers.trial(&ill).failed();
        breakers.trial(&ill).succeeded();
        breakers.trial(&ill).failed();
        assert!(breakers.lets_through(&ill));
        assert_eq!(breakers.open(), 0);
        breakers.trial(&ill).failed();
        assert!(!breakers.lets_through(&ill) && breakers.lets_through(&well));
        breakers.trial(&well).succeeded();
        assert!(!breakers.lets_through(&ill));
        assert_eq!(breakers.open(), 1);
    }

    #[test]
    fn after_the_pause_one_tries_and_its_success_lets_all_through() {
        let mut breakers = Breakers::new(1, Duration::from_millis(20));
        let name = name(0);
        breakers.trial(&name).failed();
        // waits: for the pause to be over
        std::thread::sleep(Duration::from_millis(25));
        breakers.pause = Duration::from_secs(60);
        assert!(breakers.lets_through(&name) && !breakers.lets_through(&name));
        breakers.trial(&name).succeeded();
        assert!(breakers.lets_through(&name) && breakers.lets_through(&name));
        assert_eq!(breakers.open(), 0);
    }

    #[test]
    fn however_many_namespaces_fail_only_some_are_remembered() {
        let breakers = Breakers::new(1, Duration::from_secs(60));
        for number in 0..=REMEMBERED {
            breakers.trial(&name(number)).failed();
        }
        assert_eq!(breakers.open(), REMEMBERED);
        assert!(breakers.lets_through(&name(0)) && !breakers.lets_through(&name(1)));
    }
}
