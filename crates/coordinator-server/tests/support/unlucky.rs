//! A data plane that makes nothing, and does with every provisioning what the test says. Nothing is ever left to read in its shards.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use async_trait::async_trait;
use coordinator_core::evidence::ShardEvidence;
use coordinator_core::names::{ConsumerGroup, StreamPrefix};
use coordinator_core::numbers::ShardIndex;
use coordinator_core::shard_set::ShardSet;
use store::{
    Lives, MessagePage, MessageRange, PlaneError, Provision, Provisioned, Readiness, Retire,
    Retirement, ShardPlane, StreamOffsets,
};
use tokio::sync::{Semaphore, watch};

use super::plane::SlowPlane;

/// What becomes of a provisioning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fortune {
    Works,
    Fails,
    /// Keys of somebody else's turn up where streams are to be made.
    MeetsForeignKeys,
    /// It waits for another fortune.
    Waits,
}

pub struct UnluckyPlane {
    fortune: watch::Sender<Fortune>,
    waiting: AtomicUsize,
    in_the_way: Mutex<Vec<String>>,
    calm: SlowPlane,
}

impl UnluckyPlane {
    /// Everything works at first.
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            fortune: watch::Sender::new(Fortune::Works),
            waiting: AtomicUsize::new(0),
            in_the_way: Mutex::default(),
            calm: SlowPlane(Arc::new(Semaphore::new(Semaphore::MAX_PERMITS))),
        })
    }

    pub fn turn(&self, fortune: Fortune) {
        self.fortune.send_replace(fortune);
    }

    /// How many wait for another fortune.
    pub fn waiting(&self) -> usize {
        self.waiting.load(Ordering::SeqCst)
    }

    /// What is found where new shards are to be.
    pub fn put_in_the_way(&self, keys: &[&str]) {
        *self.in_the_way.lock().unwrap() = keys.iter().map(|key| (*key).to_owned()).collect();
    }
}

#[async_trait]
impl ShardPlane for UnluckyPlane {
    async fn check_room(&self, _: &StreamPrefix, _: &ShardSet) -> Result<(), PlaneError> {
        let keys = self.in_the_way.lock().unwrap().clone();
        if keys.is_empty() {
            return Ok(());
        }
        Err(PlaneError::ForeignKeys { keys })
    }

    async fn lives(&self, stream: &StreamPrefix, shards: &ShardSet) -> Result<Lives, PlaneError> {
        self.calm.lives(stream, shards).await
    }

    async fn provision(&self, order: &Provision) -> Result<Provisioned, PlaneError> {
        let mut fortune = self.fortune.subscribe();
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let fortune = *fortune
            .wait_for(|fortune| *fortune != Fortune::Waits)
            .await
            .unwrap();
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        match fortune {
            Fortune::Fails => Err(PlaneError::Failed {
                reason: "out of memory".to_owned(),
                retryable: true,
                source: None,
            }),
            Fortune::MeetsForeignKeys => Err(PlaneError::ForeignKeys {
                keys: vec!["orders:4".to_owned()],
            }),
            Fortune::Works | Fortune::Waits => self.calm.provision(order).await,
        }
    }

    async fn evidence(
        &self,
        stream: &StreamPrefix,
        shards: &ShardSet,
    ) -> Vec<(ShardIndex, Result<ShardEvidence, PlaneError>)> {
        self.calm.evidence(stream, shards).await
    }

    async fn seal(&self, stream: &StreamPrefix, shards: &ShardSet) -> Result<(), PlaneError> {
        self.calm.seal(stream, shards).await
    }

    async fn unseal(&self, stream: &StreamPrefix, shards: &ShardSet) -> Result<(), PlaneError> {
        self.calm.unseal(stream, shards).await
    }

    async fn retire(&self, order: &Retire) -> Result<Retirement, PlaneError> {
        self.calm.retire(order).await
    }

    async fn offsets(
        &self,
        stream: &StreamPrefix,
        group: &ConsumerGroup,
        shards: &ShardSet,
    ) -> Vec<(ShardIndex, Result<StreamOffsets, PlaneError>)> {
        self.calm.offsets(stream, group, shards).await
    }

    async fn messages(
        &self,
        stream: &StreamPrefix,
        range: &MessageRange,
    ) -> Result<MessagePage, PlaneError> {
        self.calm.messages(stream, range).await
    }

    async fn check_ready(&self) -> Result<Readiness, PlaneError> {
        self.calm.check_ready().await
    }
}
