//! The invariants of the rules, one function each. They say what is wrong and change nothing.

pub(crate) mod comes_to_rest;
mod epochs;
pub(crate) mod obedient_stays;
pub(crate) mod reproducible;
pub(crate) mod retired_drained;
mod single_holder;
pub(crate) mod single_reader;
mod target_members;
mod target_owners;

use std::hash::{Hash, Hasher};

use coordinator_core::Group;
use coordinator_core::record::GroupRecord;

use crate::violation::Invariant;

/// Everything that must hold of a committed record, and of it as the successor of an earlier one. The core looks; here what it finds is put
/// under its invariant.
pub(crate) fn of_commit(earlier: &Group, committed: &Group) -> Vec<(Invariant, String)> {
    let mut violations = committed.check_invariants();
    violations.extend(committed.check_succession(earlier));
    let named = |violation: &coordinator_core::invariants::Violation| {
        let invariant = if single_holder::is_about(violation) {
            Invariant::SingleHolder
        } else if target_owners::is_about(violation) {
            Invariant::TargetOwners
        } else if epochs::is_about(violation) {
            Invariant::Epochs
        } else if target_members::is_about(violation) {
            Invariant::TargetMembers
        } else {
            Invariant::Reproducible
        };
        (invariant, violation.to_string())
    };
    violations.iter().map(named).collect()
}

/// A digest of a record, the same in every version of the standard library. Times are left out: they would make all records distinct.
pub(crate) fn digest(record: &GroupRecord) -> u64 {
    let mut hasher = Fnv(0xcbf2_9ce4_8422_2325);
    (record.shard_count, record.group_epoch, &record.target).hash(&mut hasher);
    for (id, member) in &record.members {
        (
            id,
            member.state,
            member.epoch,
            member.previous_epoch,
            &member.holdings,
        )
            .hash(&mut hasher);
    }
    for quarantine in &record.quarantines {
        (&quarantine.member, quarantine.epoch, &quarantine.holdings).hash(&mut hasher);
    }
    if let Some(migration) = &record.migration {
        (
            migration.from,
            migration.to,
            migration.state,
            &migration.leaving,
        )
            .hash(&mut hasher);
    }
    (
        record.lineage.hold_until.is_some(),
        record.lineage.correction.is_some(),
    )
        .hash(&mut hasher);
    hasher.finish()
}

/// The hash FNV-1a.
struct Fnv(u64);

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}
