//! Taking a change back: rule G8.

use super::{changing_assignable, current, move_to};
use crate::draft::Draft;
use crate::migration::{MigrationState, leaving};
use crate::names::ReshardingId;
use crate::planted::Fault;
use crate::step::Rejection;
use crate::write::Write;

/// Rule G8: the count goes back, and what the change had added is read to its end and retired like in a scale-in. Repeating it changes nothing.
pub(in crate::decide) fn rollback(
    draft: &mut Draft<'_>,
    resharding: &ReshardingId,
) -> Result<(), Rejection> {
    let Some(migration) = current(draft.group(), resharding) else {
        let finished = draft.group().record.finished_migrations.iter().rev();
        return match finished
            .into_iter()
            .find(|it| it.id == *resharding)
            .map(|it| it.state)
        {
            Some(MigrationState::RolledBack) => Ok(()),
            Some(state) => Err(Rejection::RollbackNotAllowed { state }),
            None => Err(Rejection::UnknownMigration {
                wanted: resharding.clone(),
            }),
        };
    };
    match migration.state {
        MigrationState::Preparing | MigrationState::Active => {}
        MigrationState::RollingBack => return Ok(()),
        state => return Err(Rejection::RollbackNotAllowed { state }),
    }
    let (from, to) = (migration.from, migration.to);
    changing_assignable(draft, |draft| {
        if draft.group().record.shard_count != from {
            draft.write(Write::ShardCountChanged { to: from });
        }
        // Added shards may have been written to, or half made: they too are gone only when proven empty.
        let mut leaving = leaving(to, from);
        if draft.group().settings().plants(Fault::RollbackDropsAdded) {
            leaving.clear();
        }
        move_to(draft, MigrationState::RollingBack, leaving);
    });
    Ok(())
}
