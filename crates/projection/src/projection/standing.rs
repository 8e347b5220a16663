//! What this process knows of each namespace's index: writes that may have missed it, and repairs under way. It is memory, nothing more.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;
use tokio::sync::futures::Notified;

use crate::model::Namespace;

/// From how many namespaces on those are forgotten whose repair was a while ago.
const REMEMBERED: usize = 1024;

#[derive(Debug, Default)]
pub(super) struct Standing {
    state: Mutex<State>,
    repair_ended: Notify,
}

#[derive(Debug, Default)]
struct State {
    /// Numbers failed writes and rebuilds in order.
    counter: u64,
    /// The last write that failed.
    missed: HashMap<Namespace, u64>,
    repairs: HashMap<Namespace, Repair>,
}

#[derive(Debug)]
struct Repair {
    begun: Instant,
    is_running: bool,
    /// Why the last one failed, if it did.
    failure: Option<String>,
}

/// A write under way. Unless it is settled, its end is a failure, also when its future is dropped.
#[derive(Debug)]
pub(super) struct Doubt<'a> {
    standing: &'a Standing,
    namespace: Option<Namespace>,
}

impl Doubt<'_> {
    /// The write reached the index.
    pub(super) fn settle(mut self) {
        self.namespace = None;
    }
}

impl Drop for Doubt<'_> {
    fn drop(&mut self) {
        if let Some(namespace) = self.namespace.take() {
            let mut state = self.standing.state();
            let number = state.next();
            state.missed.insert(namespace, number);
        }
    }
}

impl Standing {
    /// A write begins.
    pub(super) fn doubt(&self, namespace: &Namespace) -> Doubt<'_> {
        Doubt {
            standing: self,
            namespace: Some(namespace.clone()),
        }
    }

    /// Whether a write may have missed the namespace's index since its last rebuild.
    pub(super) fn is_doubtful(&self, namespace: &Namespace) -> bool {
        self.state().missed.contains_key(namespace)
    }

    /// How many namespaces are doubtful.
    pub(super) fn in_doubt(&self) -> usize {
        self.state().missed.len()
    }

    /// A rebuild begins; the number is for [`rebuilt`](Self::rebuilt).
    pub(super) fn rebuilding(&self) -> u64 {
        self.state().next()
    }

    /// A rebuild has succeeded: it makes up for the writes that failed before it began.
    pub(super) fn rebuilt(&self, namespace: &Namespace, number: u64) {
        let mut state = self.state();
        if state
            .missed
            .get(namespace)
            .is_some_and(|missed| *missed < number)
        {
            state.missed.remove(namespace);
        }
    }

    /// Whether a repair may begin: one at a time per namespace, and not too often. If so, [`repaired`](Self::repaired) has to follow.
    pub(super) fn may_repair(&self, namespace: &Namespace, interval: Duration) -> bool {
        let mut state = self.state();
        if let Some(repair) = state.repairs.get(namespace)
            && (repair.is_running || repair.begun.elapsed() < interval)
        {
            return false;
        }
        if state.repairs.len() >= REMEMBERED {
            let is_of_use =
                |repair: &Repair| repair.is_running || repair.begun.elapsed() < interval;
            state.repairs.retain(|_, repair| is_of_use(repair));
        }
        let before = state.repairs.remove(namespace);
        let repair = Repair {
            begun: Instant::now(),
            is_running: true,
            failure: before.and_then(|before| before.failure),
        };
        state.repairs.insert(namespace.clone(), repair);
        true
    }

    /// A repair has ended, however.
    pub(super) fn repaired(&self, namespace: &Namespace) {
        if let Some(repair) = self.state().repairs.get_mut(namespace) {
            repair.is_running = false;
        }
        self.repair_ended.notify_waiters();
    }

    /// Whether a repair of a namespace is under way.
    pub(super) fn is_repairing(&self, namespace: &Namespace) -> bool {
        let state = self.state();
        let repair = state.repairs.get(namespace);
        repair.is_some_and(|repair| repair.is_running)
    }

    /// Waits for the end of a repair, from now on.
    pub(super) fn repair_ended(&self) -> Notified<'_> {
        self.repair_ended.notified()
    }

    /// Notes what came of a repair, and says whether that is another reason than that of the last one.
    pub(super) fn is_news(&self, namespace: &Namespace, failure: Option<&str>) -> bool {
        let mut state = self.state();
        let Some(repair) = state.repairs.get_mut(namespace) else {
            return true;
        };
        let is_news = repair.failure.as_deref() != failure;
        repair.failure = failure.map(str::to_owned);
        is_news
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn next(&mut self) -> u64 {
        self.counter += 1;
        self.counter
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_rebuild_makes_up_only_for_writes_that_failed_before_it_began() {
        let (standing, ranked) = (Standing::default(), Namespace::new("ranked").unwrap());
        standing.doubt(&ranked).settle();
        assert!(!standing.is_doubtful(&ranked));
        drop(standing.doubt(&ranked));
        let early = standing.rebuilding();
        drop(standing.doubt(&ranked));
        standing.rebuilt(&ranked, early);
        assert!(standing.is_doubtful(&ranked));
        standing.rebuilt(&ranked, standing.rebuilding());
        assert_eq!(standing.in_doubt(), 0);
    }

    #[test]
    fn repairs_of_a_namespace_are_single_and_apart_in_time() {
        let (standing, ranked) = (Standing::default(), Namespace::new("ranked").unwrap());
        assert!(standing.may_repair(&ranked, Duration::ZERO));
        assert!(!standing.may_repair(&ranked, Duration::ZERO));
        standing.repaired(&ranked);
        assert!(!standing.may_repair(&ranked, Duration::from_secs(60)));
        assert!(standing.may_repair(&ranked, Duration::ZERO));
    }
}
