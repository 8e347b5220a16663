//! What a commit does beside the record: leases and progress, worked out from its writes once for all stores. It writes nothing.

use std::collections::{BTreeMap, BTreeSet};

use coordinator_core::names::MemberId;
use coordinator_core::time::Timestamp;
use coordinator_core::write::Write;

use crate::{Commit, MemberProgress};

/// A lease that a commit sets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseSet {
    /// The lease as the decision saw it. Where the store has another one, it was renewed since: the later deadline then counts,
    /// since it was promised to the member.
    pub seen: Option<Timestamp>,
    /// The new deadline.
    pub deadline: Timestamp,
}

/// What a commit does beside the record.
#[derive(Debug, Default)]
pub struct Effects<'a> {
    /// The leases that the decision judged, as it saw them. If the store has another one, nothing is written.
    pub judged: BTreeMap<&'a MemberId, Option<Timestamp>>,
    /// Leases to set.
    pub leases: BTreeMap<&'a MemberId, LeaseSet>,
    /// Leases to drop.
    pub dropped_leases: BTreeSet<&'a MemberId>,
    /// Progress to keep.
    pub progress: BTreeMap<&'a MemberId, &'a MemberProgress>,
    /// Progress to drop: the member is gone, or another process took its place.
    pub dropped_progress: BTreeSet<&'a MemberId>,
}

impl<'a> Effects<'a> {
    /// Works out the effects of a commit.
    ///
    /// What was seen of a lease is taken from the snapshot, not from the writes: an earlier write of the same decision may have
    /// set the deadline that a later one judged (rules M7 and H20).
    #[must_use]
    pub fn of(commit: &Commit<'a>) -> Self {
        let mut effects = Self::default();
        let seen = |member: &MemberId| {
            let record = commit.expected.record.members.get(member);
            record.and_then(|record| record.lease_deadline)
        };
        for write in commit.writes {
            if let Some(judged) = write.judged_lease() {
                effects.judged.insert(judged.member, seen(judged.member));
            }
            if matches!(write, Write::MemberJoined { .. }) {
                effects
                    .dropped_progress
                    .extend(write.lease_change().map(|change| change.member));
            }
            let Some(change) = write.lease_change() else {
                continue;
            };
            if let Some(deadline) = change.deadline {
                let seen = seen(change.member);
                effects.dropped_leases.remove(change.member);
                effects
                    .leases
                    .insert(change.member, LeaseSet { seen, deadline });
            } else {
                effects.leases.remove(change.member);
                effects.dropped_leases.insert(change.member);
                effects.dropped_progress.insert(change.member);
            }
        }
        let live = |member: &MemberId| {
            let record = commit.record.members.get(member);
            record.is_some_and(|record| record.is_live())
        };
        effects.progress = commit
            .progress
            .iter()
            .filter(|(member, _)| live(member))
            .map(|(member, progress)| (member, progress))
            .collect();
        effects
    }
}
