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
    emptied: Notify,
}

struct Inner<T> {
    waiting: BTreeMap<GroupId, T>,
    /// Whether some are being told.
    is_telling: bool,
}

impl<T> Default for Outbox<T> {
    fn default() -> Self {
        Self {
            inner: Mutex::new(Inner {
                waiting: BTreeMap::new(),
                is_telling: false,
            }),
            put: Notify::new(),
            emptied: Notify::new(),
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
        drop(inner);
        self.put.notify_one();
    }

    /// Tells what there is, as soon as there is something, for ever. To be called by one task.
    pub(super) async fn tell<F: Future<Output = ()>>(&self, tell: impl Fn(GroupId, T) -> F) {
        loop {
            let waiting = {
                let mut inner = self.lock();
                inner.is_telling = !inner.waiting.is_empty();
                std::mem::take(&mut inner.waiting)
            };
            if waiting.is_empty() {
                self.emptied.notify_waiters();
                self.put.notified().await;
                continue;
            }
            let told = stream::iter(waiting).map(|(group, telling)| tell(group, telling));
            told.buffer_unordered(AT_ONCE).collect::<()>().await;
        }
    }

    /// Waits until everything is told that there was to be told.
    pub(super) async fn emptied(&self) {
        loop {
            let emptied = self.emptied.notified();
            {
                let inner = self.lock();
                if inner.waiting.is_empty() && !inner.is_telling {
                    return;
                }
            }
            emptied.await;
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
        outbox.emptied().await;
        let mut all = std::mem::take(&mut *told.lock().unwrap());
        all.sort();
        assert_eq!(all, [(group("a"), 3), (group("b"), 2)]);
        outbox.put(group("a"), (4, 1));
        outbox.emptied().await;
        assert_eq!(*told.lock().unwrap(), [(group("a"), 4)]);
        outbox.emptied().await;
        teller.abort();
    }
}
