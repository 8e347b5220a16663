//! A coordinator's shard plane on a real Redis, that falls silent when the coordinator dies: also with some shards of an order made and others not.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use coordinator_core::evidence::ShardEvidence;
use coordinator_core::names::{ConsumerGroup, StreamPrefix};
use coordinator_core::numbers::{GroupEpoch, ShardIndex};
use coordinator_core::shard_set::ShardSet;
use store::{
    Lives, MessagePage, MessageRange, PlaneError, Provision, Provisioned, Readiness, Retire,
    Retirement, ShardPlane, StreamOffsets,
};
use store_redis::RedisPlane;

use super::kill::Switch;
use super::ledger::Ledger;
use super::streams::Streams;

/// How shards are taken away.
pub enum Removal {
    /// As the product does: evidence and removal in one step.
    Atomic,
    /// Wrong on purpose: first the evidence is read, then the stream is deleted.
    InTwoSteps,
}

/// A producer with an old route, which writes at the worst moment.
pub struct StaleWriter {
    pub streams: Streams,
    pub ledger: Arc<Ledger>,
}

/// The plane of a coordinator that may die.
pub struct MortalPlane {
    pub redis: Arc<RedisPlane>,
    pub switch: Arc<Switch>,
    /// Whether all but the first shard of an order can't be made.
    pub is_short: AtomicBool,
    pub removal: Removal,
    /// Writes once to each shard, when it was looked at for the last time.
    pub stale: Option<StaleWriter>,
}

impl MortalPlane {
    async fn make(&self, order: &Provision, shard: ShardIndex) -> Result<Provisioned, PlaneError> {
        let one = Provision {
            shards: ShardSet::from_iter([shard]),
            ..order.clone()
        };
        let name = format!("provision of shard {shard}");
        self.switch.step(&name, self.redis.provision(&one)).await
    }

    async fn remove_in_two_steps(&self, order: &Retire) -> Result<Retirement, PlaneError> {
        let shards = ShardSet::from_iter([order.shard]);
        let looked = self.redis.evidence(&order.stream, &shards).await;
        for (_, evidence) in looked {
            let open = evidence?.open_conditions(&order.coordinated, order.proof);
            if !open.is_empty() {
                return Ok(Retirement::Refused(open));
            }
        }
        self.write_late(order.shard).await;
        if let Some(stale) = &self.stale {
            stale.streams.delete(order.shard.get()).await;
        }
        Ok(Retirement::Gone)
    }

    async fn write_late(&self, shard: ShardIndex) {
        if let Some(stale) = &self.stale {
            stale.streams.publish_late(shard.get(), &stale.ledger).await;
        }
    }
}

#[async_trait]
impl ShardPlane for MortalPlane {
    async fn check_room(&self, stream: &StreamPrefix, shards: &ShardSet) -> Result<(), PlaneError> {
        let checking = self.redis.check_room(stream, shards);
        self.switch.call(checking).await
    }

    async fn lives(&self, stream: &StreamPrefix, shards: &ShardSet) -> Result<Lives, PlaneError> {
        self.switch.call(self.redis.lives(stream, shards)).await
    }

    async fn provision(&self, order: &Provision) -> Result<Provisioned, PlaneError> {
        let mut made = Vec::new();
        let mut epochs_from = GroupEpoch::default();
        for shard in &order.shards {
            let one = self.make(order, shard).await?;
            made.extend(one.generations.iter());
            epochs_from = epochs_from.max(one.epochs_from);
            if self.is_short.load(Ordering::SeqCst) {
                return Err(PlaneError::Failed {
                    reason: "out of memory".to_owned(),
                    retryable: true,
                    source: None,
                });
            }
        }
        Ok(Provisioned {
            generations: made.into_iter().collect(),
            epochs_from,
        })
    }

    async fn evidence(
        &self,
        stream: &StreamPrefix,
        shards: &ShardSet,
    ) -> Vec<(ShardIndex, Result<ShardEvidence, PlaneError>)> {
        self.switch.call(self.redis.evidence(stream, shards)).await
    }

    async fn seal(&self, stream: &StreamPrefix, shards: &ShardSet) -> Result<(), PlaneError> {
        for shard in shards {
            let one = ShardSet::from_iter([shard]);
            let name = format!("seal of shard {shard}");
            self.switch
                .step(&name, self.redis.seal(stream, &one))
                .await?;
        }
        Ok(())
    }

    async fn unseal(&self, stream: &StreamPrefix, shards: &ShardSet) -> Result<(), PlaneError> {
        let unsealing = self.redis.unseal(stream, shards);
        self.switch.step("unsealing", unsealing).await
    }

    async fn retire(&self, order: &Retire) -> Result<Retirement, PlaneError> {
        let name = format!("retirement of shard {}", order.shard);
        match self.removal {
            Removal::Atomic => {
                self.write_late(order.shard).await;
                self.switch.step(&name, self.redis.retire(order)).await
            }
            Removal::InTwoSteps => {
                self.switch
                    .step(&name, self.remove_in_two_steps(order))
                    .await
            }
        }
    }

    async fn offsets(
        &self,
        stream: &StreamPrefix,
        group: &ConsumerGroup,
        shards: &ShardSet,
    ) -> Vec<(ShardIndex, Result<StreamOffsets, PlaneError>)> {
        self.switch
            .call(self.redis.offsets(stream, group, shards))
            .await
    }

    async fn messages(
        &self,
        stream: &StreamPrefix,
        range: &MessageRange,
    ) -> Result<MessagePage, PlaneError> {
        self.switch.call(self.redis.messages(stream, range)).await
    }

    async fn check_ready(&self) -> Result<Readiness, PlaneError> {
        self.switch.call(self.redis.check_ready()).await
    }
}
