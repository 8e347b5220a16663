//! How long a correction round lasts, and what it keeps from happening: rules C4, C5 and H18.

use crate::draft::Draft;
use crate::group::Group;
use crate::input::Heartbeat;
use crate::member::MemberRecord;
use crate::planted::Fault;
use crate::step::{HeartbeatStatus, Rejection};
use crate::write::Write;

/// Rule C4: the round ends when every live member acts on what the store has, and nobody waits for a shard that another still holds.
pub(in crate::decide) fn close_if_settled(draft: &mut Draft<'_>) {
    let group = draft.group();
    if group.record.lineage.correction.is_none() {
        return;
    }
    let closes_early = group.settings().plants(Fault::RoundClosesEarly);
    let is_settled = group.live_members().all(|(id, member)| {
        let is_waiting = group.pending(id).next().is_some() && !closes_early;
        is_synchronised(group, member) && !is_waiting
    });
    if is_settled {
        draft.write(Write::CorrectionClosed);
        draft.raise_version();
    }
}

/// Whether a member has reported on what the store has: with an epoch that was issued after the loss. One that leaves has nothing to learn.
fn is_synchronised(group: &Group, member: &MemberRecord) -> bool {
    let sent = member.previous_epoch.unwrap_or(member.epoch).get();
    let is_told = member.has_reported && !group.record.lineage.is_before_loss(sent);
    is_told || !member.is_target()
}

/// Rule C5: nobody changes the group while it is not known what its members have.
pub(in crate::decide) fn check_settled(group: &Group) -> Result<(), Rejection> {
    match group.record.lineage.correction {
        Some(_) => Err(Rejection::MetadataSyncInProgress),
        None => Ok(()),
    }
}

/// Rule C8: during a hold it is not known who reads, so that nobody can be taken not to.
pub(in crate::decide) fn check_known(group: &Group) -> Result<(), Rejection> {
    match group.record.lineage.hold_until {
        Some(_) => Err(Rejection::MetadataSyncInProgress),
        None => Ok(()),
    }
}

/// Rules H6, H18 and C8: how a live member is answered. Only OK lets it start a shard.
pub(in crate::decide) fn status(draft: &Draft<'_>, heartbeat: &Heartbeat) -> HeartbeatStatus {
    let lineage = &draft.group().record.lineage;
    let is_report = heartbeat.epoch > 0;
    if lineage.correction.is_some() && is_report && heartbeat.version != draft.version_met() {
        HeartbeatStatus::SyncMetadata
    } else if lineage.is_settling() {
        HeartbeatStatus::RevokePending
    } else {
        HeartbeatStatus::Ok
    }
}
