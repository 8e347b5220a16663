//! What a change of the shard count does by itself when members have done their part: rules G2, G4 to G6 and G8. Repeatable; runs after every command.

use super::is_seen_by_all;
use crate::draft::Draft;
use crate::migration::{LeavingPhase, MigrationState};
use crate::state::GroupState;
use crate::write::Write;

/// Takes the change as far as it goes.
pub(in crate::decide) fn advance(draft: &mut Draft<'_>) {
    let Some(migration) = &draft.group().record.migration else {
        return;
    };
    if draft.group().record.lineage.is_settling() {
        // What members have seen and hold is not known yet.
        return;
    }
    let at = draft.clock().now;
    let only_adds = migration.leaving.is_empty();
    let all_retired = migration
        .leaving
        .iter()
        .all(|it| it.phase == LeavingPhase::Retired);
    match migration.state {
        // Rule G2: everybody reads what it should, or nobody is there.
        MigrationState::Active
            if only_adds
                && matches!(
                    draft.group().state(),
                    GroupState::Stable | GroupState::Empty
                ) =>
        {
            finish(draft, MigrationState::Deprecated);
        }
        // Rule G4: no live member is no reason to wait (rule G6).
        MigrationState::Active if !only_adds && is_seen_by_all(draft.group(), migration) => {
            let (seen_from, leaving) = (migration.seen_from, migration.leaving.clone());
            draft.write(Write::MigrationMoved {
                state: MigrationState::Draining,
                at,
                seen_from,
                leaving,
            });
            draft.raise_version();
        }
        MigrationState::Draining if all_retired => finish(draft, MigrationState::Deprecated),
        MigrationState::RollingBack if all_retired => finish(draft, MigrationState::RolledBack),
        _ => {}
    }
}

fn finish(draft: &mut Draft<'_>, state: MigrationState) {
    let at = draft.clock().now;
    draft.write(Write::MigrationFinished { state, at });
    draft.raise_version();
}
