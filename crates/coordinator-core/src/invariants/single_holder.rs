//! Invariant 1: no shard is granted to two members at once, counting quarantine (rules O2, O3, O6).

use alloc::vec::Vec;

use super::Violation;
use crate::group::Group;
use crate::numbers::ShardIndex;

pub(super) fn check(group: &Group, violations: &mut Vec<Violation>) {
    let counts = group.count_holders();
    let held_twice = (0_u32..).zip(counts).filter(|(_, holders)| *holders > 1);
    violations.extend(held_twice.map(|(shard, holders)| Violation::HeldTwice {
        shard: ShardIndex::new(shard),
        holders,
    }));
}
