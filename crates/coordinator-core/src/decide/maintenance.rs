//! What time alone brings about: rules M1, M2, M6, M7, H20, the end of quarantines (O6) and of holds (C8). Runs before every other decision (rule H4).

use alloc::vec::Vec;

use super::{correction, fence, recompute, release};
use crate::draft::Draft;
use crate::member::{MemberRecord, MemberState};
use crate::names::MemberId;
use crate::time::{Clock, Millis, Timestamp};
use crate::write::{FenceCause, Write};

/// Brings a group up to the moment of the command.
pub(super) fn maintain(draft: &mut Draft<'_>) {
    correction::note_doubt(draft);
    correction::end_hold(draft);
    cut_leases(draft);
    release::cut(draft);
    if draft.group().record.lineage.hold_until.is_none() {
        // Rule C8: what the leases and quarantines were is not known during a hold.
        end_leases(draft);
    }
    prune(draft);
    recompute::recompute_if_due(draft);
    correction::close_if_settled(draft);
}

fn end_leases(draft: &mut Draft<'_>) {
    let changed_membership = expire(draft) | fence_overdue(draft);
    if changed_membership {
        draft.raise_group_epoch();
        draft.raise_version();
    }
    end_quarantines(draft);
}

/// Rule M6: whether a deadline is over, one full lease of grace given after coordinators were away.
pub(super) fn is_over(clock: Clock, deadline: Timestamp, lease: Millis) -> bool {
    clock.now >= deadline && clock.now >= clock.coordination_since.plus(lease)
}

/// Rule M7: nothing recorded reaches further ahead than it could have when it was recorded. A live member whose lease the
/// store has lost gets a full one.
fn cut_leases(draft: &mut Draft<'_>) {
    let now = draft.clock().now;
    let settings = *draft.group().settings();
    let furthest = |promised: Millis| now.plus(promised.max(settings.member_lease_ttl()));
    let mut cuts = Vec::new();
    for (id, member) in draft.group().live_members() {
        let furthest = furthest(member.lease_ttl);
        if member
            .lease_deadline
            .is_none_or(|deadline| deadline > furthest)
        {
            cuts.push(Write::LeaseSet {
                member: id.clone(),
                deadline: furthest,
            });
        }
    }
    for quarantine in &draft.group().record.quarantines {
        let until = furthest(quarantine.lease_ttl);
        if quarantine.until > until {
            cuts.push(Write::QuarantineCut {
                member: quarantine.member.clone(),
                epoch: quarantine.epoch,
                until,
            });
        }
    }
    for cut in cuts {
        draft.write(cut);
    }
}

/// Rule M1: a live member whose lease is over is expired and holds nothing. Says whether that changes the membership: the end of
/// one that had left and let go of everything does not.
fn expire(draft: &mut Draft<'_>) -> bool {
    let clock = draft.clock();
    let ttl = draft.group().settings().member_lease_ttl();
    let is_due = |member: &MemberRecord| {
        member
            .lease_deadline
            .is_some_and(|deadline| is_over(clock, deadline, member.lease_ttl.max(ttl)))
    };
    let due: Vec<(MemberId, Option<Timestamp>, bool)> = draft
        .group()
        .live_members()
        .filter(|(_, member)| is_due(member))
        .map(|(id, member)| {
            (
                id.clone(),
                member.lease_deadline,
                member.is_target() || !member.holdings.is_empty(),
            )
        })
        .collect();
    let mut changes_membership = false;
    for (member, judged, counts) in due {
        changes_membership |= counts;
        draft.write(Write::MemberExpired {
            member,
            judged,
            at: clock.now,
        });
    }
    changes_membership
}

/// Rule H20: a member that kept a shard beyond the rebalance timeout is fenced.
fn fence_overdue(draft: &mut Draft<'_>) -> bool {
    let clock = draft.clock();
    let ttl = draft.group().settings().member_lease_ttl();
    let is_due = |member: &MemberRecord| {
        member
            .rebalance_deadline()
            .is_some_and(|deadline| is_over(clock, deadline, member.lease_ttl.max(ttl)))
    };
    let due: Vec<MemberId> = draft
        .group()
        .live_members()
        .filter(|(_, member)| is_due(member))
        .map(|(id, _)| id.clone())
        .collect();
    for member in &due {
        fence::fence(draft, member, FenceCause::RebalanceTimeout);
    }
    !due.is_empty()
}

/// Rule O6: by its lease deadline a process in quarantine has stopped.
fn end_quarantines(draft: &mut Draft<'_>) {
    let clock = draft.clock();
    let quarantines = draft.group().record.quarantines.iter();
    let over: Vec<_> = quarantines
        .filter(|quarantine| is_over(clock, quarantine.until, quarantine.lease_ttl))
        .map(|quarantine| (quarantine.member.clone(), quarantine.epoch))
        .collect();
    for (member, epoch) in over {
        draft.raise_version();
        draft.write(Write::QuarantineEnded { member, epoch });
    }
}

/// Rule M2: the record of an ended member is dropped after its retention.
fn prune(draft: &mut Draft<'_>) {
    let now = draft.clock().now;
    let retention = draft.group().settings().stale_member_retention();
    let is_due = |member: &MemberRecord| {
        member
            .ended_at
            .is_some_and(|ended| now >= ended.plus(retention))
    };
    let members = draft.group().record.members.iter();
    let due: Vec<MemberId> = members
        .filter(|(_, member)| {
            matches!(member.state, MemberState::Expired | MemberState::Fenced) && is_due(member)
        })
        .map(|(id, _)| id.clone())
        .collect();
    for member in due {
        draft.write(Write::MemberPruned { member });
    }
}
