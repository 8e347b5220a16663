//! A memory store whose watch over the coordinators goes as the test says: the periodic work begins with it, and with nothing else of the store. It counts how
//! often its directory is read, which may name groups that are gone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use coordinator_core::names::{GroupId, MemberId, StreamPrefix};
use coordinator_core::record::GroupRecord;
use coordinator_core::time::{Millis, Timestamp};
use store::{
    Begun, Commit, CommitError, Coordination, CreateError, Eviction, GroupLock, GroupStore,
    MemberProgress, MemoryStore, Page, PageCursor, Readiness, Renewal, Renewed, Snapshot, Stamp,
    StoreError,
};
use tokio::sync::watch;

/// What becomes of a question for the watch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mood {
    Works,
    /// It waits for another mood.
    Waits,
    Panics,
}

pub struct MoodyStore {
    pub mood: watch::Sender<Mood>,
    /// What it says of itself as a Redis would.
    pub eviction: Option<Eviction>,
    pub store: Arc<MemoryStore>,
    /// How many pages of the directory were read.
    pub pages: AtomicUsize,
    /// What the directory names besides, on its first page.
    pub ghosts: Mutex<Vec<GroupId>>,
}

impl MoodyStore {
    pub fn new(eviction: Option<Eviction>) -> Arc<Self> {
        Arc::new(Self {
            mood: watch::Sender::new(Mood::Works),
            eviction,
            store: Arc::new(MemoryStore::new()),
            pages: AtomicUsize::default(),
            ghosts: Mutex::default(),
        })
    }
}

#[async_trait]
impl GroupStore for MoodyStore {
    async fn begin(&self, group: &GroupId, known: Option<&Snapshot>) -> Result<Begun, StoreError> {
        self.store.begin(group, known).await
    }

    async fn commit(&self, lock: GroupLock, commit: Commit<'_>) -> Result<Stamp, CommitError> {
        self.store.commit(lock, commit).await
    }

    async fn release(&self, lock: GroupLock) {
        self.store.release(lock).await;
    }

    async fn renew(
        &self,
        group: &GroupId,
        known: &Snapshot,
        renewals: &[Renewal],
        lease_ttl: Millis,
    ) -> Result<Renewed, StoreError> {
        self.store.renew(group, known, renewals, lease_ttl).await
    }

    async fn load(
        &self,
        group: &GroupId,
        known: Option<&Snapshot>,
    ) -> Result<Option<Snapshot>, StoreError> {
        self.store.load(group, known).await
    }

    async fn create(&self, lock: &GroupLock, record: &GroupRecord) -> Result<Stamp, CreateError> {
        self.store.create(lock, record).await
    }

    async fn replace_unreadable(
        &self,
        group: &GroupId,
        record: &GroupRecord,
    ) -> Result<Stamp, CreateError> {
        self.store.replace_unreadable(group, record).await
    }

    async fn remove(&self, lock: GroupLock, expected: &Stamp) -> Result<(), CommitError> {
        self.store.remove(lock, expected).await
    }

    async fn groups(&self, cursor: &PageCursor) -> Result<Page, StoreError> {
        self.pages.fetch_add(1, Ordering::SeqCst);
        // Others may ask meanwhile, as with a store that is elsewhere.
        tokio::task::yield_now().await;
        let mut page = self.store.groups(cursor).await?;
        if *cursor == PageCursor::default() {
            page.groups.extend(self.ghosts.lock().unwrap().clone());
        }
        Ok(page)
    }

    async fn groups_of(&self, stream: &StreamPrefix) -> Result<BTreeSet<GroupId>, StoreError> {
        self.store.groups_of(stream).await
    }

    async fn progress(
        &self,
        group: &GroupId,
    ) -> Result<BTreeMap<MemberId, MemberProgress>, StoreError> {
        self.store.progress(group).await
    }

    async fn watch_over(
        &self,
        gap: Millis,
        mark: Option<Timestamp>,
    ) -> Result<Coordination, StoreError> {
        let mut moods = self.mood.subscribe();
        let mood = *moods.wait_for(|mood| *mood != Mood::Waits).await.unwrap();
        assert!(mood == Mood::Works, "the test says so");
        self.store.watch_over(gap, mark).await
    }

    async fn doubt(&self, at: Timestamp) -> Result<(), StoreError> {
        self.store.doubt(at).await
    }

    async fn check_ready(&self) -> Result<Readiness, StoreError> {
        self.store.check_ready().await
    }

    fn eviction(&self) -> Option<Eviction> {
        self.eviction.clone()
    }
}
