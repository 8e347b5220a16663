//! Circuit breakers, one for each namespace: where the index fails again and again it is left alone for a while, so that nobody waits for it. Others may lie on
//! a server that is well. It makes no calls.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::model::Namespace;

/// How many namespaces with failures are remembered one by one. All beyond have one breaker together: where so many fail, the server has.
const REMEMBERED: usize = 1024;
/// After how many pauses without a failure a namespace is forgotten when there is no room.
const FORGOTTEN_AFTER: u32 = 60;

#[derive(Debug)]
pub(super) struct Breakers {
    threshold: u32,
    pause: Duration,
    failing: Mutex<Failing>,
}

#[derive(Debug, Default)]
struct Failing {
    each: HashMap<Namespace, State>,
    /// Of all others, while there is no room for them.
    rest: Option<State>,
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
        let Some(state) = failing.of(namespace) else {
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

    /// For how many namespaces the index is left alone, or was a while ago: of those that are seldom asked for nobody has found out since.
    pub(super) fn open(&self) -> usize {
        let (now, failing) = (Instant::now(), self.failing());
        let all = failing.each.values().chain(&failing.rest);
        let while_ago = self.pause * FORGOTTEN_AFTER;
        let open = all.filter(|it| it.closed_until.is_some_and(|end| now < end + while_ago));
        open.count()
    }

    fn failing(&self) -> MutexGuard<'_, Failing> {
        self.failing.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Failing {
    /// What is known of a namespace; nothing if nothing is wrong with it.
    fn of(&mut self, namespace: &Namespace) -> Option<&mut State> {
        let is_full = self.each.len() >= REMEMBERED;
        match self.each.get_mut(namespace) {
            None if is_full => self.rest.as_mut(),
            known => known,
        }
    }

    /// The state of a namespace that fails.
    fn failed(&mut self, namespace: &Namespace, now: Instant, forgotten: Duration) -> &mut State {
        let new = || State {
            failures: 0,
            last: now,
            closed_until: None,
        };
        let has_room = |each: &HashMap<_, _>| each.len() < REMEMBERED;
        if !self.each.contains_key(namespace) && !has_room(&self.each) {
            self.each
                .retain(|_, state| now.duration_since(state.last) < forgotten);
            if !has_room(&self.each) {
                return self.rest.get_or_insert_with(new);
            }
            self.rest = None;
        }
        self.each.entry(namespace.clone()).or_insert_with(new)
    }
}

impl<'a> Trial<'a> {
    pub(super) const fn namespace(&self) -> &'a Namespace {
        self.namespace
    }

    /// Says whether the index had been left alone.
    pub(super) fn succeeded(self) -> bool {
        let mut failing = self.breakers.failing();
        let is_full = failing.each.len() >= REMEMBERED;
        let state = match failing.each.remove(self.namespace) {
            None if is_full => failing.rest.take(),
            known => {
                // There is room for each of the others now.
                failing.rest = None;
                known
            }
        };
        state.is_some_and(|state| state.closed_until.is_some())
    }

    /// Says whether the index is left alone from now on.
    pub(super) fn failed(self) -> bool {
        let now = Instant::now();
        let (pause, threshold) = (self.breakers.pause, self.breakers.threshold);
        let mut failing = self.breakers.failing();
        let state = failing.failed(self.namespace, now, pause * FORGOTTEN_AFTER);
        state.failures = state.failures.saturating_add(1);
        state.last = now;
        let was_open = state.closed_until.is_some();
        if state.failures >= threshold {
            state.closed_until = Some(now + pause);
        }
        state.closed_until.is_some() && !was_open
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
    fn those_that_are_beyond_what_is_remembered_have_a_breaker_together() {
        let breakers = Breakers::new(3, Duration::from_secs(60));
        for number in 0..REMEMBERED {
            assert!(!breakers.trial(&name(number)).failed());
        }
        // None of them fails twice.
        let others = REMEMBERED..REMEMBERED + 3;
        let opened = others.map(|number| breakers.trial(&name(number)).failed());
        assert_eq!(opened.collect::<Vec<_>>(), [false, false, true]);
        assert!(!breakers.lets_through(&name(5_000)) && breakers.lets_through(&name(0)));
        assert_eq!(breakers.open(), 1);
        assert!(breakers.trial(&name(5_000)).succeeded());
        assert!(breakers.lets_through(&name(5_001)));
    }

    #[test]
    fn what_has_not_failed_for_long_makes_room() {
        let breakers = Breakers::new(1, Duration::ZERO);
        for number in 0..=REMEMBERED {
            breakers.trial(&name(number)).failed();
        }
        let failing = breakers.failing();
        assert!(failing.each.len() <= REMEMBERED && failing.rest.is_none());
    }

    #[test]
    fn it_is_told_once_that_the_index_is_left_alone_and_once_that_it_answers_again() {
        let breakers = Breakers::new(2, Duration::ZERO);
        let told: Vec<bool> = (0..4).map(|_| breakers.trial(&name(0)).failed()).collect();
        assert_eq!(told, [false, true, false, false]);
        assert_eq!(breakers.open(), 0, "its pause is over");
        assert!(breakers.trial(&name(0)).succeeded());
        assert!(!breakers.trial(&name(0)).succeeded());
    }
}
