//! When groups want a tick, as far as this coordinator knows (rule M5), and what it told the index of that. It asks nobody.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};

use coordinator_core::names::GroupId;
use coordinator_core::time::{Millis, Timestamp};
use projection::{Namespace, Order, Position, Projected, Range};

use super::entry::DueGroup;
use crate::engine::outbox::Versioned;

#[derive(Default)]
pub(in crate::engine) struct DueTimes(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    by_time: BTreeSet<(Timestamp, GroupId)>,
    of_group: HashMap<GroupId, Known>,
    /// What the index has, as far as that is known.
    indexed: HashMap<GroupId, Timestamp>,
}

#[derive(Clone, Copy)]
struct Known {
    due: Timestamp,
    seen_at: Timestamp,
}

/// What the index is to be told of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::engine) enum Telling {
    /// When it wants to be looked at.
    Due(DueGroup),
    /// That it waits for nothing, which was found out then.
    Nothing(Timestamp),
}

impl Versioned for Telling {
    fn version(&self) -> Timestamp {
        match self {
            Self::Due(due) => due.seen_at,
            Self::Nothing(seen_at) => *seen_at,
        }
    }
}

impl DueTimes {
    /// A group was looked at: notes when it wants its next tick; `None` if it waits for nothing. Says what the index is to be told of it: a later time only
    /// once the one that it has is over, so that renewals of leases cost nothing.
    pub(in crate::engine) fn note(
        &self,
        group: &GroupId,
        due: Option<Timestamp>,
        seen_at: Timestamp,
    ) -> Option<Telling> {
        let mut inner = self.lock();
        // What is found out later has a later version.
        let before = inner.of_group.get(group).map(|known| known.seen_at);
        let after = before.map(|before| before.plus(Millis::new(1)));
        let seen_at = after.map_or(seen_at, |after| after.max(seen_at));
        inner.set(group, due.map(|due| Known { due, seen_at }));
        let Some(due) = due else {
            return inner
                .indexed
                .remove(group)
                .map(|_| Telling::Nothing(seen_at));
        };
        let is_known = |indexed: &Timestamp| *indexed <= due && *indexed > seen_at;
        if inner.indexed.get(group).is_some_and(is_known) {
            return None;
        }
        inner.indexed.insert(group.clone(), due);
        let group = group.clone();
        Some(Telling::Due(DueGroup {
            group,
            due,
            seen_at,
        }))
    }

    /// A group is to be looked at soon, whatever it waits for.
    pub(in crate::engine) fn look_soon(&self, group: &GroupId, soon: Option<Timestamp>) {
        let mut inner = self.lock();
        let seen_at = inner.of_group.get(group).map(|known| known.seen_at);
        let seen_at = seen_at.unwrap_or_default();
        inner.set(group, soon.map(|due| Known { due, seen_at }));
    }

    /// The index has this. Says what it is to be told instead, if more is known here and the group is not due by that.
    pub(in crate::engine) fn compare(&self, found: &DueGroup, now: Timestamp) -> Option<Telling> {
        let mut inner = self.lock();
        let known = inner.of_group.get(&found.group).copied();
        let newer = known.filter(|known| known.due > now && known.seen_at > found.seen_at);
        let due = newer.map_or(found.due, |known| known.due);
        inner.indexed.insert(found.group.clone(), due);
        newer.map(|Known { due, seen_at }| {
            let group = found.group.clone();
            Telling::Due(DueGroup {
                group,
                due,
                seen_at,
            })
        })
    }

    /// Takes out the groups that are due at `now`.
    pub(in crate::engine) fn take_due(&self, now: Timestamp) -> Vec<GroupId> {
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

    /// What is known here of a part of the groups.
    pub(in crate::engine) fn within(&self, part: &Namespace, range: &Range) -> Vec<DueGroup> {
        let inner = self.lock();
        let up_to = |(time, _): &&(Timestamp, GroupId)| {
            let upper = range.upper.map(Order::get);
            upper.is_none_or(|upper| i128::from(time.as_ms()) <= i128::from(upper))
        };
        let due = inner.by_time.iter().take_while(up_to).map(|(due, group)| {
            let seen_at = inner.of_group.get(group).map(|known| known.seen_at);
            DueGroup {
                group: group.clone(),
                due: *due,
                seen_at: seen_at.unwrap_or_default(),
            }
        });
        let in_part =
            |group: &DueGroup| group.namespace() == *part && range.has(&Position::of(group));
        let mut found: Vec<DueGroup> = due.filter(in_part).collect();
        found.sort_by_key(Position::of);
        found.truncate(range.limit.get());
        found
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    fn set(&mut self, group: &GroupId, known: Option<Known>) {
        if let Some(before) = self.of_group.remove(group) {
            self.by_time.remove(&(before.due, group.clone()));
        }
        if let Some(known) = known {
            self.by_time.insert((known.due, group.clone()));
            self.of_group.insert(group.clone(), known);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use coordinator_core::names::StreamPrefix;
    use projection::Limit;

    fn group(name: &str) -> GroupId {
        StreamPrefix::parse(name).expect("a good name").own_group()
    }

    const fn at(ms: u64) -> Timestamp {
        Timestamp::from_ms(ms)
    }

    fn told(group: &GroupId, due: u64, seen_at: u64) -> Option<Telling> {
        let (group, due, seen_at) = (group.clone(), at(due), at(seen_at));
        Some(Telling::Due(DueGroup {
            group,
            due,
            seen_at,
        }))
    }

    #[test]
    fn m5_only_what_is_due_is_taken_and_only_once() {
        let times = DueTimes::default();
        let note = |name, due| drop(times.note(&group(name), due, at(0)));
        note("late", Some(at(30)));
        note("moved", Some(at(5)));
        note("early", Some(at(10)));
        note("idle", Some(at(1)));
        note("moved", Some(at(20)));
        note("idle", None);
        assert_eq!(times.take_due(at(20)), [group("early"), group("moved")]);
        assert_eq!(times.take_due(at(20)), []);
        assert_eq!(times.take_due(at(30)), [group("late")]);
    }

    #[test]
    fn the_index_is_told_of_earlier_times_at_once_and_of_later_ones_when_its_own_is_over() {
        let (times, orders) = (DueTimes::default(), group("orders"));
        assert_eq!(
            times.note(&orders, Some(at(100)), at(10)),
            told(&orders, 100, 10)
        );
        assert_eq!(times.note(&orders, Some(at(150)), at(60)), None);
        assert_eq!(
            times.note(&orders, Some(at(90)), at(70)),
            told(&orders, 90, 70)
        );
        assert_eq!(
            times.note(&orders, Some(at(190)), at(90)),
            told(&orders, 190, 90)
        );
        // In the same moment: what is found out later wins.
        assert_eq!(
            times.note(&orders, Some(at(120)), at(90)),
            told(&orders, 120, 91)
        );
        assert_eq!(
            times.note(&orders, None, at(95)),
            Some(Telling::Nothing(at(95)))
        );
        assert_eq!(times.note(&orders, None, at(96)), None);
    }

    #[test]
    fn what_the_index_has_is_corrected_where_more_is_known_and_the_group_is_not_due() {
        let (times, orders) = (DueTimes::default(), group("orders"));
        let found = |due, seen_at| DueGroup {
            group: orders.clone(),
            due: at(due),
            seen_at: at(seen_at),
        };
        assert_eq!(
            times.compare(&found(100, 10), at(100)),
            None,
            "unknown here"
        );
        drop(times.note(&orders, Some(at(200)), at(50)));
        assert_eq!(
            times.compare(&found(100, 10), at(100)),
            told(&orders, 200, 50)
        );
        assert_eq!(times.compare(&found(100, 60), at(100)), None, "newer there");
        assert_eq!(times.compare(&found(100, 10), at(200)), None, "due anyway");
    }

    #[test]
    fn what_is_known_of_a_part_is_sorted_as_indexes_are() {
        let times = DueTimes::default();
        let all: Vec<DueGroup> = (0..40)
            .map(|number| DueGroup {
                group: group(&format!("orders-{number}")),
                due: at(number % 3),
                seen_at: at(7),
            })
            .collect();
        for due in &all {
            drop(times.note(&due.group, Some(due.due), due.seen_at));
        }
        let part = all[0].namespace();
        let mut wanted: Vec<DueGroup> = all
            .into_iter()
            .filter(|due| due.namespace() == part && due.due <= at(1))
            .collect();
        wanted.sort_by_key(Position::of);
        let mut range = Range {
            limit: Limit::MOST,
            after: None,
            upper: Some(super::super::entry::order_of(at(1))),
        };
        assert_eq!(times.within(&part, &range), wanted);
        range.after = Some(Position::of(&wanted[0]));
        assert_eq!(times.within(&part, &range), wanted[1..]);
    }
}
