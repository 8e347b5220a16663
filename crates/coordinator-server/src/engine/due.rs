//! Which groups want a tick, and when: rule M5. An index in memory; what it forgets, the sweep finds again.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use coordinator_core::names::GroupId;
use coordinator_core::time::Timestamp;

#[derive(Default)]
pub(super) struct DueIndex(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    by_time: BTreeSet<(Timestamp, GroupId)>,
    of_group: HashMap<GroupId, Timestamp>,
}

impl DueIndex {
    /// Notes when a group wants its next tick; `None` if it waits for nothing.
    pub(super) fn set(&self, group: &GroupId, due: Option<Timestamp>) {
        let mut inner = self.lock();
        if let Some(before) = inner.of_group.remove(group) {
            inner.by_time.remove(&(before, group.clone()));
        }
        if let Some(due) = due {
            inner.of_group.insert(group.clone(), due);
            inner.by_time.insert((due, group.clone()));
        }
    }

    /// Takes out the groups that are due at `now`.
    pub(super) fn take_due(&self, now: Timestamp) -> Vec<GroupId> {
        let mut inner = self.lock();
        let mut due = Vec::new();
        while let Some((time, group)) = inner.by_time.pop_first() {
            if time > now {
                inner.by_time.insert((time, group));
                break;
            }
            inner.of_group.remove(&group);
            due.push(group);
        }
        due
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use coordinator_core::names::StreamPrefix;

    fn group(name: &str) -> GroupId {
        StreamPrefix::parse(name).expect("a good name").own_group()
    }

    #[test]
    fn m5_only_what_is_due_is_taken_and_only_once() {
        let index = DueIndex::default();
        index.set(&group("late"), Some(Timestamp::from_ms(30)));
        index.set(&group("moved"), Some(Timestamp::from_ms(5)));
        index.set(&group("early"), Some(Timestamp::from_ms(10)));
        index.set(&group("idle"), Some(Timestamp::from_ms(1)));
        index.set(&group("moved"), Some(Timestamp::from_ms(20)));
        index.set(&group("idle"), None);
        assert_eq!(
            index.take_due(Timestamp::from_ms(20)),
            [group("early"), group("moved")]
        );
        assert_eq!(index.take_due(Timestamp::from_ms(20)), []);
        assert_eq!(index.take_due(Timestamp::from_ms(30)), [group("late")]);
    }
}
