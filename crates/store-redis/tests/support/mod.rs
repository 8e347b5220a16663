//! Stores on real servers, for the tests of this crate. Each test file is a program of its own and uses a part of it.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use async_trait::async_trait;
use coordinator_core::names::GroupId;
use coordinator_core::numbers::MetadataVersion;
use coordinator_core::write::Write;
use redis::aio::MultiplexedConnection;
use store::LockLimits;
use store::conformance::{Scene, TestedStore, World, group_id};
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

/// The group `orders/billing` on a server, under a configuration of one's own.
pub async fn scene(config: RedisConfig) -> Scene {
    let store = RedisStore::connect(config).await.unwrap();
    Scene {
        store: Arc::new(store),
        id: group_id("orders", "billing"),
    }
}

/// A write that changes something.
pub fn raised(to: u64) -> [Write; 1] {
    let to = MetadataVersion::new(to);
    [Write::MetadataVersionRaised { to }]
}

/// How often a server has run each command since it started, or since the counts were reset.
pub async fn command_counts(connection: &mut MultiplexedConnection) -> BTreeMap<String, u64> {
    let text: String = ask(connection, &["INFO", "commandstats"]).await;
    let lines = text.lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
        let (calls, _) = rest.split_once(',')?;
        Some((name.to_owned(), calls.parse().unwrap()))
    });
    lines.collect()
}

/// All that is stored about the group `orders/billing`, byte for byte.
pub async fn stored(connection: &mut MultiplexedConnection) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for what in ["metadata", "leases", "progress"] {
        let key = format!("{GROUP}:{what}");
        found.push(ask(connection, &["DUMP", &key]).await);
    }
    found
}

/// What the keys of the group begin with.
pub const GROUP: &str = "redis-stream:coord:{orders:billing}";

/// The answer to one command, given by a server directly.
pub async fn ask<T: redis::FromRedisValue>(
    connection: &mut MultiplexedConnection,
    words: &[&str],
) -> T {
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]);
    command.query_async(connection).await.unwrap()
}

/// What tells the present history of the server's data from another (rule C8).
pub async fn history(connection: &mut MultiplexedConnection) -> String {
    let mut parts = Vec::new();
    for (section, name) in [("server", "run_id"), ("replication", "master_replid")] {
        let text: String = ask(connection, &["INFO", section]).await;
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let value = line.unwrap().trim_start_matches(':').trim();
        parts.push(value.to_owned());
    }
    parts.join(" ")
}
