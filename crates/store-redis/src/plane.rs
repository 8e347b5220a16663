//! The shard streams on Redis: checks that their names are free, and makes them with their consumer groups.

use std::collections::BTreeSet;
use std::fmt;

use async_trait::async_trait;
use coordinator_core::names::{ConsumerGroup, StreamPrefix};
use coordinator_core::numbers::{ShardCount, ShardIndex};
use futures_util::future::try_join_all;
use redis::Cmd;
use store::{PlaneError, ShardPlane, StoreError};

use crate::config::{ConfigError, RedisConfig};
use crate::connect::{ConnectError, tolerate_absence};
use crate::link::{Connector, Failure};
use crate::script;

/// How many commands are under way at once.
const AT_ONCE: usize = 64;
/// How many keys one EXISTS asks for.
const KEYS_AT_ONCE: usize = 100;
/// How many foreign keys are named.
const NAMED: usize = 10;

/// The Redis that holds the shard streams.
pub struct RedisPlane {
    redis: Connector,
    config: RedisConfig,
}

impl RedisPlane {
    /// Takes the configuration without connecting.
    ///
    /// # Errors
    /// [`ConfigError`] says what can't work.
    pub fn open(config: RedisConfig) -> Result<Self, ConfigError> {
        let redis = Connector::new(&config)?;
        Ok(Self { redis, config })
    }

    /// Connects, and checks what it finds. A Redis that is merely away is no error: it is tried again with every use (case C08).
    ///
    /// # Errors
    /// [`ConnectError`]: what can't work, a Redis that is too old, a user that is not let in or lacks a permission.
    pub async fn connect(config: RedisConfig) -> Result<Self, ConnectError> {
        let plane = Self::open(config)?;
        tolerate_absence(plane.ready().await)?;
        Ok(plane)
    }

    async fn ready(&self) -> Result<(), StoreError> {
        let keys = ["ready"];
        let reply = self
            .redis
            .run_again(&script::PLANE_READY.call(&keys))
            .await?;
        match reply.status() {
            "ok" => Ok(()),
            _ => Err(reply.unknown()),
        }
    }

    /// How many of the keys exist.
    async fn count(&self, keys: &[String]) -> Result<u64, PlaneError> {
        let mut command = redis::cmd("EXISTS");
        command.arg(keys);
        let value = self.redis.send_again(&command).await.map_err(failed)?;
        redis::from_redis_value(value).map_err(|error| PlaneError::Failed {
            reason: "EXISTS returned something unexpected".to_owned(),
            retryable: false,
            source: Some(std::sync::Arc::new(error)),
        })
    }

    /// Makes one stream with one consumer group; true if the key is something else.
    async fn make(&self, key: &str, group: &ConsumerGroup) -> Result<bool, PlaneError> {
        match self.redis.send_again(&make_command(key, group)).await {
            Ok(_) => Ok(false),
            Err(failure) => match failure.code.as_deref() {
                Some("BUSYGROUP") => Ok(false),
                Some("WRONGTYPE") => Ok(true),
                _ => Err(failed_at(key, failure)),
            },
        }
    }
}

impl fmt::Debug for RedisPlane {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisPlane")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

#[async_trait]
impl ShardPlane for RedisPlane {
    async fn check_vacant(
        &self,
        stream: &StreamPrefix,
        shards: ShardCount,
    ) -> Result<(), PlaneError> {
        let mut keys = shards.shards().map(|shard| shard_key(stream, shard));
        let mut foreign = Vec::new();
        while foreign.len() < NAMED {
            let chunk: Vec<String> = keys.by_ref().take(KEYS_AT_ONCE).collect();
            if chunk.is_empty() {
                break;
            }
            if self.count(&chunk).await? == 0 {
                continue;
            }
            for key in chunk {
                if foreign.len() < NAMED && self.count(std::slice::from_ref(&key)).await? > 0 {
                    foreign.push(key);
                }
            }
        }
        if foreign.is_empty() {
            return Ok(());
        }
        Err(PlaneError::ForeignKeys { keys: foreign })
    }

    async fn provision(
        &self,
        stream: &StreamPrefix,
        shards: ShardCount,
        groups: &[ConsumerGroup],
    ) -> Result<(), PlaneError> {
        let mut foreign = BTreeSet::new();
        for group in groups {
            let mut keys = shards.shards().map(|shard| shard_key(stream, shard));
            loop {
                let chunk: Vec<String> = keys.by_ref().take(AT_ONCE).collect();
                if chunk.is_empty() {
                    break;
                }
                let making = chunk.iter().map(|key| self.make(key, group));
                let made = try_join_all(making).await?;
                let keys = chunk.into_iter().zip(made);
                foreign.extend(keys.filter_map(|(key, is_foreign)| is_foreign.then_some(key)));
            }
        }
        if foreign.is_empty() {
            return Ok(());
        }
        let keys = foreign.into_iter().take(NAMED).collect();
        Err(PlaneError::ForeignKeys { keys })
    }

    async fn check_ready(&self) -> Result<(), PlaneError> {
        self.ready().await.map_err(from_store)
    }
}

/// `orders:3`. Without a hash tag: the shards of a stream are meant to lie on different nodes.
fn shard_key(stream: &StreamPrefix, shard: ShardIndex) -> String {
    format!("{stream}:{shard}")
}

/// From the first entry on, so that nothing published early is skipped (case C02).
fn make_command(key: &str, group: &ConsumerGroup) -> Cmd {
    let mut command = redis::cmd("XGROUP");
    command
        .arg("CREATE")
        .arg(key)
        .arg(group.as_str())
        .arg("0")
        .arg("MKSTREAM");
    command
}

/// What went wrong with one stream, said with its key: Redis itself does not name it.
fn failed_at(key: &str, failure: Failure) -> PlaneError {
    match failed(failure) {
        PlaneError::Failed {
            reason,
            retryable,
            source,
        } => PlaneError::Failed {
            reason: format!("XGROUP CREATE {key}: {reason}"),
            retryable,
            source,
        },
        other => other,
    }
}

fn failed(failure: Failure) -> PlaneError {
    from_store(failure.error)
}

fn from_store(error: StoreError) -> PlaneError {
    let retryable = matches!(error, StoreError::Unavailable { .. });
    let (reason, source) = match error {
        StoreError::Unavailable { reason, source }
        | StoreError::Refused { reason, source }
        | StoreError::Corrupt { reason, source } => (reason, source),
        StoreError::Locked { .. } => (error.to_string(), None),
    };
    PlaneError::Failed {
        reason,
        retryable,
        source,
    }
}
