//! What a member is told, and what must be recorded before: rules E5, O4, O8, H16, H17 and H19.

use alloc::vec::Vec;

use super::{correction, migration, release};
use crate::draft::Draft;
use crate::input::Heartbeat;
use crate::names::MemberId;
use crate::numbers::{MemberEpoch, ShardIndex};
use crate::step::HeartbeatReply;
use crate::write::Write;

/// Answers a live member with today's decision, and records what this answer grants.
pub(super) fn answer(draft: &mut Draft<'_>, heartbeat: &Heartbeat) -> HeartbeatReply {
    let id = &heartbeat.member;
    correction::close_if_settled(draft);
    migration::advance(draft);
    release::demand(draft, id);
    issue_epoch(draft, id, None);
    grant(draft, heartbeat);
    view(draft, heartbeat)
}

/// Answers a member that acts on what the store has lost: what it may keep, and the epoch by which it is known to have heard so (rule C2).
///
/// Of the epochs before, only the one that it sent stays good: another process that was given one in the lost writes is none of its copies.
pub(super) fn answer_settling(
    draft: &mut Draft<'_>,
    heartbeat: &Heartbeat,
    sent: u64,
) -> HeartbeatReply {
    let id = &heartbeat.member;
    release::demand(draft, id);
    issue_epoch(draft, id, Some(MemberEpoch::new(sent)));
    view(draft, heartbeat)
}

/// Answers a member that asks again to join: today's decision under the epoch that it has. Rule H10.
///
/// The process may have heard the first answer and know its epoch only: one issued here could push that one out.
pub(super) fn answer_replayed(draft: &mut Draft<'_>, heartbeat: &Heartbeat) -> HeartbeatReply {
    let id = &heartbeat.member;
    release::demand(draft, id);
    grant(draft, heartbeat);
    view(draft, heartbeat)
}

/// Gives a process that asks again to join a new epoch if it has one from before a loss of writes: an answer from then is worth nothing to it, and copies of
/// what it said under the old epoch must not count any more (rule C7).
pub(super) fn issue_epoch_after_loss(draft: &mut Draft<'_>, heartbeat: &Heartbeat) {
    let id = &heartbeat.member;
    let group = draft.group();
    let is_before_loss = |epoch: MemberEpoch| group.record.lineage.is_before_loss(epoch.get());
    if group
        .member(id)
        .is_some_and(|member| is_before_loss(member.epoch))
    {
        issue_epoch(draft, id, None);
    }
}

/// Answers a message that was overtaken: what the member has been told already, and nothing new. Rule H14a.
///
/// Whoever sent it may have moved on. An epoch issued here could push out the one that the member knows, and leave it fenced (invariant 9).
pub(super) fn answer_overtaken(draft: &Draft<'_>, heartbeat: &Heartbeat) -> HeartbeatReply {
    view(draft, heartbeat)
}

/// Rule E5: the member is given the epoch of the assignment it is told. Rule E6: until it has sent that one, the epoch that it sent last, and
/// what it was given since, stay good. `sent` is the former where the record does not have it.
fn issue_epoch(draft: &mut Draft<'_>, id: &MemberId, sent: Option<MemberEpoch>) {
    let Some(member) = draft.group().member(id) else {
        return;
    };
    let record = &draft.group().record;
    let epoch = record.assignment_epoch.as_member();
    let is_before_loss = |epoch: MemberEpoch| record.lineage.is_before_loss(epoch.get());
    let recorded = member.previous_epoch.unwrap_or(member.epoch);
    let sent = sent.filter(|sent| *sent < epoch);
    let previous = sent.unwrap_or(recorded);
    let is_first_after_loss = !is_before_loss(epoch) && is_before_loss(member.epoch);
    let before_loss = sent
        .or(member.epoch_before_loss)
        .or(is_first_after_loss.then_some(member.epoch));
    if epoch > member.epoch || (previous != recorded && epoch == member.epoch) {
        draft.write(Write::EpochIssued {
            member: id.clone(),
            epoch,
            previous,
            before_loss,
        });
    }
}

/// Rules O4 and H16: what the answer assigns is recorded as held before it is said.
///
/// Rule O5a: the version of the grant is above that of the message that is answered, so that no copy of it releases what this answer grants.
fn grant(draft: &mut Draft<'_>, heartbeat: &Heartbeat) {
    let id = &heartbeat.member;
    let group = draft.group();
    if group.record.lineage.is_settling() {
        // Rules C8 and H18: what others may have been given is not known yet.
        return;
    }
    let is_held = |shard: &ShardIndex| group.member(id).is_some_and(|member| member.holds(*shard));
    let granted: Vec<ShardIndex> = group.assigned(id).filter(|shard| !is_held(shard)).collect();
    let is_known = heartbeat.version >= group.record.metadata_version;
    if is_known && !granted.is_empty() {
        draft.raise_version();
    }
    let since = draft.group().record.metadata_version;
    for shard in granted {
        draft.write(Write::ShardGranted {
            member: id.clone(),
            shard,
            since,
        });
    }
}

/// Rule H16: the answer is a view of what is recorded, and what it assigns is held. Rule H19: a leaving member's target is empty, and so
/// are its sets. Rules H18 and C8: while writes may be lost, only what the member owns by its own word is assigned.
fn view(draft: &Draft<'_>, heartbeat: &Heartbeat) -> HeartbeatReply {
    let group = draft.group();
    let id = &heartbeat.member;
    let is_settling = group.record.lineage.is_settling();
    let is_had = |shard: &ShardIndex| !is_settling || heartbeat.owned.contains(*shard);
    let is_held = |shard: &ShardIndex| group.member(id).is_some_and(|member| member.holds(*shard));
    let (assigned, pending): (Vec<ShardIndex>, Vec<ShardIndex>) = group
        .record
        .target
        .of(id)
        .iter()
        .partition(|shard| is_held(shard) && is_had(shard) && !group.is_blocked(id, *shard));
    let generation = |shard: &ShardIndex| Some((*shard, group.record.generations.of(*shard)?));
    HeartbeatReply {
        status: correction::status(draft, heartbeat),
        member_epoch: group.member(id).map_or(0, |member| member.epoch.get()),
        group_epoch: group.record.group_epoch,
        assignment_epoch: group.record.assignment_epoch,
        metadata_version: group.record.metadata_version,
        generations: assigned.iter().filter_map(generation).collect(),
        assigned: assigned.into_iter().collect(),
        pending: pending.into_iter().collect(),
        progress: heartbeat
            .progress
            .iter()
            .filter(|shard| group.has_authority(id, *shard))
            .collect(),
    }
}
