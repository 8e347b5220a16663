//! Heartbeats that let nobody in: of members that are fenced, and of members of groups that are not recorded. Each is told in the log once in a while, and the second
//! are counted for health. What members may is decided elsewhere.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use coordinator_core::member::MemberState;
use coordinator_core::names::{GroupId, InstanceId, MemberId};
use tokio::time::Instant;

use super::Engine;

/// The same is said once in this time, and heartbeats are counted for so long.
const WHILE: Duration = Duration::from_secs(60);
/// Of so many members it is remembered that they were told of. They are members that are recorded.
const MEMBERS: usize = 1_024;
/// The same of groups. Anybody may ask for any name.
const GROUPS: usize = 16;

/// Members that heartbeat into groups that are not recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unrecorded {
    /// Heartbeats in the last minute.
    pub(crate) heartbeats: u64,
    /// Some of the groups.
    pub(crate) groups: Vec<GroupId>,
}

/// What was said, and counted.
pub(super) struct Strays {
    fenced: Mutex<Said<(GroupId, MemberId)>>,
    unrecorded: Mutex<Counted>,
}

/// What is said of heartbeats, and how often it was not since it was last.
#[derive(Debug, PartialEq, Eq)]
enum Line {
    /// Of a group.
    Same(u64),
    /// Of one of those for which there is no room.
    Others(u64),
}

/// What is to be done about groups that are not recorded.
const ADVICE: &str = "restore it if it was lost (docs/operations.md#metadata-lost-or-rolled-back), or stop its members";

struct Counted {
    said: Said<GroupId>,
    said_of_others: Said<()>,
    heard: BTreeMap<GroupId, Rate>,
    /// Of groups for which there was no room.
    others: Rate,
}

/// How many came lately: within a second of each moment.
#[derive(Default)]
struct Rate(VecDeque<(Instant, u64)>);

impl Rate {
    fn count(&mut self, now: Instant) {
        match self.0.back_mut() {
            Some((begin, count)) if now - *begin < Duration::from_secs(1) => *count += 1,
            _ => self.0.push_back((now, 1)),
        }
    }

    /// How many there are, once those that are too old are forgotten.
    fn sum(&mut self, now: Instant) -> u64 {
        self.0.retain(|(begin, _)| now - *begin < WHILE);
        self.0.iter().map(|(_, count)| count).sum()
    }
}

impl Default for Strays {
    fn default() -> Self {
        Self {
            fenced: Mutex::new(Said::of(MEMBERS)),
            unrecorded: Mutex::new(Counted {
                said: Said::of(GROUPS),
                said_of_others: Said::of(1),
                heard: BTreeMap::new(),
                others: Rate::default(),
            }),
        }
    }
}

impl Strays {
    /// Of what was counted, that of groups of which it is not known that they are recorded by now.
    fn unrecorded(&self, is_recorded: impl Fn(&GroupId) -> bool) -> Option<Unrecorded> {
        let (mut counted, now) = (lock(&self.unrecorded), Instant::now());
        counted.forget(now);
        let mut heartbeats = counted.others.sum(now);
        let mut groups: Vec<GroupId> = Vec::new();
        for (group, rate) in &mut counted.heard {
            if !is_recorded(group) {
                heartbeats += rate.sum(now);
                groups.push(group.clone());
            }
        }
        // Of the others nobody knows whether they are recorded by now.
        (!groups.is_empty()).then_some(Unrecorded { heartbeats, groups })
    }
}

impl Counted {
    /// Counts a heartbeat, and gives what is to be said of it.
    fn note(&mut self, group: &GroupId, now: Instant) -> Option<Line> {
        self.count(group, now);
        if self.said.has_room_for(group, now) {
            return self.said.say(group.clone(), now).map(Line::Same);
        }
        self.said_of_others.say((), now).map(Line::Others)
    }

    fn count(&mut self, group: &GroupId, now: Instant) {
        self.forget(now);
        if self.heard.len() < GROUPS || self.heard.contains_key(group) {
            self.heard.entry(group.clone()).or_default().count(now);
        } else {
            self.others.count(now);
        }
    }

    fn forget(&mut self, now: Instant) {
        self.heard.retain(|_, rate| rate.sum(now) > 0);
        self.others.sum(now);
    }
}

/// What was said lately.
struct Said<K> {
    most: usize,
    /// When, and how often it would have been said since.
    lines: BTreeMap<K, (Instant, u64)>,
}

impl<K: Ord> Said<K> {
    const fn of(most: usize) -> Self {
        Self {
            most,
            lines: BTreeMap::new(),
        }
    }

    /// How often it was not said since it was said last, if it is to be said now.
    fn say(&mut self, key: K, now: Instant) -> Option<u64> {
        if let Some((said, unsaid)) = self.lines.get_mut(&key) {
            if now - *said < WHILE {
                *unsaid += 1;
                return None;
            }
            *said = now;
            return Some(std::mem::take(unsaid));
        }
        if !self.has_room_for(&key, now) {
            return None;
        }
        self.lines.insert(key, (now, 0));
        Some(0)
    }

    /// Whether something is remembered, or can be.
    fn has_room_for(&mut self, key: &K, now: Instant) -> bool {
        if self.lines.len() >= self.most && !self.lines.contains_key(key) {
            self.lines.retain(|_, (said, _)| now - *said < WHILE);
        }
        self.lines.len() < self.most || self.lines.contains_key(key)
    }
}

/// What is behind a heartbeat that is answered `FENCED_MEMBER_EPOCH`, and what to do.
fn cause(
    state: Option<MemberState>,
    holder: Option<&InstanceId>,
    sender: Option<&InstanceId>,
) -> Option<(&'static str, &'static str)> {
    match state {
        // The fencing itself was told, with its own cause.
        Some(MemberState::Fenced) => None,
        Some(MemberState::Expired) => Some((
            "LeaseOver",
            "it was not heard for a whole lease: look for long pauses, and for heartbeats that do not arrive",
        )),
        _ if holder.is_some() && sender.is_some() && holder != sender => Some((
            "OtherProcess",
            "two processes use one member id: give each process its own, and stop the one that is too many",
        )),
        _ => Some((
            "OtherEpoch",
            "it goes by an epoch that is not this member's any more: another process with this id, or a late copy",
        )),
    }
}

impl Engine {
    /// A heartbeat was answered `FENCED_MEMBER_EPOCH`.
    pub(crate) fn note_fenced(
        &self,
        group: &GroupId,
        member: &MemberId,
        sender: Option<&InstanceId>,
    ) {
        let record = self.0.views.record(group);
        let known = record
            .as_ref()
            .and_then(|record| record.members.get(member));
        let holder = known.and_then(|known| known.instance.as_ref());
        let Some((cause, advice)) = cause(known.map(|known| known.state), holder, sender) else {
            return;
        };
        let key = (group.clone(), member.clone());
        // Nobody waits for the log under the lock.
        let said = lock(&self.0.strays.fenced).say(key, Instant::now());
        if let Some(unsaid) = said {
            let named = |id: Option<&InstanceId>| id.map_or("-", InstanceId::as_str).to_owned();
            tracing::warn!(stream = %group.stream, group = %group.group, %member, instance = named(sender), holder = named(holder), cause, unsaid, advice, "member fenced");
        }
    }

    /// A heartbeat named a group that is not recorded.
    pub(crate) fn note_unrecorded(&self, group: &GroupId, member: &MemberId) {
        // Nobody waits for the log under the lock.
        let said = lock(&self.0.strays.unrecorded).note(group, Instant::now());
        match said {
            Some(Line::Same(unsaid)) => {
                tracing::warn!(stream = %group.stream, group = %group.group, %member, unsaid, advice = ADVICE, "members heartbeat into a group that is not recorded");
            }
            Some(Line::Others(unsaid)) => {
                tracing::warn!(stream = %group.stream, group = %group.group, %member, unsaid, advice = ADVICE, "members heartbeat into more groups that are not recorded, of which this is one");
            }
            None => {}
        }
    }

    /// Whether members heartbeat into groups that are not recorded, as this coordinator heard in the last minute.
    pub(super) fn unrecorded(&self) -> Option<Unrecorded> {
        let views = &self.0.views;
        self.0
            .strays
            .unrecorded(|group| views.record(group).is_some())
    }
}

fn lock<T>(cell: &Mutex<T>) -> MutexGuard<'_, T> {
    cell.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use coordinator_core::names::StreamPrefix;

    use super::*;

    fn group(number: usize) -> GroupId {
        let name = format!("stream-{number}");
        StreamPrefix::parse(&name).unwrap().own_group()
    }

    #[tokio::test(start_paused = true)]
    async fn the_same_is_said_once_a_minute_and_then_how_often_it_was_not() {
        let mut said = Said::of(2);
        assert_eq!(said.say("a", Instant::now()), Some(0));
        for _ in 0..5 {
            assert_eq!(said.say("a", Instant::now()), None);
        }
        assert_eq!(said.say("b", Instant::now()), Some(0));
        assert_eq!(said.say("c", Instant::now()), None, "there is no room");
        tokio::time::advance(WHILE).await;
        assert_eq!(said.say("a", Instant::now()), Some(5));
        assert_eq!(said.say("c", Instant::now()), Some(0), "b made room");
    }

    #[tokio::test(start_paused = true)]
    async fn heartbeats_are_counted_for_a_minute_and_few_names_are_kept() {
        let (strays, nobody) = (Strays::default(), |_: &GroupId| false);
        assert_eq!(strays.unrecorded(nobody), None);
        for number in 0..1_000 {
            lock(&strays.unrecorded).count(&group(number), Instant::now());
        }
        let told = strays.unrecorded(nobody).unwrap();
        assert_eq!((told.heartbeats, told.groups.len()), (1_000, GROUPS));
        tokio::time::advance(WHILE / 2).await;
        lock(&strays.unrecorded).count(&group(7), Instant::now());
        assert_eq!(strays.unrecorded(nobody).unwrap().heartbeats, 1_001);
        tokio::time::advance(WHILE / 2).await;
        let told = strays.unrecorded(nobody).unwrap();
        assert_eq!((told.heartbeats, told.groups), (1, vec![group(7)]));
        let made = strays.unrecorded(|known| *known == group(7));
        assert_eq!(made, None, "it was made meanwhile");
        tokio::time::advance(WHILE / 2).await;
        assert_eq!(strays.unrecorded(nobody), None);
        for number in 0..100 {
            lock(&strays.unrecorded).count(&group(number), Instant::now());
        }
        let made = strays.unrecorded(|_| true);
        assert_eq!(made, None, "all that are known by name were");
    }

    #[tokio::test(start_paused = true)]
    async fn names_that_somebody_invents_leave_no_group_unsaid() {
        let strays = Strays::default();
        let note = |number| lock(&strays.unrecorded).note(&group(number), Instant::now());
        for number in 0..GROUPS {
            assert_eq!(note(number), Some(Line::Same(0)));
        }
        assert_eq!(
            note(99),
            Some(Line::Others(0)),
            "there is no room, and a line for all"
        );
        assert_eq!(note(98), None);
        assert_eq!(note(0), None);
        tokio::time::advance(WHILE).await;
        assert_eq!(note(99), Some(Line::Same(0)), "the others made room");
    }

    #[test]
    fn what_is_behind_a_refusal_is_told_apart() {
        let (one, two) = (InstanceId::new("one"), InstanceId::new("two"));
        let live = Some(MemberState::Active);
        let told = |state, holder, sender| cause(state, holder, sender).map(|(cause, _)| cause);
        assert_eq!(told(live, Some(&one), Some(&two)), Some("OtherProcess"));
        assert_eq!(told(live, Some(&one), Some(&one)), Some("OtherEpoch"));
        assert_eq!(told(live, None, Some(&two)), Some("OtherEpoch"));
        assert_eq!(told(None, None, None), Some("OtherEpoch"));
        let expired = Some(MemberState::Expired);
        assert_eq!(told(expired, Some(&one), Some(&one)), Some("LeaseOver"));
        let fenced = Some(MemberState::Fenced);
        assert_eq!(told(fenced, Some(&one), Some(&two)), None);
    }
}
