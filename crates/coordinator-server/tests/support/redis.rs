//! A coordinator of this process on a real Redis.

use std::collections::BTreeMap;
use std::sync::Arc;

use coordinator_server::{Deps, Indexes, ServerConfig};
use redis::aio::MultiplexedConnection;
use store_redis::{RedisConfig, RedisPlane, RedisStore};
use testkit::RedisServer;

use super::Server;

/// Store and shard streams on one server.
pub async fn deps(url: &str) -> Deps {
    let store = RedisStore::connect(RedisConfig::new([url])).await.unwrap();
    let plane = RedisPlane::connect(RedisConfig::new([url])).await.unwrap();
    let indexes = Indexes {
        due: store.index("due").unwrap(),
        groups: store.index("groups").unwrap(),
    };
    Deps {
        plane: Some(Arc::new(plane)),
        indexes: Some(indexes),
        ..Deps::new(Arc::new(store))
    }
}

/// A coordinator on a server of its own.
pub async fn start(config: ServerConfig) -> (RedisServer, Server) {
    let redis = RedisServer::builder().start().unwrap();
    let deps = deps(&redis.url()).await;
    let server = Server::with(deps, config).await;
    (redis, server)
}

/// What a server says to one command.
pub async fn ask<T: redis::FromRedisValue>(
    connection: &mut MultiplexedConnection,
    words: &[&str],
) -> T {
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]);
    command.query_async(connection).await.unwrap()
}

/// How often a server has run each command since it started.
pub async fn command_counts(connection: &mut MultiplexedConnection) -> BTreeMap<String, u64> {
    let text: String = ask(connection, &["INFO", "commandstats"]).await;
    let lines = text.lines().filter_map(|line| {
        let (name, rest) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
        let (calls, _) = rest.split_once(',')?;
        Some((name.to_owned(), calls.parse().unwrap()))
    });
    lines.collect()
}
