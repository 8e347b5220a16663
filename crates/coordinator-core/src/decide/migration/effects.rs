//! What is to be done to shard streams, as the record asks for it: rules G1, G4, G5 and G6. A coordinator that comes later asks for the same.

use alloc::vec::Vec;

use super::is_seen_by_all;
use crate::group::Group;
use crate::migration::{LeavingPhase, MigrationState};
use crate::planted::Fault;
use crate::shard_set::ShardSet;
use crate::step::Effect;

/// What the change under way asks for now.
pub(in crate::decide) fn effects(group: &Group) -> Vec<Effect> {
    let Some(migration) = &group.record.migration else {
        return Vec::new();
    };
    if group.record.lineage.is_settling() {
        return Vec::new();
    }
    let resharding = migration.id.clone();
    let ignores_holders = group.settings().plants(Fault::RetiredWhileHeld);
    let effect = match migration.state {
        MigrationState::Preparing => {
            let shards = migration.to.shards_beyond(migration.from).collect();
            Some(Effect::Provision { resharding, shards })
        }
        MigrationState::Draining | MigrationState::RollingBack => {
            let draining: ShardSet = migration.leaving_in(LeavingPhase::Draining).collect();
            let drained: ShardSet = migration.leaving_in(LeavingPhase::Drained).collect();
            if !draining.is_empty() {
                is_seen_by_all(group, migration).then_some(Effect::ReadDrainEvidence {
                    resharding,
                    shards: draining,
                })
            } else if !drained.is_empty()
                && drained
                    .iter()
                    .all(|shard| group.holders(shard) == 0 || ignores_holders)
            {
                // Quarantines count: who was cut off may still be reading.
                Some(Effect::Retire {
                    resharding,
                    shards: drained,
                })
            } else {
                None
            }
        }
        MigrationState::Active | MigrationState::Deprecated | MigrationState::RolledBack => None,
    };
    effect.into_iter().collect()
}
