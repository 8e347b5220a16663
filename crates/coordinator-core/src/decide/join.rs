//! Joining, rejoining and asking again: rules H7, H9, H10 and H11.

use alloc::sync::Arc;
use alloc::vec::Vec;

use super::incarnation::{has_stopped, is_copy_of_join};
use super::{answer, fence, recompute, report};
use crate::draft::Draft;
use crate::holding::Holding;
use crate::input::Heartbeat;
use crate::member::{MemberRecord, MemberState, remember};
use crate::numbers::MetadataVersion;
use crate::planted::Fault;
use crate::step::HeartbeatReply;
use crate::write::Write;

/// Rules H7 and H9: the member becomes active with a new epoch and holds nothing yet.
///
/// A fenced process that comes back asserts that it has stopped: its quarantine ends (rule O6). That of any other process stays.
pub(super) fn join(draft: &mut Draft<'_>, heartbeat: &Heartbeat) -> HeartbeatReply {
    end_own_quarantine(draft, heartbeat);
    become_active(draft, heartbeat)
}

/// Rule H11: the process behind a live member was replaced. What it held is kept from everybody until its lease is over.
pub(super) fn supersede(draft: &mut Draft<'_>, heartbeat: &Heartbeat) -> HeartbeatReply {
    fence::quarantine_holdings(draft, &heartbeat.member);
    become_active(draft, heartbeat)
}

/// Rule H10: the same process asks again. Its lease is renewed and it gets today's decision, without a new epoch.
pub(super) fn repeat(
    draft: &mut Draft<'_>,
    heartbeat: &Heartbeat,
    member: &MemberRecord,
) -> HeartbeatReply {
    if !draft.group().settings().plants(Fault::ReplayKeepsLease) {
        report::renew_lease(draft, heartbeat);
    }
    if !is_copy_of_join(member, heartbeat) {
        release_strange(draft, heartbeat, member);
        draft.write(Write::JoinRepeated {
            member: heartbeat.member.clone(),
            request: heartbeat.request.clone(),
            sequence: heartbeat.sequence.max(member.sequence),
        });
        answer::issue_epoch_after_loss(draft, heartbeat);
    }
    answer::answer_replayed(draft, heartbeat)
}

/// Rule H20: what a process that has stopped was to let go of, it has let go of.
fn release_strange(draft: &mut Draft<'_>, heartbeat: &Heartbeat, member: &MemberRecord) {
    if !has_stopped(member, heartbeat) {
        return;
    }
    let target = draft.group().record.target.of(&heartbeat.member).clone();
    let strange = |holding: &&Holding| !target.contains(holding.shard);
    for holding in member.holdings.iter().filter(strange) {
        let at = draft.raise_version();
        draft.write(Write::ShardReleased {
            member: heartbeat.member.clone(),
            shard: holding.shard,
            at,
        });
    }
}

fn become_active(draft: &mut Draft<'_>, heartbeat: &Heartbeat) -> HeartbeatReply {
    let (mut superseded, mut join_requests) = (Vec::new(), Vec::new());
    let mut is_distrusted = false;
    if let Some(earlier) = draft.group().member(&heartbeat.member) {
        is_distrusted = earlier.is_distrusted;
        superseded.clone_from(&earlier.superseded);
        join_requests.clone_from(&earlier.join_requests);
        if let Some(instance) = &earlier.instance {
            remember(&mut superseded, instance.clone());
        }
    }
    superseded.retain(|instance| Some(instance) != heartbeat.instance.as_ref());
    remember(&mut join_requests, heartbeat.request.clone());
    draft.raise_group_epoch();
    let joined_at = draft.raise_version();
    let lease_ttl = draft.group().settings().member_lease_ttl();
    let record = MemberRecord {
        state: MemberState::Active,
        name: heartbeat.name.clone(),
        instance: heartbeat.instance.clone(),
        superseded,
        join_requests,
        has_reported: false,
        epoch: draft.group().record.group_epoch.as_assignment().as_member(),
        previous_epoch: None,
        epoch_before_loss: None,
        joined_at,
        reported_version: MetadataVersion::default(),
        // It has nothing from before.
        released_at: joined_at,
        sequence: heartbeat.sequence,
        is_distrusted,
        max_concurrency: heartbeat.max_concurrency,
        holdings: Vec::new(),
        lease_ttl,
        lease_deadline: Some(draft.clock().now.plus(lease_ttl)),
        ended_at: None,
    };
    draft.write(Write::MemberJoined {
        member: heartbeat.member.clone(),
        record: Arc::new(record),
    });
    recompute::recompute_if_due(draft);
    answer::answer(draft, heartbeat)
}

/// Ends the quarantine of the process that is recorded under this id, if the join proves that it has stopped (rule O6).
fn end_own_quarantine(draft: &mut Draft<'_>, heartbeat: &Heartbeat) {
    let Some(member) = draft.group().member(&heartbeat.member) else {
        return;
    };
    let ends_any = draft
        .group()
        .settings()
        .plants(Fault::AnyJoinEndsQuarantine);
    if !has_stopped(member, heartbeat) && !ends_any {
        return;
    }
    let epoch = member.epoch;
    let mut quarantines = draft.group().record.quarantines.iter();
    if quarantines
        .any(|quarantine| quarantine.member == heartbeat.member && quarantine.epoch == epoch)
    {
        draft.write(Write::QuarantineEnded {
            member: heartbeat.member.clone(),
            epoch,
        });
    }
}
