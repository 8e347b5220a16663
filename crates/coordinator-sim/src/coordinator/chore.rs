//! What a change of the shard count asks for, carried out in stages: look at the records, do it to the streams, tell the groups. Any
//! coordinator goes on where another ended. Rules G1, G4, G5 and G10.

use coordinator_core::evidence::ShardEvidence;
use coordinator_core::generations::Generations;
use coordinator_core::input::Input;
use coordinator_core::migration::{Migration, MigrationState};
use coordinator_core::names::ReshardingId;
use coordinator_core::numbers::ShardIndex;
use coordinator_core::shard_set::ShardSet;
use coordinator_core::step::Effect;
use coordinator_core::time::Timestamp;
use coordinator_core::write::Write;

use super::{Ask, doubt_of};
use crate::streams::Streams;
use crate::world::World;

/// How far it is.
#[derive(Debug)]
pub(crate) enum Chore {
    /// What is to be done is known.
    Do(Plan),
    /// It is done; the groups are to be told.
    Tell(Vec<(usize, Ask)>),
}

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Plan {
    /// Groups do not have the change that others have, or have not taken it back as others have.
    Join(Vec<(usize, Ask)>),
    /// Streams are to be made, for all groups (rule G1).
    Provision {
        resharding: ReshardingId,
        /// In which life each shard was when it was looked at: what was made and taken back since is not made again.
        shards: Vec<(ShardIndex, u64)>,
    },
    /// Shards are to be looked at (rule G4).
    Look {
        resharding: ReshardingId,
        shards: ShardSet,
    },
    /// Every group asks for shards to be taken away (rule G5).
    Retire {
        resharding: ReshardingId,
        /// Which lives: one that was begun since is another one.
        streams: Vec<(ShardIndex, Option<u64>)>,
    },
}

/// A group as it was looked at: its migrations, and what its record asks for.
struct Looked {
    active: Option<Migration>,
    finished: Vec<(ReshardingId, MigrationState)>,
    effect: Option<Effect>,
    doubted_at: Option<Timestamp>,
}

impl World {
    /// Goes on by one stage. Says whether there was anything to do.
    pub(crate) fn work_on_chore(&mut self, coordinator: usize) -> bool {
        let now = self.now;
        let Some(it) = self
            .coordinators
            .get_mut(coordinator)
            .filter(|it| it.is_awake(now))
        else {
            return false;
        };
        match it.chore.take() {
            None => {
                let plan = self.look_for_chores(coordinator);
                let found = plan.is_some();
                self.coordinators[coordinator].chore = plan.map(Chore::Do);
                found
            }
            Some(Chore::Do(plan)) => {
                self.note("chore", || format!("coordinator {coordinator}: {plan:?}"));
                let news = if self.is_still_asked(coordinator, &plan) {
                    self.carry_out(plan)
                } else {
                    Vec::new()
                };
                self.coordinators[coordinator].chore = Some(Chore::Tell(news));
                true
            }
            Some(Chore::Tell(news)) => {
                for (group, ask) in news {
                    self.coordinators[coordinator].tasks[group]
                        .queue
                        .push_back(ask);
                }
                true
            }
        }
    }

    /// What is taken away is taken away under the right to change the groups that ask for it: in between they may have taken the shard back, and given it to
    /// somebody (rule G5).
    fn is_still_asked(&mut self, coordinator: usize, plan: &Plan) -> bool {
        let Plan::Retire { streams, .. } = plan else {
            return true;
        };
        let now = self.look_for_chores(coordinator);
        matches!(now, Some(Plan::Retire { streams: now, .. }) if now == *streams)
    }

    fn look_for_chores(&mut self, coordinator: usize) -> Option<Plan> {
        let looked: Vec<Looked> = (0..self.setup.groups)
            .map(|group| self.look_at_group(coordinator, group))
            .collect::<Option<_>>()?;
        let active = earliest(&looked)?.clone();
        let behind = not_taken_back(&looked, &active);
        let joins = missing(&looked, &active);
        for asks in [behind, joins] {
            if !asks.is_empty() {
                return Some(Plan::Join(asks));
            }
        }
        plan(&looked, &active, &self.streams)
    }

    /// Nothing where the store is away or the group has something to record first.
    fn look_at_group(&mut self, coordinator: usize, group: usize) -> Option<Looked> {
        let snapshot = self.store.load(group, self.now).ok()?;
        let doubted_at = doubt_of(&snapshot);
        let mut clock = self.clock(coordinator, group, snapshot.now);
        clock.doubted_at = clock.doubted_at.max(snapshot.doubted_at);
        // What the work on the group goes by is left alone: it may be in the middle of a decision.
        let cached = self.restore(group, snapshot)?;
        let step = cached.group.decide(clock, &Input::TickDue).ok()?;
        let is_quiet = step
            .writes
            .iter()
            .all(|write| matches!(write, Write::LeaseSet { .. }));
        let record = cached.group.record();
        Some(Looked {
            active: record.migration.clone(),
            finished: record
                .finished_migrations
                .iter()
                .map(|migration| (migration.id.clone(), migration.state))
                .collect(),
            effect: step.effects.into_iter().next().filter(|_| is_quiet),
            doubted_at,
        })
    }

    fn carry_out(&mut self, plan: Plan) -> Vec<(usize, Ask)> {
        match plan {
            Plan::Join(news) => news,
            Plan::Provision { resharding, shards } => {
                let made = shards
                    .iter()
                    .filter(|(shard, life)| self.streams.provision(shard.get(), *life));
                if made.count() < shards.len() {
                    // Somebody else has gone further: it is to be looked at again.
                    return Vec::new();
                }
                self.to_all(&Input::MigrationProvisioned {
                    resharding,
                    generations: Generations::default(),
                })
            }
            Plan::Look { resharding, shards } => {
                let evidence = shards
                    .iter()
                    .map(|shard| (shard, self.streams.evidence(shard.get())));
                let observed = Input::DrainObserved {
                    resharding: resharding.clone(),
                    evidence: evidence.collect(),
                    coordinated: self.streams.groups().to_vec(),
                };
                let refused = shards
                    .iter()
                    .filter_map(|shard| self.refusal(&resharding, shard));
                // A group that has gone further, and thinks a shard empty that is not, is to read it again (rule G5).
                let inputs: Vec<Input> = std::iter::once(observed).chain(refused).collect();
                inputs.iter().flat_map(|input| self.to_all(input)).collect()
            }
            Plan::Retire {
                resharding,
                streams,
            } => {
                let retired = streams
                    .iter()
                    .map(|(shard, life)| self.retire(&resharding, *shard, *life));
                let inputs: Vec<Input> = retired.collect();
                inputs.iter().flat_map(|input| self.to_all(input)).collect()
            }
        }
    }

    /// Looks, and takes the stream away in the same step if nothing stands against it (rule G5).
    fn retire(&mut self, resharding: &ReshardingId, shard: ShardIndex, life: Option<u64>) -> Input {
        let is_it = life == Some(self.streams.life(shard.get()));
        if let Some(refusal) = self.refusal(resharding, shard).filter(|_| is_it) {
            self.counts.retire_refused += 1;
            return refusal;
        }
        if is_it {
            if self.streams.has(shard.get()) {
                self.saw_retirement(shard.get());
            }
            self.streams.end_life(shard.get());
        }
        Input::ShardsRetired {
            resharding: resharding.clone(),
            shards: ShardSet::from_iter([shard]),
        }
    }

    fn refusal(&self, resharding: &ReshardingId, shard: ShardIndex) -> Option<Input> {
        let evidence: ShardEvidence = self.streams.evidence(shard.get());
        let proof = self.setup.settings.drain_proof();
        let open = evidence.open_conditions(self.streams.groups(), proof);
        (!open.is_empty()).then(|| Input::RetireRefused {
            resharding: resharding.clone(),
            shard,
            open,
        })
    }

    fn to_all(&self, input: &Input) -> Vec<(usize, Ask)> {
        let groups = 0..self.setup.groups;
        groups
            .map(|group| (group, Ask::Input(Box::new(input.clone()))))
            .collect()
    }
}

impl Looked {
    /// How far the group is with a change, if it has it or had it.
    fn state_of(&self, change: &Migration) -> Option<MigrationState> {
        let active = self.active.iter().map(|it| (&it.id, it.state));
        let finished = self.finished.iter().map(|(id, state)| (id, *state));
        let mut known = active.chain(finished);
        known
            .find(|(id, _)| **id == change.id)
            .map(|(_, state)| state)
    }

    fn is_through(&self, change: &Migration) -> bool {
        self.finished.iter().any(|(id, _)| *id == change.id)
    }
}

/// The groups that have not taken back a change that another one takes back (rule G8).
fn not_taken_back(looked: &[Looked], change: &Migration) -> Vec<(usize, Ask)> {
    let is_back = |state| {
        matches!(
            state,
            MigrationState::RollingBack | MigrationState::RolledBack
        )
    };
    let is_decided = looked
        .iter()
        .filter_map(|group| group.state_of(change))
        .any(is_back);
    let lags = |group: &Looked| group.state_of(change).is_some_and(|state| !is_back(state));
    let behind = looked.iter().enumerate();
    behind
        .filter(|(_, group)| is_decided && lags(group))
        .map(|(group, looked)| {
            let input = Input::RollbackRequested {
                resharding: change.id.clone(),
                is_decided: true,
            };
            let ask = Ask::Admin {
                input: Box::new(input),
                doubted_at: looked.doubted_at,
            };
            (group, ask)
        })
        .collect()
}

/// The change to go on with: one that some groups are through with already comes before one that they have begun since.
fn earliest(looked: &[Looked]) -> Option<&Migration> {
    let active = || looked.iter().filter_map(|group| group.active.as_ref());
    let is_over_elsewhere = |migration: &&Migration| {
        let mut finished = looked.iter().flat_map(|group| &group.finished);
        finished.any(|(id, _)| *id == migration.id)
    };
    active().find(is_over_elsewhere).or_else(|| active().next())
}

/// Whether a group has the change, or is through with it.
fn has(group: &Looked, active: &Migration) -> bool {
    let has = |migration: &Migration| migration.id == active.id;
    group.active.as_ref().is_some_and(has) || group.is_through(active)
}

fn missing(looked: &[Looked], active: &Migration) -> Vec<(usize, Ask)> {
    let lacks = |group: &Looked| group.active.is_none() && !group.is_through(active);
    let groups = looked.iter().enumerate().filter(|(_, group)| lacks(group));
    let join = |(group, looked): (usize, &Looked)| {
        let ask = Ask::Join {
            resharding: active.id.clone(),
            target: active.to,
            doubted_at: looked.doubted_at,
        };
        (group, ask)
    };
    groups.map(join).collect()
}

/// What the groups' records ask for, taken together.
fn plan(looked: &[Looked], active: &Migration, streams: &Streams) -> Option<Plan> {
    // Rule G1: nothing is made before every group has recorded the change.
    if !looked.iter().all(|group| has(group, active)) {
        return None;
    }
    let resharding = active.id.clone();
    let of_it = |group: &&Looked| {
        let is_it = |migration: &Migration| migration.id == active.id;
        group.active.as_ref().is_some_and(is_it)
    };
    let effects = || {
        looked
            .iter()
            .filter(of_it)
            .filter_map(|group| group.effect.clone())
    };
    let to_make = effects().find_map(|effect| match effect {
        Effect::Provision { shards, .. } => Some(shards),
        _ => None,
    });
    if let Some(shards) = to_make {
        let in_life = |shard: ShardIndex| (shard, streams.life(shard.get()));
        let shards = shards.iter().map(in_life).collect();
        return Some(Plan::Provision { resharding, shards });
    }
    let to_look_at = effects().find_map(|effect| match effect {
        Effect::ReadDrainEvidence { shards, .. } => Some(shards),
        _ => None,
    });
    if let Some(shards) = to_look_at {
        return Some(Plan::Look { resharding, shards });
    }
    let to_retire = effects().find_map(|effect| match effect {
        Effect::Retire { shards, .. } => Some(shards),
        _ => None,
    });
    // A group that is through with the change asks for nothing any more.
    let asks =
        |group: &Looked| !of_it(&group) || matches!(group.effect, Some(Effect::Retire { .. }));
    let shards = to_retire.filter(|_| looked.iter().all(asks))?;
    // Where a group is through with the change, its shards were taken away: what is there now was made anew, and is not this change's.
    let are_gone = looked.iter().any(|group| group.is_through(active));
    let of_this_change = |shard: ShardIndex| (!are_gone).then(|| streams.life(shard.get()));
    let streams = shards.iter().map(|shard| (shard, of_this_change(shard)));
    Some(Plan::Retire {
        resharding,
        streams: streams.collect(),
    })
}
