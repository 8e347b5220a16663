//! What is to be done next about a stream's change of its shard count, from what all groups of the stream have recorded. Rules G1, G4, G5, G8 and G10.
//! Decides nothing of one group, and does nothing: whoever drives a change carries a plan out and tells the groups what came of it.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;

use crate::group::Group;
use crate::input::Input;
use crate::migration::{Migration, MigrationState};
use crate::names::{GroupId, ReshardingId};
use crate::record::GroupRecord;
use crate::shard_set::ShardSet;
use crate::step::Effect;
use crate::time::{Clock, Timestamp};
use crate::write::Write;

/// A group of the stream as it was looked at.
#[derive(Clone, Debug)]
pub struct GroupView {
    /// Its record.
    pub record: Arc<GroupRecord>,
    /// What it asks for; nothing while it has something to record first.
    pub effect: Option<Effect>,
    /// The latest doubt that was known of it, acted on or not (rule C8).
    pub doubted_at: Option<Timestamp>,
}

/// What is to be done.
#[derive(Clone, Debug)]
pub enum Plan {
    /// Groups do not have the change that others have, or have not taken it back as others have.
    HandOn(Vec<HandOn>),
    /// Streams are to be made, for all groups (rule G1). To be bound to the lives in which the shards were before the groups were looked at; and what came
    /// of it to be told to each group under the doubt under which it was looked at, since another one may have lost the change.
    Provision {
        /// The change.
        change: ReshardingId,
        /// The shards.
        shards: ShardSet,
    },
    /// Shards are to be looked at (rule G4).
    Look {
        /// The change.
        change: Migration,
        /// The shards.
        shards: ShardSet,
    },
    /// Every group asks for shards to be taken away (rule G5). To be done under the right to change all of them, and bound as [`Plan::Provision`] is.
    Retire {
        /// The change.
        change: ReshardingId,
        /// The shards.
        shards: ShardSet,
        /// Whether a group is through with the change: then its shards were taken away already, and what is there now is not this change's.
        are_gone: bool,
    },
}

/// A group is told what another one has decided. That was seen under a doubt: under a newer one the other may not have decided it any more (rule C8).
#[derive(Clone, Debug)]
pub struct HandOn {
    /// The group.
    pub group: GroupId,
    /// What it is told.
    pub input: Input,
    /// Under which doubt.
    pub under: Option<Timestamp>,
}

impl Group {
    /// What the record asks to be done to the shard streams, unless time alone changes something in it.
    #[must_use]
    pub fn asks_for(&self, clock: Clock) -> Option<Effect> {
        let step = self.decide(clock, &Input::TickDue).ok()?;
        let is_quiet = step
            .writes
            .iter()
            .all(|write| matches!(write, Write::LeaseSet { .. }));
        step.effects.into_iter().next().filter(|_| is_quiet)
    }
}

impl GroupView {
    /// The change under way.
    #[must_use]
    pub fn active(&self) -> Option<&Migration> {
        self.record.migration.as_ref()
    }

    /// Whether the group asks for these shards to be taken away, on account of this change.
    #[must_use]
    pub fn asks_to_retire(&self, change: &ReshardingId, shards: &ShardSet) -> bool {
        let has_it = self.active().is_some_and(|active| active.id == *change);
        has_it
            && matches!(&self.effect, Some(Effect::Retire { shards: asked, .. }) if shards.is_subset(asked))
    }

    /// How far the group is with a change, if it has it or had it.
    fn state_of(&self, change: &ReshardingId) -> Option<MigrationState> {
        self.record.change(change).map(|it| it.state)
    }

    fn is_through(&self, change: &ReshardingId) -> bool {
        let mut finished = self.record.finished_migrations.iter();
        finished.any(|it| it.id == *change)
    }
}

/// The next thing to be done; nothing where no group has a change, or all wait.
#[must_use]
pub fn plan(groups: &[GroupView]) -> Option<Plan> {
    let Some(change) = earliest(groups) else {
        return left_behind(groups).map(|hand_on| Plan::HandOn(vec![hand_on]));
    };
    for hand_on in [not_taken_back(groups, change), without(groups, change)] {
        if !hand_on.is_empty() {
            return Some(Plan::HandOn(hand_on));
        }
    }
    // Rule G1: nothing is made before every group has recorded the change.
    let has = |group: &GroupView| group.state_of(&change.id).is_some();
    if !groups.iter().all(has) {
        return None;
    }
    of_effects(groups, change)
}

/// The change to go on with: one that some groups are through with already comes before one that they have begun since.
fn earliest(groups: &[GroupView]) -> Option<&Migration> {
    let active = || groups.iter().filter_map(GroupView::active);
    let is_over_elsewhere =
        |change: &&Migration| groups.iter().any(|group| group.is_through(&change.id));
    active().find(is_over_elsewhere).or_else(|| active().next())
}

/// No group has a change, and one has another count than the rest: it lost what it had recorded of a change that others are through with (rules C8 and G10).
/// One at a time, so that no two groups take each other's count.
fn left_behind(groups: &[GroupView]) -> Option<HandOn> {
    let finished = groups.iter().flat_map(|group| {
        let changes = group.record.finished_migrations.iter().rev();
        changes.map(move |change| (group, change))
    });
    finished.into_iter().find_map(|(through, change)| {
        if change.state.is_taken_back() {
            return not_taken_back(groups, change).into_iter().next();
        }
        let count = through.record.shard_count;
        let lacks = |group: &&GroupView| {
            group.record.shard_count != count && group.state_of(&change.id).is_none()
        };
        let group = groups.iter().find(lacks).filter(|_| change.to == count)?;
        Some(to_begin(group, change))
    })
}

/// The groups that have not taken back a change that another one takes back (rule G8).
fn not_taken_back(groups: &[GroupView], change: &Migration) -> Vec<HandOn> {
    let mut states = groups.iter().filter_map(|group| group.state_of(&change.id));
    if !states.any(MigrationState::is_taken_back) {
        return Vec::new();
    }
    let lags = |group: &&GroupView| {
        let state = group.state_of(&change.id);
        state.is_some_and(|state| !state.is_taken_back())
    };
    let hand_on = |group: &GroupView| HandOn {
        group: group.record.id.clone(),
        input: Input::RollbackRequested {
            resharding: change.id.clone(),
            is_decided: true,
        },
        under: group.doubted_at,
    };
    groups.iter().filter(lags).map(hand_on).collect()
}

/// The groups that do not have the change, nor another one (rule G10).
fn without(groups: &[GroupView], change: &Migration) -> Vec<HandOn> {
    let lacks = |group: &&GroupView| group.active().is_none() && !group.is_through(&change.id);
    let lacking = groups.iter().filter(lacks);
    lacking.map(|group| to_begin(group, change)).collect()
}

fn to_begin(group: &GroupView, change: &Migration) -> HandOn {
    HandOn {
        group: group.record.id.clone(),
        input: Input::ScaleRequested {
            resharding: change.id.clone(),
            target: change.to,
        },
        under: group.doubted_at,
    }
}

/// What the groups' records ask for, taken together: first what any asks for, and what ends a stream only if all do.
fn of_effects(groups: &[GroupView], change: &Migration) -> Option<Plan> {
    let has_it = |group: &&GroupView| group.active().is_some_and(|it| it.id == change.id);
    let find = |wanted: fn(&Effect) -> Option<&ShardSet>| {
        let of_it = groups.iter().filter(has_it);
        of_it.filter_map(|it| it.effect.as_ref()).find_map(wanted)
    };
    if let Some(shards) = find(|effect| match effect {
        Effect::Provision { shards, .. } => Some(shards),
        _ => None,
    }) {
        return Some(Plan::Provision {
            change: change.id.clone(),
            shards: shards.clone(),
        });
    }
    if let Some(shards) = find(|effect| match effect {
        Effect::ReadDrainEvidence { shards, .. } => Some(shards),
        _ => None,
    }) {
        return Some(Plan::Look {
            change: change.clone(),
            shards: shards.clone(),
        });
    }
    let to_retire = find(|effect| match effect {
        Effect::Retire { shards, .. } => Some(shards),
        _ => None,
    })?;
    // A group that is through with the change asks for nothing any more.
    let agrees =
        |group: &GroupView| !has_it(&group) || matches!(group.effect, Some(Effect::Retire { .. }));
    groups.iter().all(agrees).then(|| Plan::Retire {
        change: change.id.clone(),
        shards: to_retire.clone(),
        are_gone: groups.iter().any(|group| group.is_through(&change.id)),
    })
}
