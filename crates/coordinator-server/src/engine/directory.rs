//! Walks of the directory, page by page: for the names that stand next behind a place, and for a part of the names, where those who ask for parts at the same
//! time share one walk.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use coordinator_core::names::GroupId;
use projection::{EntryId, Namespace};
use store::{GroupStore, PageCursor, StoreError};
use tokio::sync::oneshot;

use super::entry_id::{entry_id, part_of};

/// Shows all names, some of them twice.
pub(super) async fn walk(
    store: &dyn GroupStore,
    mut show: impl FnMut(GroupId) + Send,
) -> Result<(), StoreError> {
    let mut cursor = PageCursor::default();
    loop {
        let page = store.groups(&cursor).await?;
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
pub(super) struct SharedWalk {
    store: Arc<dyn GroupStore>,
    parts: u16,
    asking: Mutex<Vec<Asking>>,
    walking: tokio::sync::Mutex<()>,
}

struct Asking {
    part: Namespace,
    names: oneshot::Sender<BTreeSet<GroupId>>,
}

impl SharedWalk {
    pub(super) fn new(store: Arc<dyn GroupStore>, parts: u16) -> Self {
        Self {
            store,
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
            return Ok(names);
        }
        // Nobody has walked for this one, or the walk failed.
        let asking = std::mem::take(&mut *self.asking());
        let wanted = asking.iter().map(|asking| asking.part.clone());
        let wanted = wanted.chain([part.clone()]);
        let mut of_part: HashMap<Namespace, BTreeSet<GroupId>> =
            wanted.map(|part| (part, BTreeSet::new())).collect();
        let keep = |group| {
            if let Some(names) = of_part.get_mut(&part_of(&group, self.parts)) {
                names.insert(group);
            }
        };
        walk(&*self.store, keep).await?;
        for asking in asking {
            let names = of_part.get(&asking.part).cloned().unwrap_or_default();
            // Whoever has gone meanwhile needs them no more.
            let _ = asking.names.send(names);
        }
        Ok(of_part.remove(part).unwrap_or_default())
    }

    fn asking(&self) -> MutexGuard<'_, Vec<Asking>> {
        self.asking.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
