//! What a report settles of what its sender holds: rules O5, O5a and O6.

use alloc::vec::Vec;

use crate::draft::Draft;
use crate::group::Group;
use crate::holding::{Holding, Phase};
use crate::input::{EpochClaim, Heartbeat};
use crate::numbers::ShardIndex;
use crate::planted::Fault;
use crate::shard_set::ShardSet;
use crate::write::Write;

/// What a report says of one shard.
struct Claims {
    owned: ShardSet,
    draining: ShardSet,
    /// Whether it was made under an epoch from before a loss of writes: versions of two histories can't be compared (rule C3).
    is_of_lost_view: bool,
}

impl Claims {
    fn of(heartbeat: &Heartbeat, group: &Group) -> Self {
        let lineage = &group.record.lineage;
        let is_before_loss =
            |claim| matches!(claim, EpochClaim::At(epoch) if lineage.is_before_loss(epoch));
        Self {
            owned: heartbeat.owned.clone(),
            draining: heartbeat.draining().collect(),
            is_of_lost_view: heartbeat.claim().is_some_and(is_before_loss),
        }
    }

    fn phase(&self, shard: ShardIndex) -> Option<Phase> {
        if self.draining.contains(shard) {
            Some(Phase::Draining)
        } else {
            self.owned.contains(shard).then_some(Phase::Owned)
        }
    }

    /// Rules O5 and O5a: the shard is not claimed, by a report that was sent after the shard became the sender's.
    fn release(&self, holding: &Holding, heartbeat: &Heartbeat) -> bool {
        !self.is_of_lost_view
            && self.phase(holding.shard).is_none()
            && heartbeat.version >= holding.since
    }
}

/// Takes over which of its shards a live member still claims, and releases the others.
pub(super) fn settle_member(draft: &mut Draft<'_>, heartbeat: &Heartbeat) {
    let claims = Claims::of(heartbeat, draft.group());
    let Some(member) = draft.group().member(&heartbeat.member) else {
        return;
    };
    let unheld = |shard: &ShardIndex| !member.holds(*shard);
    let claimed_anew: Vec<ShardIndex> = heartbeat.claimed().iter().filter(unheld).collect();
    let held = member.holdings.clone();
    let releases_late = draft.group().settings().plants(Fault::LateReportReleases);
    for shard in claimed_anew {
        // Within the authority though never told: it is held from now on, whatever earlier reports say (rule O5a).
        let since = draft.raise_version();
        draft.write(Write::ShardGranted {
            member: heartbeat.member.clone(),
            shard,
            since,
        });
        note_phase(draft, heartbeat, &claims, shard, Phase::Granted);
    }
    for holding in held {
        let has_left_target = || {
            let target = draft.group().record.target.of(&heartbeat.member);
            claims.phase(holding.shard).is_none() && !target.contains(holding.shard)
        };
        if claims.release(&holding, heartbeat) || (releases_late && has_left_target()) {
            let at = draft.raise_version();
            draft.write(Write::ShardReleased {
                member: heartbeat.member.clone(),
                shard: holding.shard,
                at,
            });
        } else {
            note_phase(draft, heartbeat, &claims, holding.shard, holding.phase);
            accept_claim(draft, heartbeat, &claims, &holding);
        }
    }
}

/// What a member claimed and still owns, now that it acts on what the store has, is its own if nobody else holds it (rule C2).
fn accept_claim(draft: &mut Draft<'_>, heartbeat: &Heartbeat, claims: &Claims, holding: &Holding) {
    let is_owned = claims.phase(holding.shard) == Some(Phase::Owned);
    if holding.is_claim && is_owned && !draft.group().is_blocked(&heartbeat.member, holding.shard) {
        draft.write(Write::ClaimAccepted {
            member: heartbeat.member.clone(),
            shard: holding.shard,
        });
    }
}

fn note_phase(
    draft: &mut Draft<'_>,
    heartbeat: &Heartbeat,
    claims: &Claims,
    shard: ShardIndex,
    recorded: Phase,
) {
    if let Some(phase) = claims.phase(shard).filter(|phase| *phase != recorded) {
        draft.write(Write::ShardReported {
            member: heartbeat.member.clone(),
            shard,
            phase,
        });
    }
}

/// Rule O6: a fenced process that reports, under the epoch it had, without a shard has let go of it.
///
/// While writes may be lost it is not known what the report was about (rule C3).
pub(super) fn settle_quarantine(draft: &mut Draft<'_>, heartbeat: &Heartbeat) {
    if draft.group().record.lineage.is_settling() {
        return;
    }
    let claims = Claims::of(heartbeat, draft.group());
    let is_its_own = |epoch: u64| heartbeat.claim() == Some(EpochClaim::At(epoch));
    let mut quarantines = draft.group().record.quarantines.iter();
    let Some(quarantine) = quarantines.find(|quarantine| {
        quarantine.member == heartbeat.member
            && is_its_own(quarantine.epoch.get())
            && quarantine.instance == heartbeat.instance
    }) else {
        return;
    };
    let epoch = quarantine.epoch;
    let (released, kept): (Vec<_>, Vec<_>) = quarantine
        .holdings
        .iter()
        .copied()
        .partition(|holding| claims.release(holding, heartbeat));
    if released.is_empty() {
        return;
    }
    draft.raise_version();
    if kept.is_empty() {
        draft.write(Write::QuarantineEnded {
            member: heartbeat.member.clone(),
            epoch,
        });
        return;
    }
    for holding in released {
        let shard = holding.shard;
        draft.write(Write::QuarantineShardReleased {
            member: heartbeat.member.clone(),
            epoch,
            shard,
        });
    }
}
