//! When the target assignment is computed anew: rule E4. How it is computed is the strategy's matter.

use alloc::vec::Vec;

use super::release;
use crate::assign::{Candidate, Problem};
use crate::draft::Draft;
use crate::group::Group;
use crate::names::MemberId;
use crate::target::Target;
use crate::write::Write;

/// Computes the target if membership or the assignable shards changed since it was last computed. Rules E2 and E4.
pub(super) fn recompute_if_due(draft: &mut Draft<'_>) {
    let record = &draft.group().record;
    if record.group_epoch.get() <= record.assignment_epoch.get() {
        return;
    }
    let epoch = record.group_epoch.as_assignment();
    let target = solve(draft.group());
    if target != draft.group().record.target {
        draft.raise_version();
    }
    draft.write(Write::TargetAssigned { epoch, target });
    release::withdraw(draft);
}

fn solve(group: &Group) -> Target {
    let members: Vec<_> = group
        .live_members()
        .filter(|(_, member)| member.is_target())
        .collect();
    let candidates: Vec<Candidate<'_>> = members
        .iter()
        .map(|(id, member)| Candidate {
            previous: group.record.target.of(id),
            holdings: &member.holdings,
        })
        .collect();
    let assignable = group.assignable();
    let problem = Problem {
        candidates: &candidates,
        assignable: &assignable,
    };
    let owners = group.settings().strategy().solve(&problem);
    let ids: Vec<MemberId> = members.into_iter().map(|(id, _)| id.clone()).collect();
    Target::new(ids, &owners)
}
