//! A data plane that makes nothing, and waits for a permission to have done so.

use std::sync::Arc;

use async_trait::async_trait;
use coordinator_core::evidence::ShardEvidence;
use coordinator_core::names::{ConsumerGroup, StreamPrefix};
use coordinator_core::numbers::ShardIndex;
use coordinator_core::shard_set::ShardSet;
use store::{
    Lives, MessagePage, MessageRange, PlaneError, Provision, Provisioned, Readiness, Retire,
    Retirement, ShardPlane, StreamOffsets,
};
use tokio::sync::Semaphore;

pub struct SlowPlane(pub Arc<Semaphore>);

#[async_trait]
impl ShardPlane for SlowPlane {
    async fn check_room(&self, _: &StreamPrefix, _: &ShardSet) -> Result<(), PlaneError> {
        Ok(())
    }

    async fn lives(&self, _: &StreamPrefix, _: &ShardSet) -> Result<Lives, PlaneError> {
        Ok(Lives::default())
    }

    async fn provision(&self, _: &Provision) -> Result<Provisioned, PlaneError> {
        self.0.acquire().await.unwrap().forget();
        Ok(Provisioned::default())
    }

    async fn evidence(
        &self,
        _: &StreamPrefix,
        shards: &ShardSet,
    ) -> Vec<(ShardIndex, Result<ShardEvidence, PlaneError>)> {
        let looked = shards
            .iter()
            .map(|shard| (shard, Ok(ShardEvidence::Missing)));
        looked.collect()
    }

    async fn seal(&self, _: &StreamPrefix, _: &ShardSet) -> Result<(), PlaneError> {
        Ok(())
    }

    async fn unseal(&self, _: &StreamPrefix, _: &ShardSet) -> Result<(), PlaneError> {
        Ok(())
    }

    async fn retire(&self, _: &Retire) -> Result<Retirement, PlaneError> {
        Ok(Retirement::Gone)
    }

    async fn offsets(
        &self,
        _: &StreamPrefix,
        _: &ConsumerGroup,
        _: &ShardSet,
    ) -> Vec<(ShardIndex, Result<StreamOffsets, PlaneError>)> {
        Vec::new()
    }

    async fn messages(
        &self,
        _: &StreamPrefix,
        _: &MessageRange,
    ) -> Result<MessagePage, PlaneError> {
        Ok(MessagePage {
            messages: Vec::new(),
            has_more: false,
        })
    }

    async fn check_ready(&self) -> Result<Readiness, PlaneError> {
        Ok(Readiness::Ready)
    }
}
