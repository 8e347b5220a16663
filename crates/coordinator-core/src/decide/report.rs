//! Taking over what a member reports: rules H13, H14, H17, O5 and O7.

use super::heartbeat::{outside_authority, refuse};
use super::{answer, fence, recompute, settle};
use crate::draft::Draft;
use crate::input::{EpochClaim, Heartbeat};
use crate::member::{MemberRecord, MemberState};
use crate::numbers::MemberEpoch;
use crate::step::{HeartbeatReply, HeartbeatStatus};
use crate::time::{Millis, Timestamp};
use crate::write::{FenceCause, Report, Write};

/// Rule H14: processes a report.
pub(super) fn report(draft: &mut Draft<'_>, heartbeat: &Heartbeat) -> HeartbeatReply {
    match refuse_ownership(draft, heartbeat) {
        Some(refusal) => refusal,
        None => take_over(draft, heartbeat),
    }
}

/// Rule H13: the member leaves; its report releases what it no longer claims. Repeating it changes nothing more.
pub(super) fn leave(draft: &mut Draft<'_>, heartbeat: &Heartbeat) -> HeartbeatReply {
    if let Some(refusal) = refuse_ownership(draft, heartbeat) {
        return refusal;
    }
    let is_first = draft
        .group()
        .member(&heartbeat.member)
        .is_some_and(|member| member.state == MemberState::Active);
    if is_first {
        draft.raise_group_epoch();
        draft.raise_version();
        draft.write(Write::MemberLeft {
            member: heartbeat.member.clone(),
        });
    }
    take_over(draft, heartbeat)
}

/// Renews the sender's lease (rules T1 and T3a). A longer one that it was promised under other settings still runs: the answer to this message
/// may be lost.
pub(super) fn renew_lease(draft: &mut Draft<'_>, heartbeat: &Heartbeat) {
    let promised = draft
        .group()
        .member(&heartbeat.member)
        .and_then(|member| member.lease_deadline);
    let deadline = lease_from_now(draft).max(promised.unwrap_or_default());
    draft.write(Write::LeaseSet {
        member: heartbeat.member.clone(),
        deadline,
    });
}

fn lease_from_now(draft: &Draft<'_>) -> Timestamp {
    let ttl = draft.group().settings().member_lease_ttl();
    draft.clock().now.plus(ttl)
}

/// The lease that a member is promised from now on: the longer one for as long as an earlier promise of it runs (rule M7).
fn promised_lease(draft: &Draft<'_>, member: &MemberRecord) -> Millis {
    let ttl = draft.group().settings().member_lease_ttl();
    let is_promised_longer = member
        .lease_deadline
        .is_some_and(|deadline| deadline > lease_from_now(draft));
    if is_promised_longer {
        member.lease_ttl.max(ttl)
    } else {
        ttl
    }
}

/// Rule O7: a member that claims a shard outside its authority is fenced.
fn refuse_ownership(draft: &mut Draft<'_>, heartbeat: &Heartbeat) -> Option<HeartbeatReply> {
    let shard = outside_authority(draft.group(), heartbeat)?;
    let cause = FenceCause::OutsideAuthority { shard };
    Some(fence_out(draft, heartbeat, cause))
}

/// Fences the sender, and refuses what it sent.
pub(super) fn fence_out(
    draft: &mut Draft<'_>,
    heartbeat: &Heartbeat,
    cause: FenceCause,
) -> HeartbeatReply {
    fence::fence(draft, &heartbeat.member, cause);
    draft.raise_group_epoch();
    draft.raise_version();
    recompute::recompute_if_due(draft);
    refuse(draft.group(), HeartbeatStatus::Fenced)
}

fn take_over(draft: &mut Draft<'_>, heartbeat: &Heartbeat) -> HeartbeatReply {
    settle::settle_member(draft, heartbeat);
    renew_lease(draft, heartbeat);
    confirm_epoch(draft, heartbeat);
    recompute::recompute_if_due(draft);
    // Before the answer, which may rest on what the member has seen; and after it, for the position of a message whose answer changes something.
    note_report(draft, heartbeat);
    let reply = answer::answer(draft, heartbeat);
    note_report(draft, heartbeat);
    reply
}

/// Rule E6: what was issued before the epoch that the member sends is no longer good.
fn confirm_epoch(draft: &mut Draft<'_>, heartbeat: &Heartbeat) {
    let Some(member) = draft.group().member(&heartbeat.member) else {
        return;
    };
    let Some(EpochClaim::At(epoch)) = heartbeat.claim() else {
        return;
    };
    let previous = (epoch < member.epoch.get()).then(|| MemberEpoch::new(epoch));
    if previous != member.previous_epoch {
        draft.write(Write::EpochConfirmed {
            member: heartbeat.member.clone(),
            previous,
        });
    }
}

/// Records the position of a message that changed something, and nothing else that it says (rules C3 and H14a).
pub(super) fn note_position(draft: &mut Draft<'_>, heartbeat: &Heartbeat) {
    let Some(member) = draft.group().member(&heartbeat.member) else {
        return;
    };
    let report = Report {
        instance: member.instance.clone(),
        name: member.name.clone(),
        max_concurrency: member.max_concurrency,
        version: member.reported_version,
        sequence: heartbeat.sequence.max(member.sequence),
        lease_ttl: promised_lease(draft, member),
    };
    if draft.changes_record() && member.sequence != report.sequence {
        draft.write(Write::MemberReported {
            member: heartbeat.member.clone(),
            report,
        });
    }
}

/// Records what the member says of itself, if that is new, or if the message changed anything else (rules H14a and H17).
fn note_report(draft: &mut Draft<'_>, heartbeat: &Heartbeat) {
    let Some(member) = draft.group().member(&heartbeat.member) else {
        return;
    };
    let report = Report {
        instance: heartbeat
            .instance
            .clone()
            .or_else(|| member.instance.clone()),
        name: heartbeat.name.clone(),
        max_concurrency: heartbeat.max_concurrency,
        // A leave may speak of a version that was lost (rule H5): what comes after it has none so high.
        version: heartbeat.version.min(draft.group().record.metadata_version),
        sequence: heartbeat.sequence.max(member.sequence),
        lease_ttl: promised_lease(draft, member),
    };
    let is_later = draft.changes_record() && member.sequence != report.sequence;
    if is_later || is_news(member, &report) {
        draft.write(Write::MemberReported {
            member: heartbeat.member.clone(),
            report,
        });
    }
}

fn is_news(member: &MemberRecord, report: &Report) -> bool {
    !member.has_reported
        || member.instance != report.instance
        || member.name != report.name
        || member.max_concurrency != report.max_concurrency
        || member.reported_version != report.version
        || member.lease_ttl != report.lease_ttl
}
