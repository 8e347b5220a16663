//! Walks of the directory, page by page: for the names that stand next behind a place, and for a part of the names, where those who ask for parts at the same
//! time share one walk.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use coordinator_core::names::GroupId;
use projection::{EntryId, Namespace};
use store::{GroupStore, Page, PageCursor, StoreError};
use tokio::sync::oneshot;

use super::entry_id::{entry_id, part_of};

/// What is walked.
#[async_trait]
pub(super) trait Directory: Send + Sync {
    /// A page of names.
    async fn page(&self, cursor: &PageCursor) -> Result<Page, StoreError>;
}

#[async_trait]
impl<S: GroupStore + ?Sized> Directory for S {
    async fn page(&self, cursor: &PageCursor) -> Result<Page, StoreError> {
        self.groups(cursor).await
    }
}

/// Shows all names, some of them twice.
pub(super) async fn walk(
    directory: &(impl Directory + ?Sized),
    mut show: impl FnMut(GroupId) + Send,
) -> Result<(), StoreError> {
    let mut cursor = PageCursor::default();
    loop {
        let page = directory.page(&cursor).await?;
        page.groups.into_iter().for_each(&mut show);
        match page.next {
            Some(next) => cursor = next,
            None => return Ok(()),
        }
    }
}

/// The names that stand next behind a place, in the order of what indexes call them: at most so many are kept at any time.
pub(super) async fn names_behind(
    store: &dyn GroupStore,
    after: Option<&EntryId>,
    count: usize,
) -> Result<BTreeMap<EntryId, GroupId>, StoreError> {
    let mut names = BTreeMap::new();
    let keep = |group| {
        let id = entry_id(&group);
        if after.is_none_or(|after| id > *after) {
            names.insert(id, group);
            if names.len() > count {
                names.pop_last();
            }
        }
    };
    walk(store, keep).await?;
    Ok(names)
}

/// A walk for all who ask for the names of a part while another walk is under way.
pub(super) struct SharedWalk<D: ?Sized = dyn GroupStore> {
    directory: Arc<D>,
    parts: u16,
    asking: Mutex<Vec<Asking>>,
    walking: tokio::sync::Mutex<()>,
}

struct Asking {
    part: Namespace,
    names: oneshot::Sender<Result<BTreeSet<GroupId>, StoreError>>,
}

impl<D: Directory + ?Sized> SharedWalk<D> {
    pub(super) fn new(directory: Arc<D>, parts: u16) -> Self {
        Self {
            directory,
            parts,
            asking: Mutex::default(),
            walking: tokio::sync::Mutex::default(),
        }
    }

    /// The names of a part. All are read after this was asked: a rebuild relies on it that no group is missing that was made before.
    pub(super) async fn names_of(&self, part: &Namespace) -> Result<BTreeSet<GroupId>, StoreError> {
        let (sender, mut names) = oneshot::channel();
        self.asking().push(Asking {
            part: part.clone(),
            names: sender,
        });
        let _walking = self.walking.lock().await;
        if let Ok(names) = names.try_recv() {
            return names;
        }
        // Nobody has walked for this one to the end. Whoever asks during the walk waits for the next one; if this one is given up, all do.
        let wanted: Vec<Namespace> = self.asking().iter().map(|it| it.part.clone()).collect();
        let asked = wanted.len();
        let mut of_part: HashMap<Namespace, BTreeSet<GroupId>> = wanted
            .into_iter()
            .map(|part| (part, BTreeSet::new()))
            .collect();
        let keep = |group| {
            if let Some(names) = of_part.get_mut(&part_of(&group, self.parts)) {
                names.insert(group);
            }
        };
        let walked = walk(&*self.directory, keep).await;
        let told: Vec<Asking> = self.asking().drain(..asked).collect();
        for asking in told {
            let names = || of_part.get(&asking.part).cloned().unwrap_or_default();
            // Whoever has gone meanwhile needs them no more.
            let _ = asking.names.send(walked.clone().map(|()| names()));
        }
        walked.map(|()| of_part.remove(part).unwrap_or_default())
    }

    fn asking(&self) -> MutexGuard<'_, Vec<Asking>> {
        self.asking.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::atomic::{AtomicUsize, Ordering};

    use coordinator_core::names::StreamPrefix;
    use futures_util::FutureExt;
    use futures_util::future::join_all;
    use tokio::sync::Semaphore;

    use super::*;
    use crate::engine::entry_id::part;

    const PARTS: u16 = 4;

    /// Names in one page, which is given when the test lets it, or refused.
    struct Gated {
        gate: Semaphore,
        walks: AtomicUsize,
        refused: AtomicUsize,
    }

    #[async_trait]
    impl Directory for Gated {
        async fn page(&self, _: &PageCursor) -> Result<Page, StoreError> {
            self.walks.fetch_add(1, Ordering::SeqCst);
            self.gate.acquire().await.unwrap().forget();
            let refused = self.refused.load(Ordering::SeqCst);
            if refused > 0 {
                self.refused.store(refused - 1, Ordering::SeqCst);
                let reason = "gone".to_owned();
                return Err(StoreError::Unavailable {
                    reason,
                    source: None,
                });
            }
            Ok(Page {
                groups: names(),
                next: None,
            })
        }
    }

    fn names() -> Vec<GroupId> {
        let name = |number| StreamPrefix::parse(&format!("orders-{number}"));
        let names = (0..100).map(|number| name(number).unwrap().own_group());
        names.collect()
    }

    fn of_part(number: u16) -> BTreeSet<GroupId> {
        let in_part = |group: &GroupId| part_of(group, PARTS) == part(number);
        names().into_iter().filter(in_part).collect()
    }

    fn gated(refused: usize) -> SharedWalk<Gated> {
        let directory = Gated {
            gate: Semaphore::new(0),
            walks: AtomicUsize::new(0),
            refused: AtomicUsize::new(refused),
        };
        SharedWalk::new(Arc::new(directory), PARTS)
    }

    fn walks(walk: &SharedWalk<Gated>) -> usize {
        walk.directory.walks.load(Ordering::SeqCst)
    }

    /// The walk under way may have passed what those who come later rely on: they share the next one.
    #[tokio::test]
    async fn whoever_asks_during_a_walk_shares_the_next_one() {
        let walk = gated(0);
        let parts: Vec<_> = (0..PARTS).chain([1]).map(part).collect();
        let all = join_all(parts.iter().map(|part| walk.names_of(part)));
        let mut all = Box::pin(all);
        assert!((&mut all).now_or_never().is_none(), "the gate is closed");
        assert_eq!(walks(&walk), 1);
        walk.directory.gate.add_permits(2);
        let all: Vec<_> = all.await.into_iter().map(Result::unwrap).collect();
        let wanted: Vec<_> = (0..PARTS).chain([1]).map(of_part).collect();
        assert_eq!(all, wanted);
        assert_eq!(walks(&walk), 2);
    }

    #[tokio::test]
    async fn a_walk_that_fails_fails_for_all_who_shared_it_and_for_no_other() {
        let walk = gated(2);
        let parts: Vec<_> = (0..PARTS).map(part).collect();
        let all = join_all(parts.iter().map(|part| walk.names_of(part)));
        let mut all = Box::pin(all);
        assert!((&mut all).now_or_never().is_none(), "the gate is closed");
        walk.directory.gate.add_permits(2);
        let all = all.await;
        assert!(all.iter().all(Result::is_err), "{all:?}");
        assert_eq!(walks(&walk), 2);
        walk.directory.gate.add_permits(1);
        assert_eq!(walk.names_of(&part(0)).await.unwrap(), of_part(0));
    }

    #[tokio::test]
    async fn a_walk_that_is_given_up_is_walked_again_by_the_next() {
        let walk = gated(0);
        let (one, two, three) = (part(1), part(2), part(3));
        let mut first = Box::pin(walk.names_of(&one));
        assert!((&mut first).now_or_never().is_none());
        let (mut second, mut third) = (
            Box::pin(walk.names_of(&two)),
            Box::pin(walk.names_of(&three)),
        );
        assert!((&mut second).now_or_never().is_none());
        assert!((&mut third).now_or_never().is_none());
        drop(first);
        // The second walks now, for all others, and is given up in the middle of it.
        assert!((&mut second).now_or_never().is_none());
        assert_eq!(walks(&walk), 2);
        drop(second);
        let four = part(0);
        let mut fourth = Box::pin(walk.names_of(&four));
        assert!((&mut fourth).now_or_never().is_none());
        assert!((&mut third).now_or_never().is_none());
        walk.directory.gate.add_permits(1);
        assert_eq!(third.await.unwrap(), of_part(3));
        assert_eq!(fourth.await.unwrap(), of_part(0));
        assert_eq!(walks(&walk), 3, "the third walks for the fourth");
    }
}
