//! The store of group records: begin, commit, renew, create, remove, and a directory of all groups.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use async_trait::async_trait;
use coordinator_core::names::{GroupId, MemberId, StreamPrefix};
use coordinator_core::record::GroupRecord;
use coordinator_core::time::{Millis, Timestamp};
use coordinator_core::write::Write;

use crate::{
    AuditSink, CommitError, CreateError, Etag, Eviction, MemberProgress, Readiness, Snapshot,
    Stamp, StoreError,
};

/// The right to change one group, for a limited time. The store may forget it after a crash of its holder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupLock {
    /// The group.
    pub group: GroupId,
    /// What proves the right.
    pub token: Etag,
}

/// A group that was locked and read in one step.
#[derive(Clone, Debug)]
pub struct Begun {
    /// The right to commit; to be committed or released.
    pub lock: GroupLock,
    /// The group as it is; none where there is no such group.
    pub snapshot: Option<Snapshot>,
    /// The store's time.
    pub now: Timestamp,
}

/// What a decision changes.
#[derive(Clone, Copy, Debug)]
pub struct Commit<'a> {
    /// What the decision was built on: the record must still be this version, and no lease that the decision judged may differ from it.
    pub expected: &'a Snapshot,
    /// The record with the writes applied.
    pub record: &'a GroupRecord,
    /// The writes. The store takes from them what it keeps beside the record: changes of leases, and the leases that were judged.
    pub writes: &'a [Write],
    /// Progress to be kept, by member.
    pub progress: &'a [(MemberId, MemberProgress)],
}

/// A member whose lease is to be renewed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renewal {
    /// The member.
    pub member: MemberId,
    /// What it reported of its work, if it did.
    pub progress: Option<MemberProgress>,
}

/// What came of a renewal.
#[derive(Clone, Debug)]
pub enum Renewed {
    /// The record is the expected one, and the leases run until `deadline` at least.
    Ok {
        /// The store's time.
        now: Timestamp,
        /// Now and one lease. A lease that was to run longer still does: it was promised to the member.
        deadline: Timestamp,
    },
    /// The record is another one, and nothing was renewed.
    Stale(Snapshot),
    /// There is no such group.
    Gone,
}

/// How long coordinators have been watching, and whether the store kept what they wrote. Rules M6 and C8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coordination {
    /// The store's time: the mark that this coordinator left.
    pub now: Timestamp,
    /// Since when some coordinator has been ticking without a gap.
    pub since: Timestamp,
    /// When the store as a whole last showed that it may have lost writes; none if it never did.
    pub doubt: Option<Doubt>,
}

impl Coordination {
    /// Rule M6: since when somebody has been watching, for a decision on what was read at `now`, before this was asked. Where the store's clock went back in
    /// between, that is not known, and nobody is taken to have been.
    #[must_use]
    pub fn since_for(&self, now: Timestamp) -> Timestamp {
        if self.now < now { now } else { self.since }
    }
}

/// A sign that the store as a whole may have lost writes. Rule C8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Doubt {
    /// When it showed. Each is later than the ones before.
    pub at: Timestamp,
    /// What was written from this moment on may be lost. A group that was doubted then or later has been doubted for this already.
    pub lost_from: Timestamp,
}

impl Doubt {
    /// What a group is to take for its own doubt, given the last one that it acted on.
    #[must_use]
    pub fn for_group(self, acted_on: Option<Timestamp>) -> Option<Timestamp> {
        (acted_on < Some(self.lost_from)).then_some(self.at)
    }
}

/// Where a listing goes on. Opaque; the default starts at the beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageCursor(pub String);

/// A part of a listing.
#[derive(Clone, Debug)]
pub struct Page {
    /// Groups that the directory names. One of them may be gone already; one may come twice.
    pub groups: Vec<GroupId>,
    /// Where to go on; none at the end.
    pub next: Option<PageCursor>,
}

/// The store of group records. What every implementation means is pinned by the conformance suite.
#[async_trait]
pub trait GroupStore: Send + Sync {
    /// Takes the right to change the group and reads it, its leases and the store's time in the same step.
    ///
    /// `known` is what the caller last saw; a store may save decoding where it is still current. Works for a group that is not
    /// there, too: whoever creates it holds the right meanwhile.
    ///
    /// Whoever drops the call before it returns may leave the right taken until it runs out by itself.
    ///
    /// # Errors
    /// [`StoreError::Locked`] if somebody else keeps the right for longer than is waited.
    async fn begin(&self, group: &GroupId, known: Option<&Snapshot>) -> Result<Begun, StoreError>;

    /// Writes the record, the leases and the progress, publishes the new version and gives the right back: all or nothing.
    ///
    /// A commit whose answer is lost is read back: if it took place, this returns its stamp.
    ///
    /// # Errors
    /// [`CommitError`] says why nothing was written. The right is given back where the store could still be asked to.
    async fn commit(&self, lock: GroupLock, commit: Commit<'_>) -> Result<Stamp, CommitError>;

    /// Gives the right back without a change. A failure is left to the right's own end.
    async fn release(&self, lock: GroupLock);

    /// Renews the leases of several members if the record is still the expected one: one step, no lock. An empty batch confirms the record.
    /// A member that is not live in the record gets no lease.
    ///
    /// # Errors
    /// [`StoreError`]; nobody's lease may then be taken as renewed.
    async fn renew(
        &self,
        group: &GroupId,
        known: &Snapshot,
        renewals: &[Renewal],
        lease_ttl: Millis,
    ) -> Result<Renewed, StoreError>;

    /// Reads a group without a right to change it; none where there is no such group.
    ///
    /// # Errors
    /// [`StoreError`].
    async fn load(
        &self,
        group: &GroupId,
        known: Option<&Snapshot>,
    ) -> Result<Option<Snapshot>, StoreError>;

    /// Creates a group under the right to change it; the right stays with the caller. Names it in the directory first.
    ///
    /// # Errors
    /// [`CreateError::AlreadyExists`] if it is there; [`CreateError::LockLost`] if the right is somebody else's.
    async fn create(&self, lock: &GroupLock, record: &GroupRecord) -> Result<Stamp, CreateError>;

    /// Writes a record as the first of a group in the place of one that can't be read ([`StoreError::Corrupt`]). Rule C6: only somebody who was told to does
    /// that; what can be read is left alone. Takes the right to change the group, and gives it back.
    ///
    /// # Errors
    /// [`CreateError::AlreadyExists`] if there is a record that can be read; [`CreateError::Store`] with [`StoreError::Locked`] as for `begin`.
    async fn replace_unreadable(
        &self,
        group: &GroupId,
        record: &GroupRecord,
    ) -> Result<Stamp, CreateError>;

    /// Removes a group, its leases and its progress, then its name from the directory, and gives the right back.
    ///
    /// # Errors
    /// [`CommitError::Conflict`] if it is not the expected one any more.
    async fn remove(&self, lock: GroupLock, expected: &Stamp) -> Result<(), CommitError>;

    /// A part of the directory of all groups.
    ///
    /// # Errors
    /// [`StoreError`].
    async fn groups(&self, cursor: &PageCursor) -> Result<Page, StoreError>;

    /// The groups of one stream that the directory names. One of them may be gone already. Costs no answer for the groups of other streams.
    ///
    /// # Errors
    /// [`StoreError`].
    async fn groups_of(&self, stream: &StreamPrefix) -> Result<BTreeSet<GroupId>, StoreError>;

    /// What members last reported of their work.
    ///
    /// # Errors
    /// [`StoreError`].
    async fn progress(
        &self,
        group: &GroupId,
    ) -> Result<BTreeMap<MemberId, MemberProgress>, StoreError>;

    /// Says that a coordinator is watching. A silence of more than `gap`, or a clock that went back, begins a new watch. Rule M6.
    ///
    /// `mark` is the last one that the caller left: if the store has a lower one or none, it has lost writes, and that is remembered for all
    /// coordinators (rule C8). The same where the store has another history than when the mark was left. A mark that is ahead of the store's clock says only
    /// that the clock went back (rule M7).
    ///
    /// # Errors
    /// [`StoreError`]; the caller must then take it that nobody was watching.
    async fn watch_over(
        &self,
        gap: Millis,
        mark: Option<Timestamp>,
    ) -> Result<Coordination, StoreError>;

    /// Remembers for all coordinators that the store may have lost writes at a moment, unless a later one is known. Rule C8.
    ///
    /// # Errors
    /// [`StoreError`]; it is then to be tried again.
    async fn doubt(&self, at: Timestamp) -> Result<(), StoreError>;

    /// Whether the store can do its work now: runs one of its own scripts, not a mere ping (case C07). One that is full is ready with a loss (case C09).
    ///
    /// # Errors
    /// [`StoreError`] says why not.
    async fn check_ready(&self) -> Result<Readiness, StoreError>;

    /// What the store does with its keys when it is full, as last heard; asks nothing. None for one that has no limit of its own. Case C09.
    fn eviction(&self) -> Option<Eviction> {
        None
    }

    /// Where events are kept, if the store does that.
    fn audit(self: Arc<Self>) -> Option<Arc<dyn AuditSink>> {
        None
    }
}
