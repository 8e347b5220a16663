//! Whether the names of a new stream's shards are free: neither a stream of somebody else's, nor one that lives.

use coordinator_core::names::StreamPrefix;
use coordinator_core::numbers::ShardIndex;
use coordinator_core::shard_set::ShardSet;
use store::PlaneError;

use super::lives::Present;
use super::{AT_ONCE, NAMED, RedisPlane, failure, shard_key};

impl RedisPlane {
    /// Writes nothing. What an earlier life left is no hindrance once that life is over.
    pub(super) async fn vacancy(
        &self,
        stream: &StreamPrefix,
        shards: &ShardSet,
    ) -> Result<(), PlaneError> {
        let mut foreign = Vec::new();
        for chunk in shards.as_slice().chunks(AT_ONCE) {
            let chunk = chunk.iter().copied().collect();
            for (_, taken) in self.each(&chunk, |shard| self.taken(stream, shard)).await {
                foreign.extend(taken?);
            }
            if foreign.len() >= NAMED {
                break;
            }
        }
        if foreign.is_empty() {
            return Ok(());
        }
        foreign.truncate(NAMED);
        Err(PlaneError::ForeignKeys { keys: foreign })
    }

    /// The key that stands in the way, if one does: the stream's, or that of a lifecycle which is not over although its stream is gone.
    async fn taken(
        &self,
        stream: &StreamPrefix,
        shard: ShardIndex,
    ) -> Result<Option<String>, PlaneError> {
        let key = shard_key(stream, shard);
        if self.exists(&key).await? {
            return Ok(Some(key));
        }
        let is_alive = matches!(self.present(stream, shard).await?, Present::Alive(_));
        Ok(is_alive.then(|| format!("{{{key}}}:lc")))
    }

    pub(super) async fn exists(&self, key: &str) -> Result<bool, PlaneError> {
        let mut command = redis::cmd("EXISTS");
        command.arg(key);
        let answer = self.redis.send_again(&command).await;
        let value =
            answer.map_err(|failure| failure::of_command(&format!("EXISTS {key}"), failure))?;
        redis::from_redis_value(value).map_err(|_| failure::unexpected("EXISTS"))
    }
}
