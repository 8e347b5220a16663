//! What most cases start from: a store with one group in it, and the usual steps.

use std::sync::Arc;
use std::time::Duration;

use coordinator_core::Group;
use coordinator_core::names::GroupId;
use coordinator_core::record::GroupRecord;
use coordinator_core::settings::Settings;
use coordinator_core::time::{Millis, Timestamp};
use coordinator_core::write::Write;

use super::samples::{group_id, member_id, plain_record};
use super::world::{TestedStore, World};
use crate::{Begun, Commit, CommitError, GroupLock, LockLimits, Renewal, Renewed, Snapshot, Stamp};

/// One lease, in all cases.
pub(super) const LEASE: Millis = Millis::new(15_000);

/// Limits under which nothing runs out during a case and a begin that must fail fails soon.
pub(super) const IMPATIENT: LockLimits = LockLimits {
    ttl: Duration::from_secs(60),
    wait: Duration::from_millis(300),
};

/// Limits under which rights run out during a case.
pub(super) const SHORT_RIGHT: LockLimits = LockLimits {
    ttl: Duration::from_millis(250),
    wait: Duration::from_secs(10),
};

/// A store and the group that a case is about.
pub struct Scene {
    /// The store.
    pub store: Arc<dyn TestedStore>,
    /// The group.
    pub id: GroupId,
}

impl Scene {
    /// A store under the usual limits, without the group.
    pub async fn empty(world: &dyn World) -> Self {
        Self::under(world, LockLimits::default()).await
    }

    /// A store under other limits, without the group.
    pub async fn under(world: &dyn World, limits: LockLimits) -> Self {
        Self {
            store: world.open(limits).await,
            id: group_id("orders", "billing"),
        }
    }

    /// A store with the group and the members `a`, `b` and `c`, each with a shard and a lease of one lease from now on.
    pub async fn with_members(world: &dyn World) -> (Self, Snapshot) {
        let scene = Self::empty(world).await;
        let deadline = scene.now().await.plus(LEASE);
        let snapshot = scene.create_members(Some(deadline)).await;
        (scene, snapshot)
    }

    /// Creates the group with the members `a`, `b` and `c`.
    pub async fn create_members(&self, deadline: Option<Timestamp>) -> Snapshot {
        self.create(&plain_record(&self.id, &["a", "b", "c"], deadline))
            .await
    }

    /// Creates the group and gives the right back.
    pub async fn create(&self, record: &GroupRecord) -> Snapshot {
        let begun = self.begin().await;
        self.store.create(&begun.lock, record).await.unwrap();
        self.store.release(begun.lock).await;
        self.load().await.unwrap()
    }

    /// Removes the group.
    pub async fn remove(&self) {
        let begun = self.begin().await;
        let stamp = begun.snapshot.unwrap().stamp;
        self.store.remove(begun.lock, &stamp).await.unwrap();
    }

    /// Takes the right to the group.
    pub async fn begin(&self) -> Begun {
        self.store.begin(&self.id, None).await.unwrap()
    }

    /// Reads the group.
    pub async fn load(&self) -> Option<Snapshot> {
        self.store.load(&self.id, None).await.unwrap()
    }

    /// The store's time.
    pub async fn now(&self) -> Timestamp {
        self.store.watch_over(LEASE, None).await.unwrap().now
    }

    /// Commits writes under a right that is held already.
    pub async fn commit(
        &self,
        lock: GroupLock,
        expected: &Snapshot,
        writes: &[Write],
    ) -> Result<Stamp, CommitError> {
        let commit = Commit {
            expected,
            record: &applied(expected, writes),
            writes,
            progress: &[],
        };
        self.store.commit(lock, commit).await
    }

    /// Takes the right, commits writes and returns what is there then.
    pub async fn change(&self, writes: &[Write]) -> Snapshot {
        let begun = self.begin().await;
        let expected = begun.snapshot.unwrap();
        self.commit(begun.lock, &expected, writes).await.unwrap();
        self.load().await.unwrap()
    }

    /// Renews leases.
    pub async fn renew(&self, known: &Snapshot, names: &[&str], ttl: Millis) -> Renewed {
        let renewals: Vec<Renewal> = names
            .iter()
            .map(|name| Renewal {
                member: member_id(name),
                progress: None,
            })
            .collect();
        self.store
            .renew(&self.id, known, &renewals, ttl)
            .await
            .unwrap()
    }

    /// The deadline of a member's lease, as a reader sees it.
    pub async fn lease(&self, name: &str) -> Option<Timestamp> {
        lease_in(&self.load().await.unwrap(), name)
    }
}

/// The deadline of a member's lease in a snapshot.
pub(super) fn lease_in(snapshot: &Snapshot, name: &str) -> Option<Timestamp> {
    snapshot.record.members[&member_id(name)].lease_deadline
}

/// The record with writes applied.
pub(super) fn applied(snapshot: &Snapshot, writes: &[Write]) -> GroupRecord {
    let record = GroupRecord::clone(&snapshot.record);
    let mut group = Group::restore(record, Settings::default()).unwrap();
    group.apply(writes);
    group.into_record()
}

/// Renews successfully and returns the deadline.
pub(super) fn renewed_until(renewed: &Renewed) -> Timestamp {
    let Renewed::Ok { deadline, .. } = renewed else {
        panic!("it is renewed: {renewed:?}");
    };
    *deadline
}
