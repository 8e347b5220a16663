//! Invariant 1, its other half: the counts by which decisions judge who holds what are those of the record.

use alloc::vec::Vec;

use super::Violation;
use crate::group::Group;
use crate::numbers::ShardIndex;

pub(super) fn check(group: &Group, violations: &mut Vec<Violation>) {
    for (index, recorded) in (0_u32..).zip(group.count_holders()) {
        let shard = ShardIndex::new(index);
        let counted = group.holders(shard);
        if counted != recorded {
            violations.push(Violation::HoldersMiscounted {
                shard,
                counted,
                recorded,
            });
        }
    }
}
