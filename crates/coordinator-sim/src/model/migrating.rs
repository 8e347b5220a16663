//! Changes of the shard count in the model: what is asked, and what a coordinator does to the streams.

use std::sync::Arc;

use coordinator_core::evidence::{Open, OpenCondition};
use coordinator_core::generations::Generations;
use coordinator_core::input::Input;
use coordinator_core::names::{ConsumerGroup, ReshardingId};
use coordinator_core::numbers::{ShardCount, ShardIndex};
use coordinator_core::shard_set::ShardSet;
use coordinator_core::step::Effect;

use super::World;
use super::bounds::spend;
use super::configuration::STEP_MS;
use super::seen::Reached;
use super::state::State;

/// The name of the only change.
const CHANGE: &str = "change";

impl World {
    /// Another number of shards is asked for.
    pub(super) fn scale(&self, state: &mut State) -> Option<()> {
        spend(&mut state.left.scales)?;
        let input = Input::ScaleRequested {
            resharding: ReshardingId::new(CHANGE),
            target: ShardCount::new(self.configuration.scale_to),
        };
        self.tell(state, &input)
    }

    /// That is taken back.
    pub(super) fn roll_back(&self, state: &mut State) -> Option<()> {
        spend(&mut state.left.rollbacks)?;
        let resharding = ReshardingId::new(CHANGE);
        self.tell(
            state,
            &Input::RollbackRequested {
                resharding,
                is_decided: false,
            },
        )
    }

    /// What the group asks for is done; unless the coordinator ends before, the group is told.
    pub(super) fn carry_out(&self, state: &mut State, tells: bool) -> Option<()> {
        if !tells {
            spend(&mut state.left.aborts)?;
        }
        let clock = state.clock(STEP_MS);
        let step = state.store.group.decide(clock, &Input::TickDue).ok()?;
        let to_streams = |effect: &Effect| !matches!(effect, Effect::DoubtWrites { .. });
        match step.effects.into_iter().find(to_streams)? {
            Effect::Provision { resharding, shards } => {
                state.streams.provision(&shards);
                self.tell_if(
                    tells,
                    state,
                    &Input::MigrationProvisioned {
                        resharding,
                        generations: Generations::default(),
                    },
                )
            }
            Effect::ReadDrainEvidence { shards, .. } => {
                let seen = shards.iter().map(|shard| {
                    let shard = shard.get();
                    (shard, state.streams.get(shard))
                });
                let evidence = Some(seen.collect());
                // A coordinator that ends with what it has read has not read it.
                if !tells || state.streams.evidence == evidence {
                    return None;
                }
                state.streams.evidence = evidence;
                Some(())
            }
            Effect::DoubtWrites { .. } => None,
            Effect::Retire { resharding, shards } => self.retire(state, resharding, &shards, tells),
        }
    }

    /// The group is told what was read, perhaps long ago.
    pub(super) fn observe(&self, state: &mut State) -> Option<()> {
        let group = own_group(state);
        let evidence = state.streams.evidence.take()?;
        let evidence = evidence
            .into_iter()
            .map(|(shard, stream)| (ShardIndex::new(shard), stream.evidence(&group)));
        let input = Input::DrainObserved {
            resharding: ReshardingId::new(CHANGE),
            evidence: evidence.collect(),
            coordinated: vec![group],
        };
        self.tell(state, &input)
    }

    /// Each shard is taken away, if the same step proves it drained (rule G5, invariant 6).
    fn retire(
        &self,
        state: &mut State,
        resharding: ReshardingId,
        shards: &ShardSet,
        tells: bool,
    ) -> Option<()> {
        let group = own_group(state);
        let proof = self.settings.drain_proof();
        let mut refused: Option<(ShardIndex, Vec<OpenCondition>)> = None;
        let mut retired = Vec::new();
        for shard in shards {
            let stream = state.streams.get(shard.get());
            let evidence = stream.evidence(&group);
            let mut open = evidence.open_conditions(std::slice::from_ref(&group), proof);
            if self.configuration.store_faults.retires_by_lag {
                open.retain(|it| matches!(it.condition, Open::Lag(_)));
            }
            if !open.is_empty() {
                refused.get_or_insert((shard, open));
                continue;
            }
            let readers = state.readers(shard.get(), state.now_ms(STEP_MS));
            if stream.exists && (!stream.is_drained() || readers > 0) {
                let what = format!("shard {shard} is retired as {stream:?} with {readers} readers");
                state.accuse("6", what);
            }
            if let Some(stream) = state.streams.get_mut(shard.get()) {
                stream.exists = false;
            }
            retired.push(shard);
        }
        let input = match refused {
            Some((shard, open)) => {
                self.seen.note(Reached::RetireRefused);
                Input::RetireRefused {
                    resharding,
                    shard,
                    open,
                }
            }
            None => Input::ShardsRetired {
                resharding,
                shards: retired.into_iter().collect(),
            },
        };
        self.tell_if(tells, state, &input)
    }

    fn tell_if(&self, tells: bool, state: &mut State, input: &Input) -> Option<()> {
        if tells {
            self.tell(state, input)
        } else {
            Some(())
        }
    }

    fn tell(&self, state: &mut State, input: &Input) -> Option<()> {
        let pending = self.decide(state, input, None)?;
        if pending.writes.is_empty() {
            return Some(());
        }
        self.commit_now(state, &pending).ok()
    }

    /// An entry is published, by a producer whose route may be old.
    pub(super) fn publish(&self, state: &mut State, shard: u8) -> Option<()> {
        spend(&mut state.left.published)?;
        let stream = state.streams.get_mut(shard.into())?;
        stream.unread += stream.exists.then_some(1)?;
        Some(())
    }

    /// All that is unread of a shard is given to whoever reads it.
    pub(super) fn read(&self, state: &mut State, shard: u8) -> Option<()> {
        let now_ms = state.now_ms(STEP_MS);
        if state.readers(shard.into(), now_ms) == 0 {
            return None;
        }
        let stream = state.streams.get_mut(shard.into())?;
        let unread = std::mem::take(&mut stream.unread);
        stream.pending += unread;
        (unread > 0).then_some(())
    }

    /// What is pending of a shard is handled by whoever reads it.
    pub(super) fn acknowledge(&self, state: &mut State, shard: u8) -> Option<()> {
        let now_ms = state.now_ms(STEP_MS);
        if state.readers(shard.into(), now_ms) == 0 {
            return None;
        }
        let stream = state.streams.get_mut(shard.into())?;
        let pending = std::mem::take(&mut stream.pending);
        (pending > 0).then_some(())
    }

    /// Redis counts wrongly from now on (rule G4).
    pub(super) fn lie(&self, state: &mut State, shard: u8) -> Option<()> {
        spend(&mut state.left.false_lags)?;
        let stream = state.streams.get_mut(shard.into())?;
        if stream.lies || !stream.exists {
            return None;
        }
        stream.lies = true;
        Some(())
    }
}

fn own_group(state: &State) -> ConsumerGroup {
    state.store.group.id().group.clone()
}

/// What must be true of the streams beside the record: what exists and is not proven empty has an owner, and nothing is forgotten.
pub(super) fn stranded(state: &State) -> Option<(&'static str, Arc<str>)> {
    use coordinator_core::migration::LeavingPhase;
    let record = state.store.group.record();
    let has_targets = record.members.values().any(|member| member.is_target());
    for (shard, stream) in (0_u32..).zip(&state.streams.shards) {
        let shard = ShardIndex::new(shard);
        if !stream.exists || record.shard_count.contains(shard) {
            continue;
        }
        let Some(migration) = &record.migration else {
            return Some((
                "6",
                format!("shard {shard} exists as {stream:?} and no change speaks of it").into(),
            ));
        };
        let is_draining = migration
            .leaving_in(LeavingPhase::Draining)
            .any(|it| it == shard);
        if is_draining && has_targets && record.target.owner(shard).is_none() {
            return Some((
                "3",
                format!("shard {shard} leaves, and nobody is to read {stream:?}").into(),
            ));
        }
    }
    None
}
