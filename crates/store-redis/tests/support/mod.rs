//! Stores on real servers, for the tests of this crate. Each test file is a program of its own and uses a part of it.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use coordinator_core::names::GroupId;
use redis::aio::MultiplexedConnection;
use store::LockLimits;
use store::conformance::{TestedStore, World};
use store_redis::{RedisConfig, RedisStore};
use testkit::{RedisCluster, RedisServer};

/// A Redis on which stores are opened.
pub enum RedisWorld<'a> {
    /// A server of its own.
    Single(RedisServer),
    /// A cluster that is shared by several cases, told apart by their key prefixes.
    Cluster(&'a RedisCluster, String),
}

impl<'a> RedisWorld<'a> {
    /// A server of its own.
    pub async fn single() -> Self {
        Self::Single(server())
    }

    /// A part of a cluster that nobody uses yet.
    pub async fn part_of(cluster: &'a RedisCluster) -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::SeqCst);
        Self::Cluster(cluster, format!("case-{number}"))
    }

    fn config(&self) -> RedisConfig {
        match self {
            Self::Single(server) => RedisConfig::new([server.url()]),
            Self::Cluster(cluster, prefix) => {
                RedisConfig::new(cluster.urls()).with_key_prefix(prefix.clone())
            }
        }
    }
}

#[async_trait]
impl World for RedisWorld<'_> {
    async fn open(&self, limits: LockLimits) -> Arc<dyn TestedStore> {
        let config = self.config().with_lock_limits(limits);
        Arc::new(RedisStore::connect(config).await.unwrap())
    }

    async fn name_in_directory(&self, group: &GroupId) {
        let entry = format!("{}:{}", group.stream, group.group);
        let slot = coordinator_core::routing::redis_slot(entry.as_bytes()).get();
        let number = slot % 16;
        match self {
            Self::Single(server) => {
                let mut connection = server.connection().await.unwrap();
                let key = format!("redis-stream:coord:directory:{number}");
                let command = redis::cmd("SADD").arg(key).arg(entry).to_owned();
                command.exec_async(&mut connection).await.unwrap();
            }
            Self::Cluster(cluster, prefix) => {
                let client = redis::cluster::ClusterClient::new(cluster.urls()).unwrap();
                let mut connection = client.get_async_connection().await.unwrap();
                let key = format!("{prefix}:directory:{number}");
                let command = redis::cmd("SADD").arg(key).arg(entry).to_owned();
                command.exec_async(&mut connection).await.unwrap();
            }
        }
    }
}

/// A server that starts empty.
pub fn server() -> RedisServer {
    RedisServer::builder().start().unwrap()
}

/// A store on a server.
pub async fn open(server: &RedisServer) -> RedisStore {
    RedisStore::connect(RedisConfig::new([server.url()]))
        .await
        .unwrap()
}

/// The answer to one command, given by a server directly.
pub async fn ask<T: redis::FromRedisValue>(
    connection: &mut MultiplexedConnection,
    words: &[&str],
) -> T {
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]);
    command.query_async(connection).await.unwrap()
}
