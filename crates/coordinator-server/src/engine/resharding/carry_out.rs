//! A plan is carried out, and the groups are told what came of it.

use coordinator_core::evidence::ShardEvidence;
use coordinator_core::generations::Generations;
use coordinator_core::input::Input;
use coordinator_core::migration::Migration;
use coordinator_core::names::{ConsumerGroup, ReshardingId, StreamPrefix};
use coordinator_core::numbers::ShardIndex;
use coordinator_core::resharding::{GroupView, HandOn, Plan, plan};
use coordinator_core::shard_set::ShardSet;
use coordinator_core::step::{Reply, ScaleReply};
use store::{PlaneError, Provision};

use super::{LookedAt, Progress};
use crate::engine::{Engine, EngineError};

impl Engine {
    pub(super) async fn carry_out(
        &self,
        stream: &StreamPrefix,
        looked: LookedAt,
        to_do: Plan,
    ) -> Result<Progress, EngineError> {
        match to_do {
            Plan::HandOn(hand_on) => self.hand_on(hand_on).await,
            Plan::Provision { change, shards } => self.provision(stream, &change, &shards).await,
            Plan::Look { change, shards } => {
                self.look_at_shards(stream, &change, &shards, &looked).await
            }
            Plan::Retire {
                change,
                shards,
                are_gone: true,
            } => {
                self.tell_retired(&looked.groups, &change, shards).await?;
                Ok(Progress::Went)
            }
            Plan::Retire { change, shards, .. } => {
                self.retire(stream, &looked.groups, &change, &shards).await
            }
        }
    }

    async fn hand_on(&self, hand_on: Vec<HandOn>) -> Result<Progress, EngineError> {
        let mut progress = Progress::Waits;
        for it in hand_on {
            let told = self.tell(&it.group, it.input, Some(it.under)).await?;
            if told.reply != Reply::Scale(ScaleReply::NothingToDo) {
                progress = Progress::Went;
            }
        }
        Ok(progress)
    }

    /// Rule G1. The lives are asked before the records are looked at again: what was taken back in between is not made.
    async fn provision(
        &self,
        stream: &StreamPrefix,
        change: &ReshardingId,
        shards: &ShardSet,
    ) -> Result<Progress, EngineError> {
        let Some(plane) = &self.0.deps.plane else {
            let looked = self.look_at_stream(stream).await?;
            return self
                .tell_provisioned(&looked.groups, change, Generations::default())
                .await;
        };
        let seen = plane.lives(stream, shards).await?;
        let looked = self.look_at_stream(stream).await?;
        let is_still_asked = matches!(
            plan(&looked.groups),
            Some(Plan::Provision { change: now, shards: to_make }) if now == *change && to_make == *shards
        );
        if !is_still_asked {
            return Ok(Progress::Went);
        }
        let order = Provision {
            stream: stream.clone(),
            shards: shards.clone(),
            groups: coordinated(&looked.groups),
            new_group: None,
            origin: change.as_str().to_owned(),
            seen,
        };
        match plane.provision(&order).await {
            Ok(made) => {
                self.tell_provisioned(&looked.groups, change, made.generations)
                    .await
            }
            // Somebody else has gone further: it is to be looked at again.
            Err(PlaneError::OtherLife { .. }) => Ok(Progress::Waits),
            Err(error) => Err(error.into()),
        }
    }

    async fn tell_provisioned(
        &self,
        looked: &[GroupView],
        change: &ReshardingId,
        generations: Generations,
    ) -> Result<Progress, EngineError> {
        let input = Input::MigrationProvisioned {
            resharding: change.clone(),
            generations,
        };
        for group in looked {
            // Under a newer doubt another group may have lost the change: it is to have it first.
            let under = Some(group.doubted_at);
            match self.tell(&group.record.id, input.clone(), under).await {
                Ok(_) | Err(EngineError::GroupNotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Progress::Went)
    }

    /// Rule G4: what stands against each shard is recorded by every group. Once no producer may use an old route any more, exact publishing is refused.
    async fn look_at_shards(
        &self,
        stream: &StreamPrefix,
        change: &Migration,
        shards: &ShardSet,
        looked: &LookedAt,
    ) -> Result<Progress, EngineError> {
        let coordinated = coordinated(&looked.groups);
        let evidence = match &self.0.deps.plane {
            // Rule G11.
            None => shards
                .iter()
                .map(|shard| (shard, ShardEvidence::NotApplicable))
                .collect(),
            Some(plane) => {
                let lease = self.0.resharding.routing_lease;
                let is_decided = looked
                    .groups
                    .iter()
                    .all(|group| !may_go_back(group, change));
                if is_decided && change.updated_at.plus(lease) <= looked.now {
                    plane.seal(stream, shards).await?;
                }
                readable(stream, plane.evidence(stream, shards).await)
            }
        };
        let proof = self.settings().drain_proof();
        let refused: Vec<Input> = evidence
            .iter()
            .map(|(shard, evidence)| (*shard, evidence.open_conditions(&coordinated, proof)))
            .filter(|(_, open)| !open.is_empty())
            .map(|(shard, open)| Input::RetireRefused {
                resharding: change.id.clone(),
                shard,
                open,
            })
            .collect();
        let is_drained = refused.is_empty() && evidence.len() == shards.len();
        let observed = Input::DrainObserved {
            resharding: change.id.clone(),
            evidence,
            coordinated,
        };
        let looked = self.look_at_stream(stream).await?;
        self.tell_all(&looked.groups, &observed).await?;
        // A group that has gone further, and thinks a shard empty that is not, is to read it again (rule G5).
        for input in &refused {
            self.tell_all(&looked.groups, input).await?;
        }
        Ok(if is_drained {
            Progress::Went
        } else {
            Progress::Waits
        })
    }

    pub(super) async fn tell_retired(
        &self,
        looked: &[GroupView],
        change: &ReshardingId,
        shards: ShardSet,
    ) -> Result<(), EngineError> {
        let input = Input::ShardsRetired {
            resharding: change.clone(),
            shards,
        };
        self.tell_all(looked, &input).await
    }

    pub(super) async fn tell_all(
        &self,
        looked: &[GroupView],
        input: &Input,
    ) -> Result<(), EngineError> {
        for group in looked {
            match self.tell(&group.record.id, input.clone(), None).await {
                // It was deleted meanwhile.
                Ok(_) | Err(EngineError::GroupNotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }
}

/// Whether the group may still take the change back: its shards then stay, and must not be sealed.
fn may_go_back(group: &GroupView, change: &Migration) -> bool {
    group
        .active()
        .is_some_and(|it| it.id == change.id && it.state.may_be_taken_back())
}

/// The consumer groups that coordinators know of a stream.
pub(super) fn coordinated(looked: &[GroupView]) -> Vec<ConsumerGroup> {
    let groups = looked.iter().map(|group| group.record.id.group.clone());
    groups.collect()
}

/// What could be read; a shard that could not is not proven, and is said to be so (case C04).
fn readable(
    stream: &StreamPrefix,
    evidence: Vec<(ShardIndex, Result<ShardEvidence, PlaneError>)>,
) -> Vec<(ShardIndex, ShardEvidence)> {
    let read = |(shard, evidence): (ShardIndex, Result<ShardEvidence, PlaneError>)| match evidence {
        Ok(evidence) => Some((shard, evidence)),
        Err(error) => {
            tracing::warn!(%stream, %shard, %error, "a shard that leaves can't be looked at");
            None
        }
    };
    evidence.into_iter().filter_map(read).collect()
}
