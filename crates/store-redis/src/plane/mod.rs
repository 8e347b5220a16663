//! The shard streams on Redis, through the lifecycle of each: looked at, made, sealed, taken away. One file for each of these; here, how Redis is reached.

mod failure;
mod groups;
mod lives;
mod look;
mod messages;
mod offsets;
mod provision;
mod retire;
mod vacancy;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use coordinator_core::evidence::ShardEvidence;
use coordinator_core::names::{ConsumerGroup, StreamPrefix};
use coordinator_core::numbers::ShardIndex;
use coordinator_core::shard_set::ShardSet;
use futures_util::stream::{self, StreamExt};
use store::{
    Eviction, Lives, MessagePage, MessageRange, PlaneError, Provision, Provisioned, Readiness,
    Retire, Retirement, ShardPlane, StoreError, StreamOffsets,
};
use stream_lifecycle::{Base, ShardRef};

use crate::classify::is_full;
use crate::config::{ConfigError, RedisConfig};
use crate::connect::{ConnectError, tolerate_absence};
use crate::link::{Connector, SharedLink};
use crate::script::{self, Script};

/// How many shards are worked on at once.
const AT_ONCE: usize = 64;
/// How many keys are named in an error.
const NAMED: usize = 10;

/// Who makes the shard streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StreamProvisioning {
    /// The coordinator does.
    #[default]
    On,
    /// Others do: streams and consumer groups must be there when they are wanted, and are taken over as they are.
    Off,
}

/// The Redis that holds the shard streams.
pub struct RedisPlane {
    redis: Arc<Connector>,
    config: RedisConfig,
    provisioning: StreamProvisioning,
}

impl RedisPlane {
    /// Takes the configuration without connecting.
    ///
    /// # Errors
    /// [`ConfigError`] says what can't work.
    pub fn open(config: RedisConfig) -> Result<Self, ConfigError> {
        let redis = Arc::new(Connector::new(&config)?);
        Ok(Self {
            redis,
            config,
            provisioning: StreamProvisioning::On,
        })
    }

    /// Connects, and checks what it finds. A Redis that is merely away is no error: it is tried again with every use (case C08).
    ///
    /// # Errors
    /// [`ConnectError`]: what can't work, a Redis that is too old, a user that is not let in or lacks a permission.
    pub async fn connect(config: RedisConfig) -> Result<Self, ConnectError> {
        let plane = Self::open(config)?;
        tolerate_absence(plane.ready().await.map(drop))?;
        Ok(plane)
    }

    /// Chooses who makes the streams.
    #[must_use]
    pub const fn with_provisioning(mut self, provisioning: StreamProvisioning) -> Self {
        self.provisioning = provisioning;
        self
    }

    /// A full Redis refuses the script, and runs it when it is told to (case C09).
    async fn ready(&self) -> Result<Readiness, StoreError> {
        match self.show_ready(&script::PLANE_READY).await {
            Ok(()) => Ok(Readiness::Ready),
            Err(error) if is_full(&error) => {
                self.show_ready(&script::PLANE_READY_THOUGH_FULL).await?;
                Ok(Readiness::Full)
            }
            Err(error) => Err(error),
        }
    }

    async fn show_ready(&self, script: &Script) -> Result<(), StoreError> {
        let mut reply = self.redis.run_again(&script.call(&["ready"])).await?;
        match reply.status() {
            "ok" => {
                self.redis.note_eviction(reply.eviction()?);
                Ok(())
            }
            _ => Err(reply.unknown()),
        }
    }

    fn shard(
        &self,
        stream: &StreamPrefix,
        shard: ShardIndex,
    ) -> Result<ShardRef<SharedLink>, PlaneError> {
        let base = Base::of_shard(stream.as_str(), shard.get()).map_err(failure::invalid)?;
        Ok(ShardRef::new(SharedLink(Arc::clone(&self.redis)), base))
    }

    /// Does something with each shard, several at once, and gives what came of each, in order.
    async fn each<T, F>(
        &self,
        shards: &ShardSet,
        work: impl Fn(ShardIndex) -> F,
    ) -> Vec<(ShardIndex, T)>
    where
        F: Future<Output = T>,
    {
        let working = shards.iter().map(|shard| {
            let work = work(shard);
            async move { (shard, work.await) }
        });
        stream::iter(working).buffered(AT_ONCE).collect().await
    }
}

impl fmt::Debug for RedisPlane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisPlane")
            .field("config", &self.config)
            .field("provisioning", &self.provisioning)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl ShardPlane for RedisPlane {
    async fn check_room(&self, stream: &StreamPrefix, shards: &ShardSet) -> Result<(), PlaneError> {
        match self.provisioning {
            StreamProvisioning::On => self.vacancy(stream, shards).await,
            StreamProvisioning::Off => Ok(()),
        }
    }

    async fn lives(&self, stream: &StreamPrefix, shards: &ShardSet) -> Result<Lives, PlaneError> {
        let lives = self
            .each(shards, |shard| self.life(stream, shard))
            .await
            .into_iter();
        let known = lives.filter_map(|(shard, life)| Some((shard, life.transpose()?)));
        known.map(|(shard, life)| Ok((shard, life?))).collect()
    }

    async fn provision(&self, order: &Provision) -> Result<Provisioned, PlaneError> {
        self.make_all(order).await
    }

    async fn evidence(
        &self,
        stream: &StreamPrefix,
        shards: &ShardSet,
    ) -> Vec<(ShardIndex, Result<ShardEvidence, PlaneError>)> {
        self.each(shards, |shard| self.look_at(stream, shard)).await
    }

    async fn seal(&self, stream: &StreamPrefix, shards: &ShardSet) -> Result<(), PlaneError> {
        let sealed = self
            .each(shards, |shard| self.seal_one(stream, shard, true))
            .await;
        sealed.into_iter().try_for_each(|(_, sealed)| sealed)
    }

    async fn unseal(&self, stream: &StreamPrefix, shards: &ShardSet) -> Result<(), PlaneError> {
        let unsealed = self
            .each(shards, |shard| self.seal_one(stream, shard, false))
            .await;
        unsealed.into_iter().try_for_each(|(_, unsealed)| unsealed)
    }

    async fn retire(&self, order: &Retire) -> Result<Retirement, PlaneError> {
        self.take_away(order).await
    }

    async fn offsets(
        &self,
        stream: &StreamPrefix,
        group: &ConsumerGroup,
        shards: &ShardSet,
    ) -> Vec<(ShardIndex, Result<StreamOffsets, PlaneError>)> {
        self.each(shards, |shard| self.offsets_of(stream, group, shard))
            .await
    }

    async fn messages(
        &self,
        stream: &StreamPrefix,
        range: &MessageRange,
    ) -> Result<MessagePage, PlaneError> {
        self.page(stream, range).await
    }

    async fn check_ready(&self) -> Result<Readiness, PlaneError> {
        self.ready().await.map_err(failure::of_store)
    }

    fn eviction(&self) -> Option<Eviction> {
        Some(self.redis.eviction())
    }
}

/// `orders:3`. Without a hash tag: the shards of a stream are meant to lie on different nodes.
fn shard_key(stream: &StreamPrefix, shard: ShardIndex) -> String {
    format!("{stream}:{shard}")
}
