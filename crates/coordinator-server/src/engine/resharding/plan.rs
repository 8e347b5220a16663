//! What is to be done next about a stream's change, from what all its groups have recorded. Pure. Rules G1, G4, G5, G8 and G10.

use coordinator_core::input::Input;
use coordinator_core::migration::{Migration, MigrationState};
use coordinator_core::names::{GroupId, ReshardingId};
use coordinator_core::shard_set::ShardSet;
use coordinator_core::step::Effect;
use coordinator_core::time::Timestamp;

use super::look::Looked;

/// What is to be done.
#[derive(Clone, Debug)]
pub(super) enum Plan {
    /// Groups do not have the change that others have, or have not taken it back as others have.
    HandOn(Vec<HandOn>),
    /// Streams are to be made, for all groups (rule G1).
    Provision {
        change: ReshardingId,
        shards: ShardSet,
    },
    /// Shards are to be looked at (rule G4).
    Look { change: Migration, shards: ShardSet },
    /// Every group asks for shards to be taken away (rule G5).
    Retire {
        change: ReshardingId,
        shards: ShardSet,
        /// Whether a group is through with the change: then its shards were taken away already, and what is there now is not this change's.
        are_gone: bool,
    },
}

/// A group is told what another one has decided. That was seen under a doubt: under a newer one the other may not have decided it any more (rule C8).
#[derive(Clone, Debug)]
pub(super) struct HandOn {
    pub(super) group: GroupId,
    pub(super) input: Input,
    pub(super) under: Option<Timestamp>,
}

/// The next thing to be done; nothing where no group has a change, or all wait.
pub(super) fn plan(looked: &[Looked]) -> Option<Plan> {
    let change = earliest(looked)?;
    for hand_on in [not_taken_back(looked, change), without(looked, change)] {
        if !hand_on.is_empty() {
            return Some(Plan::HandOn(hand_on));
        }
    }
    // Rule G1: nothing is made before every group has recorded the change.
    let has = |group: &Looked| group.state_of(&change.id).is_some();
    if !looked.iter().all(has) {
        return None;
    }
    of_effects(looked, change)
}

/// The change to go on with: one that some groups are through with already comes before one that they have begun since.
fn earliest(looked: &[Looked]) -> Option<&Migration> {
    let active = || looked.iter().filter_map(Looked::active);
    let is_over_elsewhere =
        |change: &&Migration| looked.iter().any(|group| group.is_through(&change.id));
    active().find(is_over_elsewhere).or_else(|| active().next())
}

/// The groups that have not taken back a change that another one takes back (rule G8).
fn not_taken_back(looked: &[Looked], change: &Migration) -> Vec<HandOn> {
    let is_back = |state| {
        matches!(
            state,
            MigrationState::RollingBack | MigrationState::RolledBack
        )
    };
    let mut states = looked.iter().filter_map(|group| group.state_of(&change.id));
    if !states.any(is_back) {
        return Vec::new();
    }
    let lags = |group: &&Looked| {
        let state = group.state_of(&change.id);
        state.is_some_and(|state| !is_back(state))
    };
    let hand_on = |group: &Looked| HandOn {
        group: group.record.id.clone(),
        input: Input::RollbackRequested {
            resharding: change.id.clone(),
            is_decided: true,
        },
        under: group.doubted_at,
    };
    looked.iter().filter(lags).map(hand_on).collect()
}

/// The groups that do not have the change, nor another one (rule G10).
fn without(looked: &[Looked], change: &Migration) -> Vec<HandOn> {
    let lacks = |group: &&Looked| group.active().is_none() && !group.is_through(&change.id);
    let hand_on = |group: &Looked| HandOn {
        group: group.record.id.clone(),
        input: Input::ScaleRequested {
            resharding: change.id.clone(),
            target: change.to,
        },
        under: group.doubted_at,
    };
    looked.iter().filter(lacks).map(hand_on).collect()
}

/// What the groups' records ask for, taken together: first what any asks for, and what ends a stream only if all do.
fn of_effects(looked: &[Looked], change: &Migration) -> Option<Plan> {
    let has_it = |group: &&Looked| group.active().is_some_and(|it| it.id == change.id);
    let effects = || {
        looked
            .iter()
            .filter(has_it)
            .filter_map(|it| it.effect.as_ref())
    };
    let to_make = effects().find_map(|effect| match effect {
        Effect::Provision { shards, .. } => Some(shards.clone()),
        _ => None,
    });
    if let Some(shards) = to_make {
        let change = change.id.clone();
        return Some(Plan::Provision { change, shards });
    }
    let to_look_at = effects().find_map(|effect| match effect {
        Effect::ReadDrainEvidence { shards, .. } => Some(shards.clone()),
        _ => None,
    });
    if let Some(shards) = to_look_at {
        let change = change.clone();
        return Some(Plan::Look { change, shards });
    }
    let to_retire = effects().find_map(|effect| match effect {
        Effect::Retire { shards, .. } => Some(shards.clone()),
        _ => None,
    });
    // A group that is through with the change asks for nothing any more.
    let agrees =
        |group: &Looked| !has_it(&group) || matches!(group.effect, Some(Effect::Retire { .. }));
    let shards = to_retire.filter(|_| looked.iter().all(agrees))?;
    Some(Plan::Retire {
        change: change.id.clone(),
        shards,
        are_gone: looked.iter().any(|group| group.is_through(&change.id)),
    })
}
