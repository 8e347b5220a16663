//! A redis-server, a coordinator and a producer between them, and what tests look up in Redis.

use std::collections::HashMap;
use std::time::Duration;

use producer_client::{Producer, ProducerBuilder, Record};
use redis::aio::MultiplexedConnection;
use redis::streams::StreamRangeReply;
use testkit::RedisServer;

use crate::coordinator::{Answer, Coordinator, routing};

/// Longer than any condition takes.
pub(crate) const LIMIT: Duration = Duration::from_secs(20);

pub(crate) struct World {
    pub(crate) redis: RedisServer,
    pub(crate) coordinator: Coordinator,
    pub(crate) connection: MultiplexedConnection,
}

impl World {
    /// Redis with these streams, and a coordinator that routes to them.
    pub(crate) async fn of(stream_keys: &[&str]) -> Self {
        Self::on(
            RedisServer::builder().start().expect("redis-server starts"),
            stream_keys,
        )
        .await
    }

    pub(crate) async fn on(redis: RedisServer, stream_keys: &[&str]) -> Self {
        let connection = redis.connection().await.expect("connects");
        let coordinator = Coordinator::start(Answer::Routing(routing(1, stream_keys))).await;
        let mut world = Self {
            redis,
            coordinator,
            connection,
        };
        for key in stream_keys {
            world.create(key).await;
        }
        world
    }

    /// A producer that asks for the routing only when it must.
    pub(crate) fn builder(&self) -> ProducerBuilder {
        self.builder_at(&self.redis.url())
    }

    /// As [`Self::builder`], with another way to Redis.
    pub(crate) fn builder_at(&self, redis_url: &str) -> ProducerBuilder {
        Producer::builder(self.coordinator.client(), "orders", [redis_url])
            .refresh_interval(Duration::from_secs(600))
            .routing_lease(Duration::from_secs(3_600))
    }

    pub(crate) fn producer(&self) -> Producer {
        self.builder().build().expect("settings that work")
    }

    pub(crate) fn routes(&self, metadata_version: u64, stream_keys: &[&str]) {
        self.coordinator
            .answer(Answer::Routing(routing(metadata_version, stream_keys)));
    }

    pub(crate) async fn create(&mut self, key: &str) {
        self.run(
            redis::cmd("XGROUP")
                .arg("CREATE")
                .arg(key)
                .arg("orders")
                .arg("0")
                .arg("MKSTREAM"),
        )
        .await;
    }

    pub(crate) async fn delete(&mut self, key: &str) {
        self.run(redis::cmd("DEL").arg(key)).await;
    }

    pub(crate) async fn exists(&mut self, key: &str) -> bool {
        redis::cmd("EXISTS")
            .arg(key)
            .query_async(&mut self.connection)
            .await
            .expect("answers")
    }

    pub(crate) async fn length(&mut self, key: &str) -> usize {
        redis::cmd("XLEN")
            .arg(key)
            .query_async(&mut self.connection)
            .await
            .expect("answers")
    }

    pub(crate) async fn run(&mut self, command: &mut redis::Cmd) {
        command
            .exec_async(&mut self.connection)
            .await
            .expect("answers");
    }

    /// Records of a stream as (id, value of field `key`, value of field `n`).
    pub(crate) async fn records(&mut self, key: &str) -> Vec<(String, String, u64)> {
        records(&mut self.connection, key).await
    }

    /// Checks that the records of every key are in the order in which `n` rises; counts all.
    pub(crate) async fn assert_ordered(&mut self, stream_keys: &[&str]) -> usize {
        let mut last = HashMap::new();
        let mut count = 0;
        for stream_key in stream_keys {
            for (id, key, n) in self.records(stream_key).await {
                let before = last.insert(key.clone(), n);
                assert!(
                    before < Some(n),
                    "{id} in {stream_key}: {n} of {key} comes after {before:?}"
                );
                count += 1;
            }
        }
        count
    }
}

pub(crate) async fn records(
    connection: &mut MultiplexedConnection,
    key: &str,
) -> Vec<(String, String, u64)> {
    let range: StreamRangeReply = redis::cmd("XRANGE")
        .arg(key)
        .arg("-")
        .arg("+")
        .query_async(connection)
        .await
        .expect("answers");
    let read = |entry: redis::streams::StreamId| {
        (
            entry.id.clone(),
            entry.get("key").expect("a key"),
            entry.get("n").expect("a number"),
        )
    };
    range.ids.into_iter().map(read).collect()
}

/// `count` records numbered through, spread over `keys` keys.
pub(crate) fn numbered(count: u64, keys: u64) -> Vec<Record> {
    (0..count)
        .map(|n| record(n, &format!("k{}", n % keys)))
        .collect()
}

pub(crate) fn record(n: u64, key: &str) -> Record {
    Record::new(key).field("key", key).field("n", n.to_string())
}
