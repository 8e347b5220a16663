//! Invariant 3: every assignable shard has exactly one target owner if there is a member to own it. That it has not two is in the
//! make of [`Target`](crate::target::Target).

use alloc::vec::Vec;

use super::Violation;
use crate::group::Group;

pub(super) fn check(group: &Group, violations: &mut Vec<Violation>) {
    if !group.live_members().any(|(_, member)| member.is_target()) {
        return;
    }
    let target = &group.record().target;
    let unowned = group
        .assignable()
        .iter()
        .filter(|shard| target.owner(*shard).is_none())
        .collect::<Vec<_>>();
    violations.extend(
        unowned
            .into_iter()
            .map(|shard| Violation::Unowned { shard }),
    );
}
