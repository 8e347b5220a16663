//! What indexes are yet to be told, beside the path of whoever waits for an answer: the latest of each group, a few at a time. It decides nothing, and what it
//! forgets at the end of the process is found by the next rebuild.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use coordinator_core::names::GroupId;
use coordinator_core::time::Timestamp;
use futures_util::stream::{self, StreamExt};
use tokio::sync::Notify;

/// How many are told at once, at most.
const AT_ONCE: usize = 16;

/// Something that is to be told, in the version that the index keeps of it.
pub(super) trait Versioned {
    /// When it was found out.
    fn version(&self) -> Timestamp;
}

pub(super) struct Outbox<T> {
    inner: Mutex<Inner<T>>,
    put: Notify,
    told: Notify,
}

struct Inner<T> {
    waiting: BTreeMap<GroupId, T>,
    /// How much was ever to be told.
    put: u64,
    /// How much of it is told, the first of it.
    told: u64,
}

impl<T> Default for Outbox<T> {
    fn default() -> Self {
        Self {
            inner: Mutex::new(Inner {
                waiting: BTreeMap::new(),
                put: 0,
                told: 0,
            }),
            put: Notify::new(),
            told: Notify::new(),
        }
    }
}

impl<T: Versioned> Outbox<T> {
    /// Something is to be told of a group, in the place of what was to be told of it before. What is older than that is dropped: two who find something out
    /// need not come here in the same order.
    pub(super) fn put(&self, group: GroupId, telling: T) {
        let mut inner = self.lock();
        let waiting = inner.waiting.get(&group);
        if waiting.is_some_and(|known| known.version() > telling.version()) {
            return;
        }
        inner.waiting.insert(group, telling);
        inner.put += 1;
        drop(inner);
        self.put.notify_one();
    }

    /// Tells what there is, as soon as there is something, for ever. To be called by one task.
    pub(super) async fn tell<F: Future<Output = ()>>(&self, tell: impl Fn(GroupId, T) -> F) {
        loop {
            let (waiting, put) = {
                let mut inner = self.lock();
                (std::mem::take(&mut inner.waiting), inner.put)
            };
            if waiting.is_empty() {
                self.put.notified().await;
                continue;
            }
            let telling = stream::iter(waiting).map(|(group, telling)| tell(group, telling));
            telling.buffer_unordered(AT_ONCE).collect::<()>().await;
            self.lock().told = put;
            self.told.notify_waiters();
        }
    }

    /// Waits until everything is told that there is to be told by now, whatever comes meanwhile.
    pub(super) async fn told(&self) {
        let put = self.lock().put;
        loop {
            let told = self.told.notified();
            if self.lock().told >= put {
                return;
            }
            told.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, Inner<T>> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use coordinator_core::names::StreamPrefix;

    use super::*;

    /// A number, and its version.
    impl Versioned for (u32, u64) {
        fn version(&self) -> Timestamp {
            Timestamp::from_ms(self.1)
        }
    }

    #[tokio::test]
    async fn the_latest_of_each_group_is_told_and_it_can_be_waited_for() {
        let group = |name| StreamPrefix::parse(name).unwrap().own_group();
        let (outbox, told) = (
            Arc::new(Outbox::default()),
            Arc::new(Mutex::new(Vec::new())),
        );
        // The last of them is found out first, and comes late.
        for (name, number, version) in [("a", 1, 5), ("b", 2, 5), ("a", 3, 6), ("a", 9, 4)] {
            outbox.put(group(name), (number, version));
        }
        let (telling, list) = (Arc::clone(&outbox), Arc::clone(&told));
        let teller = tokio::spawn(async move {
            let tell = |group: GroupId, (number, _): (u32, u64)| {
                let list = Arc::clone(&list);
                async move {
                    tokio::task::yield_now().await;
                    list.lock().unwrap().push((group, number));
                }
            };
            telling.tell(tell).await;
        });
        outbox.told().await;
        let mut all = std::mem::take(&mut *told.lock().unwrap());
        all.sort();
        assert_eq!(all, [(group("a"), 3), (group("b"), 2)]);
        outbox.put(group("a"), (4, 1));
        outbox.told().await;
        assert_eq!(*told.lock().unwrap(), [(group("a"), 4)]);
        outbox.told().await;
        teller.abort();
    }

    /// Where something changes all the time it is never quiet; who asks waits only for what was there before.
    #[tokio::test]
    async fn what_comes_later_is_not_waited_for() {
        let group = |number: u32| {
            let name = format!("stream-{number}");
            StreamPrefix::parse(&name).unwrap().own_group()
        };
        let outbox = Arc::new(Outbox::default());
        outbox.put(group(0), (0, 1));
        let telling = Arc::clone(&outbox);
        let teller = tokio::spawn(async move {
            let tell = |_, (number, _): (u32, u64)| {
                // Whatever is told, there is more to be told.
                telling.put(group(number + 1), (number + 1, 1));
                tokio::task::yield_now()
            };
            telling.tell(tell).await;
        });
        let told = tokio::time::timeout(std::time::Duration::from_secs(10), outbox.told());
        told.await.unwrap();
        teller.abort();
    }
}
