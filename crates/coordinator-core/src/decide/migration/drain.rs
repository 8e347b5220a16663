//! Shards on their way out: looked at, proven empty, taken away, or kept after all. Rules G4 and G5.

use alloc::vec::Vec;

use super::{changing_assignable, current, is_seen_by_all};
use crate::draft::Draft;
use crate::evidence::{Open, OpenCondition, ShardEvidence};
use crate::migration::{LeavingPhase, LeavingShard, MigrationState};
use crate::names::{ConsumerGroup, ReshardingId};
use crate::numbers::ShardIndex;
use crate::planted::Fault;
use crate::shard_set::ShardSet;
use crate::write::Write;

/// Rules G4 and G5: notes what stands against each shard; once nothing does against any, all of them leave the assignable set together.
pub(in crate::decide) fn drain_observed(
    draft: &mut Draft<'_>,
    resharding: &ReshardingId,
    evidence: &[(ShardIndex, ShardEvidence)],
    coordinated: &[ConsumerGroup],
) {
    let Some(migration) = current(draft.group(), resharding) else {
        return;
    };
    let is_draining = matches!(
        migration.state,
        MigrationState::Draining | MigrationState::RollingBack
    );
    let is_settling = draft.group().record.lineage.is_settling();
    if is_settling || !is_draining || !is_seen_by_all(draft.group(), migration) {
        return;
    }
    let proof = draft.group().settings().drain_proof();
    let find = |shard: ShardIndex| {
        evidence
            .iter()
            .find(|(seen, _)| *seen == shard)
            .map(|(_, evidence)| evidence)
    };
    let mut looked_at = Vec::new();
    let mut all_proven = true;
    for leaving in migration
        .leaving
        .iter()
        .filter(|it| it.phase == LeavingPhase::Draining)
    {
        let Some(evidence) = find(leaving.shard) else {
            all_proven = false;
            continue;
        };
        let mut open = evidence.open_conditions(coordinated, proof);
        if draft.group().settings().plants(Fault::LagIsProof) {
            open.retain(|it| matches!(it.condition, Open::Lag(_)));
        }
        all_proven &= open.is_empty();
        looked_at.push((leaving.clone(), open));
    }
    changing_assignable(draft, |draft| {
        for (before, open) in looked_at {
            let phase = if all_proven {
                LeavingPhase::Drained
            } else {
                LeavingPhase::Draining
            };
            let leaving = LeavingShard {
                shard: before.shard,
                phase,
                open: Some(open),
            };
            if leaving != before {
                draft.write(Write::LeavingShardChanged { leaving });
            }
        }
    });
}

/// Rule G5: the shards are gone, proven empty in the same step.
pub(in crate::decide) fn shards_retired(
    draft: &mut Draft<'_>,
    resharding: &ReshardingId,
    shards: &ShardSet,
) {
    let Some(migration) = current(draft.group(), resharding) else {
        return;
    };
    let retired: Vec<ShardIndex> = migration
        .leaving_in(LeavingPhase::Drained)
        .filter(|shard| shards.contains(*shard))
        .collect();
    for shard in retired {
        let leaving = LeavingShard {
            shard,
            phase: LeavingPhase::Retired,
            open: Some(Vec::new()),
        };
        draft.write(Write::LeavingShardChanged { leaving });
    }
}

/// Rule G5: something was written between the evidence and the retirement. The shard becomes assignable again, so that it is read.
pub(in crate::decide) fn retire_refused(
    draft: &mut Draft<'_>,
    resharding: &ReshardingId,
    shard: ShardIndex,
    open: &[OpenCondition],
) {
    let Some(migration) = current(draft.group(), resharding) else {
        return;
    };
    if !migration
        .leaving_in(LeavingPhase::Drained)
        .any(|drained| drained == shard)
    {
        return;
    }
    changing_assignable(draft, |draft| {
        let leaving = LeavingShard {
            shard,
            phase: LeavingPhase::Draining,
            open: Some(open.to_vec()),
        };
        draft.write(Write::LeavingShardChanged { leaving });
    });
}
