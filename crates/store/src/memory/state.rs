//! What a memory store keeps, and its changes. Every method is one atomic step of the store; none waits.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use coordinator_core::names::{GroupId, MemberId};
use coordinator_core::numbers::StoreRevision;
use coordinator_core::record::GroupRecord;
use coordinator_core::time::{Millis, Timestamp};

use super::audit::Audit;
use super::watch::Watch;
use crate::effects::Effects;
use crate::{
    Commit, CommitError, CreateError, Etag, GroupLock, MemberProgress, Renewal, Renewed, Snapshot,
    Stamp,
};

/// Everything a memory store keeps.
#[derive(Clone, Debug, Default)]
pub(super) struct State {
    pub(super) groups: BTreeMap<GroupId, Stored>,
    pub(super) directory: BTreeSet<GroupId>,
    pub(super) watch: Option<Watch>,
    pub(super) audit: Audit,
    locks: BTreeMap<GroupId, Held>,
    /// Rises when writes are lost.
    pub(super) history: u64,
}

/// One group.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    record: Arc<GroupRecord>,
    stamp: Stamp,
    leases: BTreeMap<MemberId, Timestamp>,
    pub(super) progress: BTreeMap<MemberId, MemberProgress>,
    /// The history in which the record was written.
    history: u64,
}

/// The right to change a group, as somebody has it.
#[derive(Clone, Debug)]
struct Held {
    token: Etag,
    until: Timestamp,
}

impl Stored {
    fn snapshot(&self, known: Option<&Snapshot>, now: Timestamp, history: u64) -> Snapshot {
        let known = known.filter(|known| known.stamp == self.stamp);
        let base = known.map_or(&self.record, |known| &known.record);
        let stamp = self.stamp.clone();
        Snapshot::assemble(base, &self.leases, stamp, now, self.history == history)
    }

    fn apply(&mut self, effects: &Effects<'_>) {
        for (member, lease) in &effects.leases {
            let current = self.leases.get(*member).copied();
            let renewed = current.filter(|_| current != lease.seen);
            let deadline = renewed.map_or(lease.deadline, |renewed| renewed.max(lease.deadline));
            self.leases.insert((*member).clone(), deadline);
        }
        for member in &effects.dropped_leases {
            self.leases.remove(*member);
        }
        for member in &effects.dropped_progress {
            self.progress.remove(*member);
        }
        for (member, progress) in &effects.progress {
            self.progress.insert((*member).clone(), (*progress).clone());
        }
    }
}

impl State {
    /// Takes the right, unless somebody has it.
    pub(super) fn try_lock(
        &mut self,
        group: &GroupId,
        now: Timestamp,
        ttl: Millis,
    ) -> Option<GroupLock> {
        if self.locks.get(group).is_some_and(|held| now < held.until) {
            return None;
        }
        let token = Etag::fresh();
        let held = Held {
            token: token.clone(),
            until: now.plus(ttl),
        };
        self.locks.insert(group.clone(), held);
        Some(GroupLock {
            group: group.clone(),
            token,
        })
    }

    /// Gives the right back, if it is still this one.
    pub(super) fn unlock(&mut self, lock: &GroupLock) {
        let is_it = |held: &Held| held.token == lock.token;
        if self.locks.get(&lock.group).is_some_and(is_it) {
            self.locks.remove(&lock.group);
        }
    }

    fn is_locked_by(&self, lock: &GroupLock, now: Timestamp) -> bool {
        let held = self.locks.get(&lock.group);
        held.is_some_and(|held| held.token == lock.token && now < held.until)
    }

    /// The group as it is.
    pub(super) fn read(
        &self,
        group: &GroupId,
        known: Option<&Snapshot>,
        now: Timestamp,
    ) -> Option<Snapshot> {
        let stored = self.groups.get(group)?;
        Some(stored.snapshot(known, now, self.history))
    }

    /// The group, if it is still the expected version. Rule E1.
    fn find(&mut self, group: &GroupId, expected: &Stamp) -> Result<&mut Stored, CommitError> {
        let stored = self.groups.get_mut(group);
        let found = stored.as_ref().map(|stored| stored.stamp.revision);
        stored
            .filter(|stored| stored.stamp == *expected)
            .ok_or(CommitError::Conflict {
                expected: expected.revision,
                found,
            })
    }

    pub(super) fn commit(
        &mut self,
        lock: &GroupLock,
        commit: &Commit<'_>,
        now: Timestamp,
    ) -> Result<Stamp, CommitError> {
        if !self.is_locked_by(lock, now) {
            return Err(CommitError::LockLost);
        }
        let effects = Effects::of(commit);
        let history = self.history;
        let stored = self.find(&lock.group, &commit.expected.stamp)?;
        for (member, seen) in &effects.judged {
            if stored.leases.get(*member) != seen.as_ref() {
                return Err(CommitError::LeaseRenewed {
                    member: (*member).clone(),
                });
            }
        }
        stored.apply(&effects);
        stored.record = Arc::new(commit.record.clone());
        stored.history = history;
        stored.stamp = Stamp {
            revision: stored.stamp.revision.next(),
            etag: Etag::fresh(),
        };
        Ok(stored.stamp.clone())
    }

    pub(super) fn renew(
        &mut self,
        group: &GroupId,
        known: &Snapshot,
        renewals: &[Renewal],
        now: Timestamp,
        lease_ttl: Millis,
    ) -> Renewed {
        let Some(stored) = self.groups.get_mut(group) else {
            return Renewed::Gone;
        };
        if stored.stamp != known.stamp || stored.history != self.history {
            return Renewed::Stale(stored.snapshot(None, now, self.history));
        }
        let deadline = now.plus(lease_ttl);
        for renewal in renewals
            .iter()
            .filter(|renewal| known.has_live(&renewal.member))
        {
            let lease = stored
                .leases
                .entry(renewal.member.clone())
                .or_insert(deadline);
            *lease = deadline.max(*lease);
            if let Some(progress) = &renewal.progress {
                stored
                    .progress
                    .insert(renewal.member.clone(), progress.clone());
            }
        }
        Renewed::Ok { now, deadline }
    }

    pub(super) fn create(
        &mut self,
        lock: &GroupLock,
        record: &GroupRecord,
        now: Timestamp,
    ) -> Result<Stamp, CreateError> {
        if !self.is_locked_by(lock, now) {
            return Err(CreateError::LockLost);
        }
        self.directory.insert(lock.group.clone());
        if self.groups.contains_key(&lock.group) {
            return Err(CreateError::AlreadyExists);
        }
        let stamp = Stamp {
            revision: StoreRevision::new(1),
            etag: Etag::fresh(),
        };
        let live = record.members.iter().filter(|(_, member)| member.is_live());
        let leases = live.filter_map(|(id, member)| Some((id.clone(), member.lease_deadline?)));
        let stored = Stored {
            record: Arc::new(record.clone()),
            stamp: stamp.clone(),
            leases: leases.collect(),
            progress: BTreeMap::new(),
            history: self.history,
        };
        self.groups.insert(lock.group.clone(), stored);
        Ok(stamp)
    }

    pub(super) fn remove(
        &mut self,
        lock: &GroupLock,
        expected: &Stamp,
        now: Timestamp,
    ) -> Result<(), CommitError> {
        if !self.is_locked_by(lock, now) {
            return Err(CommitError::LockLost);
        }
        self.find(&lock.group, expected)?;
        self.groups.remove(&lock.group);
        self.directory.remove(&lock.group);
        Ok(())
    }
}
