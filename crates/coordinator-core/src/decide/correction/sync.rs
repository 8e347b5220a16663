//! Members that act on a view which the store has lost: rules H5, H6 and C2.

use super::super::{answer, recompute, report};
use super::doubt;
use crate::draft::Draft;
use crate::holding::Phase;
use crate::input::Heartbeat;
use crate::lineage::{Correction, is_plausible};
use crate::member::MemberRecord;
use crate::step::{HeartbeatReply, HeartbeatStatus};
use crate::write::{FenceCause, Write};

/// Rules H5 and H6: what a live member is answered that speaks of what the store has lost; nothing if it does not.
///
/// Its view is a lost one if it knows a version that the store does not, or, in a round, if its epoch is older than the loss: a version that is
/// equal by chance proves nothing.
pub(in crate::decide) fn judge(
    draft: &mut Draft<'_>,
    heartbeat: &Heartbeat,
    member: &MemberRecord,
    epoch: u64,
) -> Option<HeartbeatReply> {
    let is_below = !draft.group().accepts_epoch(member, epoch) && epoch < member.epoch.get();
    let known = draft.group().known_epoch();
    if is_below || !is_plausible(epoch, known, draft.clock().now) {
        return None;
    }
    let lineage = &draft.group().record.lineage;
    let is_old_epoch = lineage.is_before_loss(epoch);
    let is_settling = lineage.is_settling();
    let knows_more = heartbeat.version > draft.group().record.metadata_version;
    if knows_more && (member.is_distrusted || (is_settling && !is_old_epoch)) {
        return Some(distrust(draft, heartbeat));
    }
    if knows_more && !is_settling {
        // Rule H5: a loss that is not known yet.
        doubt::doubt_by_report(draft, epoch);
    }
    let is_round = draft.group().record.lineage.correction.is_some();
    (knows_more || (is_round && is_old_epoch)).then(|| synchronise(draft, heartbeat, epoch))
}

/// Who has an epoch from after the loss was told what the store has. If it goes by another version all the same, it does not do as it is told: it would
/// hold the grants of every group with each of its reports (rule C8). It is fenced; what it says it has is kept from everybody for a lease.
fn distrust(draft: &mut Draft<'_>, heartbeat: &Heartbeat) -> HeartbeatReply {
    claim(draft, heartbeat);
    report::renew_lease(draft, heartbeat);
    let reported = heartbeat.version;
    report::fence_out(draft, heartbeat, FenceCause::UnknownVersion { reported })
}

/// A member that leaves and knows more than the store shows the same (rule H5). There is nothing to bring it up to date for: what it says it is still
/// draining counts as held by it (rule C2), and its leave is taken as it is.
pub(in crate::decide) fn note_leave(draft: &mut Draft<'_>, heartbeat: &Heartbeat) {
    if heartbeat.version <= draft.group().record.metadata_version {
        return;
    }
    let is_trusted = draft
        .group()
        .member(&heartbeat.member)
        .is_some_and(|member| !member.is_distrusted);
    if is_trusted && !draft.group().record.lineage.is_settling() {
        doubt::doubt_by_report(draft, 0);
    }
    claim(draft, heartbeat);
}

/// Rule C2: the member is told what it may keep. What it says it has counts as held by it; what it says it let go of is not believed yet (rule C3).
fn synchronise(draft: &mut Draft<'_>, heartbeat: &Heartbeat, epoch: u64) -> HeartbeatReply {
    open_round(draft, heartbeat);
    claim(draft, heartbeat);
    report::renew_lease(draft, heartbeat);
    recompute::recompute_if_due(draft);
    let reply = answer::answer_settling(draft, heartbeat, epoch);
    report::note_position(draft, heartbeat);
    HeartbeatReply {
        status: HeartbeatStatus::SyncMetadata,
        ..reply
    }
}

fn open_round(draft: &mut Draft<'_>, heartbeat: &Heartbeat) {
    let record = &draft.group().record;
    if record.lineage.correction.is_some() {
        return;
    }
    let correction = Correction {
        opened_at: draft.clock().now,
        version: record.metadata_version,
        reported: heartbeat.version,
    };
    draft.write(Write::CorrectionOpened { correction });
}

/// Rule C2: it may be reading what it says it has, whoever the recorded owner is.
fn claim(draft: &mut Draft<'_>, heartbeat: &Heartbeat) {
    let since = draft.group().record.metadata_version;
    let draining = heartbeat.draining().map(|shard| (shard, Phase::Draining));
    let owned = heartbeat.owned.iter().map(|shard| (shard, Phase::Owned));
    for (shard, phase) in draining.chain(owned) {
        let is_held = draft
            .group()
            .member(&heartbeat.member)
            .is_some_and(|member| member.holds(shard));
        if !is_held {
            draft.write(Write::ShardClaimed {
                member: heartbeat.member.clone(),
                shard,
                phase,
                since,
            });
        }
    }
}
