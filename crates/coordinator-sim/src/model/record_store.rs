//! The store of the model: one group, whose commits are checked as in the real stores. There is no lock: what it keeps apart may happen here, and must do
//! no harm.

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use coordinator_core::Group;
use coordinator_core::input::Heartbeat;
use coordinator_core::names::MemberId;
use coordinator_core::numbers::StoreRevision;
use coordinator_core::record::GroupRecord;
use coordinator_core::settings::Settings;
use coordinator_core::step::Reply;
use coordinator_core::time::Timestamp;
use coordinator_core::write::Write;
use store::{Commit, Effects, Etag, Snapshot, Stamp};

/// What the store has: the group, its leases filled in.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    pub(super) group: Group,
    /// Which commit it is; no two are the same (rule E1).
    pub(super) edition: u32,
}

impl PartialEq for Stored {
    fn eq(&self, other: &Self) -> bool {
        self.group.record() == other.group.record()
    }
}

impl Hash for Stored {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.group.record().hash(state);
    }
}

/// A decision that is not committed yet.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    /// What it was built on.
    pub(super) base: Arc<Stored>,
    pub(super) now: Timestamp,
    pub(super) writes: Vec<Write>,
    pub(super) after: Group,
    pub(super) reply: Reply,
    /// The doubt that is to be spread once it is committed (rule C8).
    pub(super) doubts: Option<Timestamp>,
    /// Whom it is for, if it is for a member.
    pub(super) heartbeat: Option<(u8, Arc<Heartbeat>)>,
}

impl PartialEq for Pending {
    fn eq(&self, other: &Self) -> bool {
        self.base.edition == other.base.edition
            && (self.now, &self.writes, &self.reply) == (other.now, &other.writes, &other.reply)
    }
}

/// Why a commit is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Conflict {
    /// Rule E1: the record is not what was read.
    Stale,
    /// A lease that was judged is not what it was.
    LeaseRenewed,
}

/// What of the real stores' checks is left out, to see whether that is noticed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct StoreFaults {
    /// A commit does not look whether the leases that it judged were renewed meanwhile.
    pub commits_without_lease_check: bool,
    /// A commit does not look whether the record is the one that was read.
    pub commits_over_others: bool,
    /// A shard is taken away if its lag is zero, whatever else is known of it.
    pub retires_by_lag: bool,
}

/// Checks a decision against what the store has now; the record that it then has.
pub(super) fn commit(
    current: &Stored,
    pending: &Pending,
    edition: u32,
    faults: StoreFaults,
) -> Result<Stored, Conflict> {
    if pending.base.edition != current.edition && !faults.commits_over_others {
        return Err(Conflict::Stale);
    }
    let expected = snapshot(&pending.base, pending.now);
    let effects = Effects::of(&Commit {
        expected: &expected,
        record: pending.after.record(),
        writes: &pending.writes,
        progress: &[],
    });
    let mut leases = leases(current.group.record());
    for (member, seen) in &effects.judged {
        if leases.get(*member) != seen.as_ref() && !faults.commits_without_lease_check {
            return Err(Conflict::LeaseRenewed);
        }
    }
    for (member, lease) in &effects.leases {
        let known = leases.get(*member).copied();
        let renewed = known.filter(|_| known != lease.seen);
        let deadline = renewed.map_or(lease.deadline, |renewed| renewed.max(lease.deadline));
        leases.insert((*member).clone(), deadline);
    }
    for member in &effects.dropped_leases {
        leases.remove(*member);
    }
    let record = with_leases(pending.after.record().clone(), &leases);
    Ok(Stored {
        group: restore(record, *pending.after.settings()),
        edition,
    })
}

/// The short way: a lease is renewed, and nothing else is written (rule H17). Never to an earlier end.
pub(super) fn renew(current: &Stored, member: &MemberId, deadline: Timestamp) -> Stored {
    let mut group = current.group.clone();
    let recorded = group.member(member).and_then(|it| it.lease_deadline);
    group.apply(&[Write::LeaseSet {
        member: member.clone(),
        deadline: deadline.max(recorded.unwrap_or_default()),
    }]);
    Stored {
        group,
        edition: current.edition,
    }
}

/// The group of a record that a decision led to. It always can be restored: what can't is found by invariant 7.
fn restore(record: GroupRecord, settings: Settings) -> Group {
    Group::restore(record, settings).expect("a record that a decision led to can be restored")
}

fn snapshot(stored: &Stored, now: Timestamp) -> Snapshot {
    Snapshot {
        record: Arc::new(stored.group.record().clone()),
        stamp: Stamp {
            revision: StoreRevision::new(u64::from(stored.edition)),
            etag: Etag::from_stored("model"),
        },
        now,
        // What a commit does beside the record does not depend on it.
        doubted_at: None,
    }
}

fn leases(record: &GroupRecord) -> BTreeMap<MemberId, Timestamp> {
    let live = record.members.iter().filter(|(_, member)| member.is_live());
    live.filter_map(|(id, member)| Some((id.clone(), member.lease_deadline?)))
        .collect()
}

fn with_leases(mut record: GroupRecord, leases: &BTreeMap<MemberId, Timestamp>) -> GroupRecord {
    for (id, member) in &mut record.members {
        let lease = leases.get(id).copied().filter(|_| member.is_live());
        if member.lease_deadline != lease {
            Arc::make_mut(member).lease_deadline = lease;
        }
    }
    record
}
