//! Whose turn it is: groups that are due are visited a few at a time, and in turn by their streams, so that one stream with many of them delays no other. What
//! a visit does is not known here.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use coordinator_core::names::{GroupId, StreamPrefix};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// How many groups are visited at once.
const AT_ONCE: usize = 64;

/// The visits that are wanted and under way.
pub(in crate::engine) struct Visits {
    waiting: Mutex<Waiting>,
    wanted: Notify,
    room: Arc<Semaphore>,
}

#[derive(Default)]
struct Waiting {
    /// Streams with groups that wait, in the order of their turns.
    turns: VecDeque<StreamPrefix>,
    of_stream: HashMap<StreamPrefix, VecDeque<GroupId>>,
    /// Groups that wait or are being visited.
    known: HashSet<GroupId>,
}

/// A visit under way, until it is dropped.
pub(in crate::engine) struct Visit {
    pub(in crate::engine) group: GroupId,
    visits: Arc<Visits>,
    _room: OwnedSemaphorePermit,
}

impl Visits {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            waiting: Mutex::default(),
            wanted: Notify::new(),
            room: Arc::new(Semaphore::new(AT_ONCE)),
        })
    }

    /// A group wants to be visited. Once is enough.
    pub(super) fn want(&self, group: GroupId) {
        self.lock().push(group);
        self.wanted.notify_one();
    }

    /// The next visit, as soon as there is room for it. To be waited for by one task.
    pub(super) async fn next(self: &Arc<Self>) -> Visit {
        loop {
            let wanted = self.wanted.notified();
            if !self.lock().turns.is_empty() {
                let room = Arc::clone(&self.room).acquire_owned();
                let room = room.await.expect("the room is never closed");
                if let Some(group) = self.lock().pop() {
                    return Visit {
                        group,
                        visits: Arc::clone(self),
                        _room: room,
                    };
                }
            }
            wanted.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn push(&mut self, group: GroupId) {
        if !self.known.insert(group.clone()) {
            return;
        }
        let stream = group.stream.clone();
        let of_stream = self.of_stream.entry(stream.clone()).or_default();
        if of_stream.is_empty() {
            self.turns.push_back(stream);
        }
        of_stream.push_back(group);
    }

    fn pop(&mut self) -> Option<GroupId> {
        let stream = self.turns.pop_front()?;
        let of_stream = self.of_stream.get_mut(&stream)?;
        let group = of_stream.pop_front();
        if of_stream.is_empty() {
            self.of_stream.remove(&stream);
        } else {
            self.turns.push_back(stream);
        }
        group
    }
}

impl Drop for Visit {
    fn drop(&mut self) {
        self.visits.lock().known.remove(&self.group);
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use futures_util::FutureExt;

    use super::*;

    fn group(stream: &str, number: usize) -> GroupId {
        GroupId {
            stream: StreamPrefix::parse(stream).unwrap(),
            group: coordinator_core::names::ConsumerGroup::parse(&number.to_string()).unwrap(),
        }
    }

    #[tokio::test]
    async fn m5_a_stream_with_many_due_groups_delays_no_other() {
        let visits = Visits::new();
        for number in 0..10_000 {
            visits.want(group("crowd", number));
        }
        visits.want(group("orders", 0));
        visits.want(group("bills", 0));
        let mut first = Vec::new();
        for _ in 0..4 {
            first.push(visits.next().await.group.clone());
        }
        let wanted = [
            group("crowd", 0),
            group("orders", 0),
            group("bills", 0),
            group("crowd", 1),
        ];
        assert_eq!(first, wanted);
    }

    #[tokio::test]
    async fn a_group_is_visited_once_at_a_time_and_few_are_at_once() {
        let visits = Visits::new();
        for _ in 0..2 {
            for number in 0..=AT_ONCE {
                visits.want(group("orders", number));
            }
        }
        let mut under_way = Vec::new();
        for _ in 0..AT_ONCE {
            under_way.push(visits.next().await);
        }
        assert!(visits.next().now_or_never().is_none(), "there is no room");
        visits.want(group("orders", 0));
        under_way.clear();
        assert_eq!(visits.next().await.group, group("orders", AT_ONCE));
        assert!(visits.next().now_or_never().is_none(), "nobody waits");
        visits.want(group("orders", 0));
        assert_eq!(visits.next().await.group, group("orders", 0));
    }
}
