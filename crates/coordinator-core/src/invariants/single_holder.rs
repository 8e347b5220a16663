//! Invariant 1: no shard is granted to two members at once, counting quarantine (rules O2, O3, O6). What members claim
//! after a loss of writes was granted by nobody (rule C2).

use alloc::vec::Vec;

use super::Violation;
use crate::group::Group;
use crate::numbers::ShardIndex;

pub(super) fn check(group: &Group, violations: &mut Vec<Violation>) {
    let granted = group.count_holders_of(|holding| !holding.is_claim);
    let held_twice = (0_u32..).zip(granted).filter(|(_, holders)| *holders > 1);
    violations.extend(held_twice.map(|(shard, holders)| Violation::HeldTwice {
        shard: ShardIndex::new(shard),
        holders,
    }));
}
