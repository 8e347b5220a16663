//! A coordinator's store on a real Redis, that falls silent when the coordinator dies.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use coordinator_core::names::{GroupId, MemberId, StreamPrefix};
use coordinator_core::record::GroupRecord;
use coordinator_core::time::{Millis, Timestamp};
use coordinator_core::write::Write;
use store::{
    Begun, Commit, CommitError, Coordination, CreateError, GroupLock, GroupStore, MemberProgress,
    Page, PageCursor, Readiness, Renewal, Renewed, Snapshot, Stamp, StoreError,
};
use store_redis::RedisStore;

use super::kill::Switch;

/// The store of a coordinator that may die.
pub struct MortalStore {
    pub redis: Arc<RedisStore>,
    pub switch: Arc<Switch>,
}

/// What a commit is about: the kinds of its writes.
fn about(writes: &[Write]) -> String {
    let kind = |write: &Write| {
        let text = format!("{write:?}");
        let end = text.find(|char: char| !char.is_alphanumeric());
        text[..end.unwrap_or(text.len())].to_owned()
    };
    let kinds: BTreeSet<String> = writes.iter().map(kind).collect();
    let is_of_change = |kind: &&String| {
        kind.starts_with("Migration") || kind.starts_with("Leaving") || kind.contains("ShardCount")
    };
    let of_change: Vec<&str> = kinds
        .iter()
        .filter(is_of_change)
        .map(String::as_str)
        .collect();
    if of_change.is_empty() {
        "members".to_owned()
    } else {
        of_change.join(" ")
    }
}

#[async_trait]
impl GroupStore for MortalStore {
    async fn begin(&self, group: &GroupId, known: Option<&Snapshot>) -> Result<Begun, StoreError> {
        self.switch.call(self.redis.begin(group, known)).await
    }

    async fn commit(&self, lock: GroupLock, commit: Commit<'_>) -> Result<Stamp, CommitError> {
        let name = format!("commit of {}: {}", lock.group.group, about(commit.writes));
        self.switch
            .step(&name, self.redis.commit(lock, commit))
            .await
    }

    async fn release(&self, lock: GroupLock) {
        self.switch.call(self.redis.release(lock)).await;
    }

    async fn renew(
        &self,
        group: &GroupId,
        known: &Snapshot,
        renewals: &[Renewal],
        lease_ttl: Millis,
    ) -> Result<Renewed, StoreError> {
        let renewing = self.redis.renew(group, known, renewals, lease_ttl);
        self.switch.call(renewing).await
    }

    async fn load(
        &self,
        group: &GroupId,
        known: Option<&Snapshot>,
    ) -> Result<Option<Snapshot>, StoreError> {
        self.switch.call(self.redis.load(group, known)).await
    }

    async fn create(&self, lock: &GroupLock, record: &GroupRecord) -> Result<Stamp, CreateError> {
        let creating = self.redis.create(lock, record);
        self.switch.step("create", creating).await
    }

    async fn replace_unreadable(
        &self,
        group: &GroupId,
        record: &GroupRecord,
    ) -> Result<Stamp, CreateError> {
        let replacing = self.redis.replace_unreadable(group, record);
        self.switch.step("replace", replacing).await
    }

    async fn remove(&self, lock: GroupLock, expected: &Stamp) -> Result<(), CommitError> {
        let removing = self.redis.remove(lock, expected);
        self.switch.step("remove", removing).await
    }

    async fn groups(&self, cursor: &PageCursor) -> Result<Page, StoreError> {
        self.switch.call(self.redis.groups(cursor)).await
    }

    async fn groups_of(&self, stream: &StreamPrefix) -> Result<BTreeSet<GroupId>, StoreError> {
        self.switch.call(self.redis.groups_of(stream)).await
    }

    async fn progress(
        &self,
        group: &GroupId,
    ) -> Result<BTreeMap<MemberId, MemberProgress>, StoreError> {
        self.switch.call(self.redis.progress(group)).await
    }

    async fn watch_over(
        &self,
        gap: Millis,
        mark: Option<Timestamp>,
    ) -> Result<Coordination, StoreError> {
        self.switch.call(self.redis.watch_over(gap, mark)).await
    }

    async fn doubt(&self, at: Timestamp) -> Result<(), StoreError> {
        self.switch.call(self.redis.doubt(at)).await
    }

    async fn check_ready(&self) -> Result<Readiness, StoreError> {
        self.switch.call(self.redis.check_ready()).await
    }
}
