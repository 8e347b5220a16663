//! Records in shard streams: added, and read to their end, by plain commands.

use redis::aio::MultiplexedConnection;
use redis::streams::StreamReadReply;
use testkit::RedisServer;

/// The shard streams of a Redis.
pub(crate) struct Streams(MultiplexedConnection);

impl Streams {
    pub(crate) async fn of(redis: &RedisServer) -> Self {
        Self(redis.connection().await.unwrap())
    }

    /// Adds records, each with one field.
    pub(crate) async fn add(&mut self, key: &str, values: &[&str]) {
        for (index, value) in values.iter().enumerate() {
            let mut command = redis::cmd("XADD");
            let id = format!("1700000000000-{}", index + 1);
            command.arg(key).arg(id).arg("total").arg(value);
            let _id: String = command.query_async(&mut self.0).await.unwrap();
        }
    }

    /// Has the group read everything that is left, without acknowledging.
    pub(crate) async fn read(&mut self, key: &str, group: &str) -> Vec<String> {
        let mut command = redis::cmd("XREADGROUP");
        command.arg("GROUP").arg(group).arg("reader");
        command
            .arg("COUNT")
            .arg(1_000)
            .arg("STREAMS")
            .arg(key)
            .arg(">");
        let reply: Option<StreamReadReply> = command.query_async(&mut self.0).await.unwrap();
        let keys = reply.into_iter().flat_map(|reply| reply.keys);
        keys.flat_map(|key| key.ids).map(|id| id.id).collect()
    }

    pub(crate) async fn acknowledge(&mut self, key: &str, group: &str, ids: &[String]) {
        let mut command = redis::cmd("XACK");
        command.arg(key).arg(group).arg(ids);
        let _count: u64 = command.query_async(&mut self.0).await.unwrap();
    }

    /// Reads and acknowledges everything.
    pub(crate) async fn finish(&mut self, key: &str, group: &str) {
        let ids = self.read(key, group).await;
        if !ids.is_empty() {
            self.acknowledge(key, group, &ids).await;
        }
    }
}
