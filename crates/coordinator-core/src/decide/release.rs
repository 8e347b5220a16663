//! What a member is to let go of, and by when: rule H20. Each shard has a time of its own, so that one that is taken later is not due with the first.

use alloc::vec::Vec;

use crate::draft::Draft;
use crate::holding::Holding;
use crate::names::MemberId;
use crate::shard_set::ShardSet;
use crate::time::Timestamp;
use crate::write::Write;

/// Arms the deadline of every shard that the member is told for the first time to let go of.
pub(super) fn demand(draft: &mut Draft<'_>, id: &MemberId) {
    let by = draft
        .clock()
        .now
        .plus(draft.group().settings().rebalance_timeout());
    let target = draft.group().record.target.of(id).clone();
    let is_new =
        |holding: &Holding| holding.release_by.is_none() && !target.contains(holding.shard);
    set(draft, id, is_new, Some(by));
}

/// Clears the deadline of every shard that became its holder's own again.
pub(super) fn withdraw(draft: &mut Draft<'_>) {
    let group = draft.group();
    let asked = group
        .live_members()
        .filter(|(_, member)| member.rebalance_deadline().is_some());
    let asked: Vec<MemberId> = asked.map(|(id, _)| id.clone()).collect();
    for id in asked {
        let target = draft.group().record.target.of(&id).clone();
        let is_own_again =
            |holding: &Holding| holding.release_by.is_some() && target.contains(holding.shard);
        set(draft, &id, is_own_again, None);
    }
}

/// Rule M7: no deadline lies further ahead than it could have been set.
pub(super) fn cut(draft: &mut Draft<'_>) {
    let latest = draft
        .clock()
        .now
        .plus(draft.group().settings().rebalance_timeout());
    let is_too_late =
        |holding: &Holding| holding.release_by.is_some_and(|deadline| deadline > latest);
    let late = draft
        .group()
        .live_members()
        .filter(|(_, member)| member.holdings.iter().any(is_too_late));
    let late: Vec<MemberId> = late.map(|(id, _)| id.clone()).collect();
    for id in late {
        set(draft, &id, is_too_late, Some(latest));
    }
}

fn set(
    draft: &mut Draft<'_>,
    id: &MemberId,
    concerns: impl Fn(&Holding) -> bool,
    by: Option<Timestamp>,
) {
    let held = draft.group().member(id).into_iter();
    let shards: ShardSet = held
        .flat_map(|member| &member.holdings)
        .filter(|holding| concerns(holding))
        .map(|holding| holding.shard)
        .collect();
    if !shards.is_empty() {
        draft.write(Write::ReleaseDemanded {
            member: id.clone(),
            shards,
            by,
        });
    }
}
