//! Taking a change back: rule G8.

use super::{changing_assignable, current, move_to};
use crate::draft::Draft;
use crate::migration::{MigrationState, leaving};
use crate::names::ReshardingId;
use crate::planted::Fault;
use crate::step::Rejection;
use crate::write::Write;

/// Rule G8: the count goes back, and what the change had added is read to its end and retired like in a scale-in. Repeating it changes nothing.
///
/// All groups of a stream take a change back or none does. The first one to do so decides; one that has gone further meanwhile follows it. That is safe as
/// long as a group takes the change back: no shard is retired that not every group asks to retire.
pub(in crate::decide) fn rollback(
    draft: &mut Draft<'_>,
    resharding: &ReshardingId,
    is_decided: bool,
) -> Result<(), Rejection> {
    if current(draft.group(), resharding).is_none() {
        let finished = draft.group().record.finished_migrations.iter().rev();
        let finished = finished.into_iter().find(|it| it.id == *resharding);
        match finished.map(|it| it.state) {
            Some(MigrationState::RolledBack) => return Ok(()),
            Some(state) if !is_decided => return Err(Rejection::RollbackNotAllowed { state }),
            Some(_) => reopen(draft, resharding)?,
            None => {
                return Err(Rejection::UnknownMigration {
                    wanted: resharding.clone(),
                });
            }
        }
    }
    let Some(migration) = current(draft.group(), resharding) else {
        return Ok(());
    };
    match migration.state {
        MigrationState::Preparing | MigrationState::Active => {}
        MigrationState::RollingBack => return Ok(()),
        _ if is_decided => {}
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

/// A change that is over here and is taken back elsewhere is under way again.
fn reopen(draft: &mut Draft<'_>, resharding: &ReshardingId) -> Result<(), Rejection> {
    if let Some(active) = &draft.group().record.migration {
        return Err(Rejection::ActiveMigration {
            active: active.id.clone(),
        });
    }
    let id = resharding.clone();
    draft.write(Write::MigrationReopened { id });
    Ok(())
}
