//! The store's traits on Redis; what each step does stands in the files beside this one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use coordinator_core::names::{GroupId, MemberId, StreamPrefix};
use coordinator_core::record::GroupRecord;
use coordinator_core::time::{Millis, Timestamp};
use store::{
    AuditSink, Begun, ChangeFeed, ChangeStream, Commit, CommitError, Coordination, CreateError,
    Eviction, GroupLock, GroupStore, MemberProgress, Page, PageCursor, Readiness, Renewal, Renewed,
    Snapshot, Stamp, StoreError,
};

use super::RedisStore;

#[async_trait]
impl GroupStore for RedisStore {
    async fn begin(&self, group: &GroupId, known: Option<&Snapshot>) -> Result<Begun, StoreError> {
        self.begin_group(group, known).await
    }

    async fn commit(&self, lock: GroupLock, commit: Commit<'_>) -> Result<Stamp, CommitError> {
        self.commit_group(&lock, &commit).await
    }

    async fn release(&self, lock: GroupLock) {
        self.release_right(&lock).await;
    }

    async fn renew(
        &self,
        group: &GroupId,
        known: &Snapshot,
        renewals: &[Renewal],
        lease_ttl: Millis,
    ) -> Result<Renewed, StoreError> {
        self.renew_leases(group, known, renewals, lease_ttl).await
    }

    async fn load(
        &self,
        group: &GroupId,
        known: Option<&Snapshot>,
    ) -> Result<Option<Snapshot>, StoreError> {
        self.load_group(group, known).await
    }

    async fn create(&self, lock: &GroupLock, record: &GroupRecord) -> Result<Stamp, CreateError> {
        self.create_group(lock, record).await
    }

    async fn replace_unreadable(
        &self,
        group: &GroupId,
        record: &GroupRecord,
    ) -> Result<Stamp, CreateError> {
        self.replace_group(group, record).await
    }

    async fn remove(&self, lock: GroupLock, expected: &Stamp) -> Result<(), CommitError> {
        self.remove_group(&lock, expected).await
    }

    async fn groups(&self, cursor: &PageCursor) -> Result<Page, StoreError> {
        self.list_groups(cursor).await
    }

    async fn groups_of(&self, stream: &StreamPrefix) -> Result<BTreeSet<GroupId>, StoreError> {
        self.list_groups_of(stream).await
    }

    async fn progress(
        &self,
        group: &GroupId,
    ) -> Result<BTreeMap<MemberId, MemberProgress>, StoreError> {
        self.read_progress(group).await
    }

    async fn watch_over(
        &self,
        gap: Millis,
        mark: Option<Timestamp>,
    ) -> Result<Coordination, StoreError> {
        self.watch(gap, mark).await
    }

    async fn doubt(&self, at: Timestamp) -> Result<(), StoreError> {
        self.remember_doubt(at).await
    }

    async fn check_ready(&self) -> Result<Readiness, StoreError> {
        self.ready().await
    }

    fn eviction(&self) -> Option<Eviction> {
        Some(self.redis.eviction())
    }

    fn audit(self: Arc<Self>) -> Option<Arc<dyn AuditSink>> {
        Some(self)
    }
}

#[async_trait]
impl ChangeFeed for RedisStore {
    async fn subscribe(&self, group: &GroupId) -> Result<ChangeStream, StoreError> {
        let channel = self.keys.of(group).changed;
        self.feed.subscribe(group, channel).await
    }
}
