//! The shard streams of one run, as plain clients see them: published to, read, acknowledged, looked at.

use std::collections::{BTreeSet, HashMap};

use redis::AsyncConnectionConfig;
use redis::aio::MultiplexedConnection;
use redis::streams::{StreamAutoClaimReply, StreamId, StreamRangeReply, StreamReadReply};
use redis::{FromRedisValue, RedisResult};

use testkit::RedisServer;

use super::PATIENCE;
use super::ledger::Ledger;

/// The streams of a prefix.
#[derive(Clone)]
pub struct Streams {
    pub name: String,
    pub connection: MultiplexedConnection,
}

impl Streams {
    /// The streams of a prefix on a server, with all the patience that a busy machine needs.
    pub async fn on(server: &RedisServer, name: &str) -> Self {
        let config = AsyncConnectionConfig::new().set_response_timeout(Some(PATIENCE));
        let client = server.client();
        let connecting = client.get_multiplexed_async_connection_with_config(&config);
        Self {
            name: name.to_owned(),
            connection: connecting.await.unwrap(),
        }
    }

    pub fn key(&self, shard: u32) -> String {
        format!("{}:{shard}", self.name)
    }

    /// The answer to one command.
    pub async fn ask<T: FromRedisValue>(&self, words: &[&str]) -> RedisResult<T> {
        let mut connection = self.connection.clone();
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]);
        command.query_async(&mut connection).await
    }

    /// Publishes as a plain producer does; refused where the stream is gone.
    pub async fn publish(&self, key: &str, ledger: &Ledger) -> bool {
        let number = ledger.next();
        let text = number.to_string();
        let id: Option<String> = self
            .ask(&["XADD", key, "NOMKSTREAM", "*", "n", &text])
            .await
            .unwrap();
        if id.is_some() {
            ledger.published(number);
        }
        id.is_some()
    }

    /// Publishes once to a shard, however often it is asked: an entry of an old route.
    pub async fn publish_late(&self, shard: u32, ledger: &Ledger) {
        let mark = format!("late:{}", self.key(shard));
        let is_first: bool = self.ask(&["SETNX", &mark, "1"]).await.unwrap();
        if is_first {
            self.publish(&self.key(shard), ledger).await;
        }
    }

    /// Entries that the group has not seen.
    pub async fn read(
        &self,
        shard: u32,
        group: &str,
        consumer: &str,
    ) -> RedisResult<Vec<StreamId>> {
        let key = self.key(shard);
        let found: Option<StreamReadReply> = self
            .ask(&[
                "XREADGROUP",
                "GROUP",
                group,
                consumer,
                "COUNT",
                "100",
                "STREAMS",
                &key,
                ">",
            ])
            .await?;
        let keys = found.into_iter().flat_map(|found| found.keys);
        Ok(keys.flat_map(|key| key.ids).collect())
    }

    /// Entries that others were given and have not acknowledged.
    pub async fn claim(
        &self,
        shard: u32,
        group: &str,
        consumer: &str,
    ) -> RedisResult<Vec<StreamId>> {
        let key = self.key(shard);
        let found: StreamAutoClaimReply = self
            .ask(&[
                "XAUTOCLAIM",
                &key,
                group,
                consumer,
                "0",
                "0-0",
                "COUNT",
                "1000",
            ])
            .await?;
        Ok(found.claimed)
    }

    pub async fn acknowledge(&self, shard: u32, group: &str, id: &str) -> RedisResult<u64> {
        self.ask(&["XACK", &self.key(shard), group, id]).await
    }

    /// Delivers some entries to a consumer that is gone and never acknowledges them.
    pub async fn leave_pending(&self, shard: u32, group: &str, count: u32) {
        let (key, count) = (self.key(shard), count.to_string());
        let _: redis::Value = self
            .ask(&[
                "XREADGROUP",
                "GROUP",
                group,
                "gone",
                "COUNT",
                &count,
                "STREAMS",
                &key,
                ">",
            ])
            .await
            .unwrap();
    }

    /// Deletes a stream whatever is in it.
    pub async fn delete(&self, shard: u32) {
        let lifecycle = format!("{{{}}}:lc", self.key(shard));
        let _: u64 = self.ask(&["DEL", &self.key(shard)]).await.unwrap();
        let _: u64 = self
            .ask(&["HSET", &lifecycle, "state", "destroyed"])
            .await
            .unwrap();
    }

    /// How the lifecycle of a shard stands.
    pub async fn state(&self, shard: u32) -> Option<String> {
        let lifecycle = format!("{{{}}}:lc", self.key(shard));
        self.ask(&["HGET", &lifecycle, "state"]).await.unwrap()
    }

    /// The keys of all streams of the prefix, retired copies included.
    pub async fn all(&self) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        for pattern in [format!("{}:*", self.name), format!("{{{}:*", self.name)] {
            let keys: Vec<String> = self.ask(&["KEYS", &pattern]).await.unwrap();
            for key in keys {
                let kind: String = self.ask(&["TYPE", &key]).await.unwrap();
                if kind == "stream" {
                    found.insert(key);
                }
            }
        }
        found
    }

    /// The numbers of the entries in a stream.
    pub async fn numbers(&self, key: &str) -> Vec<u64> {
        let range: StreamRangeReply = self.ask(&["XRANGE", key, "-", "+"]).await.unwrap();
        range.ids.iter().filter_map(number).collect()
    }

    /// Whether a group of the stream was not given all its entries.
    pub async fn has_unread(&self, key: &str) -> bool {
        let rows: Vec<HashMap<String, redis::Value>> =
            self.ask(&["XINFO", "GROUPS", key]).await.unwrap();
        for mut row in rows {
            let delivered = row.remove("last-delivered-id").unwrap();
            let after: String = redis::from_redis_value(delivered).unwrap();
            let after = format!("({after}");
            let range: StreamRangeReply = self.ask(&["XRANGE", key, &after, "+"]).await.unwrap();
            if !range.ids.is_empty() {
                return true;
            }
        }
        false
    }

    /// The consumer groups of a stream, each with what it has not acknowledged.
    pub async fn groups(&self, key: &str) -> Vec<(String, u64)> {
        let rows: Vec<HashMap<String, redis::Value>> =
            self.ask(&["XINFO", "GROUPS", key]).await.unwrap();
        let mut groups: Vec<(String, u64)> = rows
            .into_iter()
            .map(|mut row| {
                let mut field = |name: &str| row.remove(name).unwrap();
                let name = redis::from_redis_value(field("name")).unwrap();
                (name, redis::from_redis_value(field("pending")).unwrap())
            })
            .collect();
        groups.sort();
        groups
    }
}

/// The number of an entry; none where it was deleted (case C15).
pub fn number(entry: &StreamId) -> Option<u64> {
    entry.get("n")
}
