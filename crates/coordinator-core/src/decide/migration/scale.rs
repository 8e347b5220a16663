//! Asking for another number of shards, and going over to it: rules G1, G2, G3, G7 and G9.

use super::{changing_assignable, current, move_to};
use crate::draft::Draft;
use crate::generations::Generations;
use crate::migration::{Migration, MigrationState, leaving};
use crate::names::ReshardingId;
use crate::numbers::ShardCount;
use crate::step::{Rejection, ScaleReply};
use crate::write::Write;

/// Rule G9: records the change, or finds that there is nothing to do, or another one under way. A change that is over is not begun again.
pub(in crate::decide) fn scale(
    draft: &mut Draft<'_>,
    resharding: &ReshardingId,
    target: ShardCount,
) -> Result<ScaleReply, Rejection> {
    if let Some(active) = &draft.group().record.migration {
        let is_same = active.state == MigrationState::Preparing && active.to == target;
        return if is_same {
            Ok(ScaleReply::Resumed(active.id.clone()))
        } else {
            Err(Rejection::ActiveMigration {
                active: active.id.clone(),
            })
        };
    }
    let from = draft.group().record.shard_count;
    let mut finished = draft.group().record.finished_migrations.iter();
    if from == target || finished.any(|migration| migration.id == *resharding) {
        return Ok(ScaleReply::NothingToDo);
    }
    let migration = Migration::new(resharding.clone(), from, target, draft.clock().now);
    draft.write(Write::MigrationStarted { migration });
    draft.raise_version();
    Ok(ScaleReply::Started(resharding.clone()))
}

/// Rules G1 to G3: the streams exist. Producers go to the new count; shards that leave stay assignable, so that what is in them is read.
pub(in crate::decide) fn provisioned(
    draft: &mut Draft<'_>,
    resharding: &ReshardingId,
    generations: &Generations,
) {
    let Some(migration) = current(draft.group(), resharding) else {
        return;
    };
    if migration.state != MigrationState::Preparing {
        return;
    }
    let (from, to) = (migration.from, migration.to);
    changing_assignable(draft, |draft| {
        note_generations(draft, generations);
        draft.write(Write::ShardCountChanged { to });
        move_to(draft, MigrationState::Active, leaving(from, to));
    });
}

/// Records which lives streams are in, where that is told and not known.
pub(in crate::decide) fn note_generations(draft: &mut Draft<'_>, generations: &Generations) {
    let known = &draft.group().record.generations;
    let is_known = |(shard, generation)| known.of(shard) == Some(generation);
    if !generations.iter().all(is_known) {
        let generations = generations.clone();
        draft.write(Write::GenerationsNoted { generations });
    }
}
