//! Invariant 5: the target names only members that may own shards and only assignable shards, and the loads differ by at most one.

use alloc::vec::Vec;

use super::Violation;
use crate::group::Group;

pub(super) fn check(group: &Group, violations: &mut Vec<Violation>) {
    let assignable = group.assignable();
    let target = &group.record().target;
    for (id, shards) in target.iter() {
        if !group
            .member(id)
            .is_some_and(crate::member::MemberRecord::is_target)
        {
            violations.push(Violation::TargetWithoutMember { member: id.clone() });
        }
        let strangers = shards.iter().filter(|shard| !assignable.contains(*shard));
        violations.extend(strangers.map(|shard| Violation::TargetWithoutShard { shard }));
    }
    let loads = group
        .live_members()
        .filter(|(_, member)| member.is_target())
        .map(|(id, _)| target.of(id).len());
    let (least, most) = loads.fold((usize::MAX, 0), |(least, most), load| {
        (least.min(load), most.max(load))
    });
    if most > least.saturating_add(1) {
        violations.push(Violation::Unbalanced { least, most });
    }
}
