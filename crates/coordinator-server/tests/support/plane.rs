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

/// Where streams stand, as a test wants it.
#[async_trait]
pub trait Stand: Send + Sync {
    /// Where each shard of a stream stands.
    async fn of(&self, stream: &StreamPrefix) -> Result<StreamOffsets, PlaneError>;
}

/// A plane whose streams stand somewhere.
pub struct Standing<S>(pub SlowPlane, pub S);

#[async_trait]
impl<S: Stand> ShardPlane for Standing<S> {
    async fn check_room(&self, stream: &StreamPrefix, shards: &ShardSet) -> Result<(), PlaneError> {
        self.0.check_room(stream, shards).await
    }

    async fn lives(&self, stream: &StreamPrefix, shards: &ShardSet) -> Result<Lives, PlaneError> {
        self.0.lives(stream, shards).await
    }

    async fn provision(&self, order: &Provision) -> Result<Provisioned, PlaneError> {
        self.0.provision(order).await
    }

    async fn evidence(
        &self,
        stream: &StreamPrefix,
        shards: &ShardSet,
    ) -> Vec<(ShardIndex, Result<ShardEvidence, PlaneError>)> {
        self.0.evidence(stream, shards).await
    }

    async fn seal(&self, stream: &StreamPrefix, shards: &ShardSet) -> Result<(), PlaneError> {
        self.0.seal(stream, shards).await
    }

    async fn unseal(&self, stream: &StreamPrefix, shards: &ShardSet) -> Result<(), PlaneError> {
        self.0.unseal(stream, shards).await
    }

    async fn retire(&self, order: &Retire) -> Result<Retirement, PlaneError> {
        self.0.retire(order).await
    }

    async fn offsets(
        &self,
        stream: &StreamPrefix,
        _: &ConsumerGroup,
        shards: &ShardSet,
    ) -> Vec<(ShardIndex, Result<StreamOffsets, PlaneError>)> {
        let found = self.1.of(stream).await;
        shards.iter().map(|shard| (shard, found.clone())).collect()
    }

    async fn messages(
        &self,
        stream: &StreamPrefix,
        range: &MessageRange,
    ) -> Result<MessagePage, PlaneError> {
        self.0.messages(stream, range).await
    }

    async fn check_ready(&self) -> Result<Readiness, PlaneError> {
        Ok(Readiness::Ready)
    }
}
