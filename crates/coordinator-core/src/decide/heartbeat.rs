//! Who is speaking: the first part of the heartbeat table, rules H3 to H15. The first rule that applies decides.

use super::incarnation::{has_stopped, is_copy_of_join};
use super::{answer, correction, join, report, settle};
use crate::draft::Draft;
use crate::group::Group;
use crate::input::{EpochClaim, Heartbeat};
use crate::member::{MemberRecord, MemberState};
use crate::numbers::ShardIndex;
use crate::planted::Fault;
use crate::record::Provisioning;
use crate::step::{HeartbeatReply, HeartbeatStatus};

/// Judges a heartbeat that rules H1 and H2 let pass.
pub(super) fn judge(draft: &mut Draft<'_>, heartbeat: &Heartbeat) -> HeartbeatReply {
    draft.meet_message();
    let Some(claim) = heartbeat.claim() else {
        return HeartbeatReply::without_group(HeartbeatStatus::InvalidRequest);
    };
    if draft.group().record.provisioning == Provisioning::Pending {
        // Rule H3: a group whose streams do not exist yet is no group for its members.
        return refuse(draft.group(), HeartbeatStatus::UnknownMember);
    }
    let Some(member) = draft.group().record.members.get(&heartbeat.member).cloned() else {
        return match claim {
            EpochClaim::Join => join::join(draft, heartbeat),
            // Rules H8 and H13.
            EpochClaim::At(_) | EpochClaim::Leave => {
                refuse(draft.group(), HeartbeatStatus::UnknownMember)
            }
        };
    };
    match (member.state, claim) {
        (MemberState::Active | MemberState::Leaving, EpochClaim::At(_) | EpochClaim::Leave)
            if member.instance != heartbeat.instance || is_superseded(&member, heartbeat) =>
        {
            // Rules H5a and H13: a superseded twin is told nothing. Whoever names its process does so always: a message without a name is not from a process
            // that has one, however good its epoch; the store may have lost that another one took the id.
            refuse(draft.group(), HeartbeatStatus::Fenced)
        }
        (MemberState::Active, EpochClaim::Join) => judge_join_of_live(draft, heartbeat, &member),
        (MemberState::Leaving | MemberState::Fenced | MemberState::Expired, EpochClaim::Join) => {
            judge_rejoin(draft, heartbeat, &member)
        }
        (MemberState::Active | MemberState::Leaving, EpochClaim::Leave) => {
            if heartbeat.version < member.joined_at && !has_stopped(&member, heartbeat) {
                // Rules H13 and T3a: it may come from an earlier process, since not all of them name themselves and number their messages. What that one may still
                // read waits for its own lease, which no answer may prolong.
                return refuse(draft.group(), HeartbeatStatus::Fenced);
            }
            if is_older_message(draft.group(), &member, heartbeat) {
                return answer::answer_overtaken(draft, heartbeat);
            }
            correction::note_leave(draft, heartbeat);
            report::leave(draft, heartbeat)
        }
        (MemberState::Active | MemberState::Leaving, EpochClaim::At(epoch)) => {
            judge_report(draft, heartbeat, &member, epoch)
        }
        (MemberState::Fenced | MemberState::Expired, EpochClaim::At(_) | EpochClaim::Leave) => {
            // Rule H12. What a fenced process shows to have let go of need not wait for its deadline (rule O6).
            if !is_older_message(draft.group(), &member, heartbeat) {
                settle::settle_quarantine(draft, heartbeat);
            }
            refuse(draft.group(), HeartbeatStatus::Fenced)
        }
    }
}

/// Rules H10 and H11: epoch 0 for a member that lives.
fn judge_join_of_live(
    draft: &mut Draft<'_>,
    heartbeat: &Heartbeat,
    member: &MemberRecord,
) -> HeartbeatReply {
    let repeats_join = match (&member.instance, &heartbeat.instance) {
        (Some(recorded), Some(sent)) => recorded == sent,
        _ => member.join_requests.last() == Some(&heartbeat.request) && !member.has_reported,
    };
    let inherits = draft
        .group()
        .settings()
        .plants(Fault::SecondProcessInherits);
    if repeats_join || inherits {
        join::repeat(draft, heartbeat, member)
    } else if is_superseded(member, heartbeat) {
        // Case C22: the newer process keeps the id; the older one does not take it back.
        refuse(draft.group(), HeartbeatStatus::Fenced)
    } else {
        join::supersede(draft, heartbeat)
    }
}

/// Rule H9: epoch 0 for a member that has ended or is ending.
fn judge_rejoin(
    draft: &mut Draft<'_>,
    heartbeat: &Heartbeat,
    member: &MemberRecord,
) -> HeartbeatReply {
    let may_still_read = member.state != MemberState::Expired;
    let is_numbered = heartbeat.sequence.is_some() && heartbeat.instance.is_some();
    if is_copy_of_join(member, heartbeat) && (may_still_read || is_numbered) {
        // A late copy of a message that once joined says nothing about now: it neither proves that the process has stopped (rule O6)
        // nor brings it back.
        return refuse(draft.group(), HeartbeatStatus::Fenced);
    }
    match member.state {
        MemberState::Leaving if is_superseded(member, heartbeat) => {
            refuse(draft.group(), HeartbeatStatus::Fenced)
        }
        MemberState::Leaving if !has_stopped(member, heartbeat) => {
            join::supersede(draft, heartbeat)
        }
        _ => join::join(draft, heartbeat),
    }
}

/// Rules H5, H6, H14, H14a, E6 and H15: an epoch that was issued.
fn judge_report(
    draft: &mut Draft<'_>,
    heartbeat: &Heartbeat,
    member: &MemberRecord,
    epoch: u64,
) -> HeartbeatReply {
    if !is_numbered_lower(member, heartbeat)
        && let Some(reply) = correction::judge(draft, heartbeat, member, epoch)
    {
        return reply;
    }
    let is_refused =
        draft.group().settings().plants(Fault::PreviousEpochRefused) && epoch != member.epoch.get();
    if !draft.group().accepts_epoch(member, epoch) || is_refused {
        // Rule H15.
        return refuse(draft.group(), HeartbeatStatus::Fenced);
    }
    let is_previous = epoch < member.epoch.get();
    if is_older_message(draft.group(), member, heartbeat) {
        // Rule H14a.
        return answer::answer_overtaken(draft, heartbeat);
    }
    if is_previous && outside_authority(draft.group(), heartbeat).is_some() {
        // Rule E6 does not cover it, so rule H15 does.
        return refuse(draft.group(), HeartbeatStatus::Fenced);
    }
    report::report(draft, heartbeat)
}

/// Rule H14a: whether a message was sent before the last one that was processed.
///
/// Positions are recorded only with messages that change something. That is enough: what a quiet message says is what is recorded anyway, so one that
/// overtakes another quiet one changes nothing.
pub(super) fn is_older_message(
    group: &Group,
    member: &MemberRecord,
    heartbeat: &Heartbeat,
) -> bool {
    if group.settings().plants(Fault::OldMessageProcessed) {
        return false;
    }
    match (heartbeat.sequence, member.sequence) {
        (Some(_), Some(_)) => is_numbered_lower(member, heartbeat),
        _ => {
            // A client without positions that claims what it let go of, and has not seen the version of its letting go, speaks from before it.
            let speaks_from_before = || {
                heartbeat.version < member.released_at
                    && outside_authority(group, heartbeat).is_some()
            };
            heartbeat.version < member.reported_version || speaks_from_before()
        }
    }
}

fn is_numbered_lower(member: &MemberRecord, heartbeat: &Heartbeat) -> bool {
    matches!((heartbeat.sequence, member.sequence), (Some(sent), Some(recorded)) if sent <= recorded)
}

/// The lowest shard that a heartbeat claims without authority. Rule O7.
///
/// What the member only claims to hold (rule C2) it may drain, and may own only as far as it is its target (rule C3).
pub(super) fn outside_authority(group: &Group, heartbeat: &Heartbeat) -> Option<ShardIndex> {
    let id = &heartbeat.member;
    let holding = |shard| group.member(id).and_then(|member| member.holding(shard));
    let may_own = |shard: ShardIndex| match holding(shard) {
        Some(holding) if holding.is_claim => group.record.target.of(id).contains(shard),
        _ => group.has_authority(id, shard),
    };
    let owned = heartbeat.owned.iter().filter(|shard| !may_own(*shard));
    let draining = heartbeat
        .draining()
        .filter(|shard| !group.has_authority(id, *shard));
    owned.chain(draining).min()
}

/// A refusal: the epochs that are known, and nothing to read.
pub(super) fn refuse(group: &Group, status: HeartbeatStatus) -> HeartbeatReply {
    HeartbeatReply {
        group_epoch: group.record.group_epoch,
        assignment_epoch: group.record.assignment_epoch,
        metadata_version: group.record.metadata_version,
        ..HeartbeatReply::without_group(status)
    }
}

fn is_superseded(member: &MemberRecord, heartbeat: &Heartbeat) -> bool {
    heartbeat
        .instance
        .as_ref()
        .is_some_and(|instance| member.superseded.contains(instance))
}
