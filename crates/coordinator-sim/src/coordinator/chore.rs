//! What a change of the shard count asks for, carried out in stages: look at the records, do it to the streams, tell the groups. Any
//! coordinator goes on where another ended. What is to be done is planned by the core; rules G1, G4, G5 and G10.

use coordinator_core::evidence::ShardEvidence;
use coordinator_core::generations::Generations;
use coordinator_core::input::Input;
use coordinator_core::names::{GroupId, ReshardingId};
use coordinator_core::numbers::ShardIndex;
use coordinator_core::resharding::{GroupView, Plan, plan};
use coordinator_core::shard_set::ShardSet;
use coordinator_core::time::Timestamp;

use super::{Ask, doubt_of};
use crate::world::World;

/// How far it is.
#[derive(Debug)]
pub(crate) enum Chore {
    /// What is to be done is known.
    Do(Plan, Ground),
    /// It is done; the groups are to be told.
    Tell(Vec<(usize, Ask)>),
}

/// What a plan stands on.
#[derive(Debug, PartialEq)]
pub(crate) struct Ground {
    /// In which lives the shards were when the records were looked at: what was begun or ended since is not of this plan.
    lives: Vec<(ShardIndex, u64)>,
    /// The doubt of each group (rule C8).
    doubts: Vec<Option<Timestamp>>,
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
                let found = self.look_for_chores(coordinator);
                let is_found = found.is_some();
                self.coordinators[coordinator].chore =
                    found.map(|(plan, ground)| Chore::Do(plan, ground));
                is_found
            }
            Some(Chore::Do(plan, ground)) => {
                self.note("chore", || format!("coordinator {coordinator}: {plan:?}"));
                let news = if self.is_still_asked(coordinator, &plan, &ground) {
                    self.carry_out(plan, &ground)
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
    fn is_still_asked(&mut self, coordinator: usize, plan: &Plan, ground: &Ground) -> bool {
        if !matches!(plan, Plan::Retire { .. }) {
            return true;
        }
        let now = self.look_for_chores(coordinator);
        matches!(now, Some((Plan::Retire { .. }, now)) if now.lives == ground.lives)
    }

    fn look_for_chores(&mut self, coordinator: usize) -> Option<(Plan, Ground)> {
        let looked: Vec<GroupView> = (0..self.setup.groups)
            .map(|group| self.look_at_group(coordinator, group))
            .collect::<Option<_>>()?;
        let plan = plan(&looked)?;
        let shards = match &plan {
            Plan::Provision { shards, .. } | Plan::Retire { shards, .. } => shards.clone(),
            Plan::HandOn(_) | Plan::Look { .. } => ShardSet::new(),
        };
        let lives = shards
            .iter()
            .map(|shard| (shard, self.streams.life(shard.get())));
        let ground = Ground {
            lives: lives.collect(),
            doubts: looked.iter().map(|group| group.doubted_at).collect(),
        };
        Some((plan, ground))
    }

    /// Nothing where the store is away.
    fn look_at_group(&mut self, coordinator: usize, group: usize) -> Option<GroupView> {
        let snapshot = self.store.load(group, self.now).ok()?;
        let doubted_at = doubt_of(&snapshot);
        let mut clock = self.clock(coordinator, group, snapshot.now);
        clock.doubted_at = clock.doubted_at.max(snapshot.doubted_at);
        // What the work on the group goes by is left alone: it may be in the middle of a decision.
        let record = std::sync::Arc::clone(&snapshot.record);
        let cached = self.restore(group, snapshot)?;
        Some(GroupView {
            record,
            effect: cached.group.asks_for(clock),
            doubted_at,
        })
    }

    /// The place of a group among those of the world.
    fn place_of(&self, group: &GroupId) -> Option<usize> {
        let mut groups = self.streams.groups().iter();
        groups.position(|known| *known == group.group)
    }

    fn carry_out(&mut self, plan: Plan, ground: &Ground) -> Vec<(usize, Ask)> {
        let lives = &ground.lives;
        match plan {
            Plan::HandOn(hand_on) => {
                let asks = hand_on.into_iter().filter_map(|it| {
                    let ask = Ask::Admin {
                        input: Box::new(it.input),
                        doubted_at: it.under,
                    };
                    Some((self.place_of(&it.group)?, ask))
                });
                asks.collect()
            }
            Plan::Provision { change, .. } => {
                let made = lives
                    .iter()
                    .filter(|(shard, life)| self.streams.provision(shard.get(), *life));
                if made.count() < lives.len() {
                    // Somebody else has gone further: it is to be looked at again.
                    return Vec::new();
                }
                let input = Input::MigrationProvisioned {
                    resharding: change,
                    generations: Generations::default(),
                };
                let doubts = ground.doubts.iter().enumerate();
                let ask = |doubted_at: &Option<Timestamp>| Ask::Admin {
                    input: Box::new(input.clone()),
                    doubted_at: *doubted_at,
                };
                doubts.map(|(group, doubt)| (group, ask(doubt))).collect()
            }
            Plan::Look { change, shards } => {
                let resharding = change.id;
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
                change, are_gone, ..
            } => {
                let retired = lives.iter().map(|(shard, life)| {
                    let life = (!are_gone).then_some(*life);
                    self.retire(&change, *shard, life)
                });
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
