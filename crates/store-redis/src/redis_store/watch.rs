//! What is not about a group: the watch of the coordinators (rule M6), and whether Redis lets the store do its work (cases C07 and C11).

use coordinator_core::time::{Millis, Timestamp};
use store::{Coordination, Doubt, Readiness, StoreError};

use super::RedisStore;
use crate::classify::is_full;
use crate::keys::GroupKeys;
use crate::reply::Reply;
use crate::script::{self, Script};

impl RedisStore {
    pub(super) async fn watch(
        &self,
        gap: Millis,
        mark: Option<Timestamp>,
    ) -> Result<Coordination, StoreError> {
        let key = self.keys.coordination();
        let keys = [key.as_str()];
        let mark = mark.map(|mark| mark.as_ms().to_string());
        let call = script::WATCH_OVER
            .call(&keys)
            .number(gap.get())
            .arg(mark.unwrap_or_default());
        let mut reply = self.redis.run_again(&call).await?;
        match reply.status() {
            "ok" => Ok(Coordination {
                now: Timestamp::from_ms(reply.number()?),
                since: Timestamp::from_ms(reply.number()?),
                doubt: read_doubt(&mut reply)?,
            }),
            _ => Err(reply.unknown()),
        }
    }

    pub(super) async fn remember_doubt(&self, at: Timestamp) -> Result<(), StoreError> {
        let key = self.keys.coordination();
        let keys = [key.as_str()];
        let call = script::DOUBT.call(&keys).number(at.as_ms());
        let reply = self.redis.run_again(&call).await?;
        match reply.status() {
            "ok" => Ok(()),
            _ => Err(reply.unknown()),
        }
    }

    /// Runs a script that writes, and asks for every permission that any step will need. A full Redis refuses it, and runs it when it is told to (case C09).
    pub(super) async fn ready(&self) -> Result<Readiness, StoreError> {
        match self.show_ready(&script::READY).await {
            Ok(()) => Ok(Readiness::Ready),
            Err(error) if is_full(&error) => {
                self.show_ready(&script::READY_THOUGH_FULL).await?;
                Ok(Readiness::Full)
            }
            Err(error) => Err(error),
        }
    }

    async fn show_ready(&self, script: &Script) -> Result<(), StoreError> {
        let key = self.keys.coordination();
        let keys = [key.as_str()];
        let group = self.keys.of_readiness();
        let call = script
            .call(&keys)
            .arg(group.changed.as_str())
            .list(needed(&group));
        let mut reply = self.redis.run_again(&call).await?;
        match reply.status() {
            "ok" => {
                self.redis.note_eviction(reply.eviction()?);
                Ok(())
            }
            _ => Err(reply.unknown()),
        }
    }
}

fn read_doubt(reply: &mut Reply) -> Result<Option<Doubt>, StoreError> {
    let at = reply.optional_number()?.map(Timestamp::from_ms);
    let lost_from = Timestamp::from_ms(reply.number()?);
    Ok(at.map(|at| Doubt { at, lost_from }))
}

/// The commands that the store's steps run, with a key of each kind.
fn needed(keys: &GroupKeys) -> impl Iterator<Item = [String; 2]> + '_ {
    let rows: [(&str, &[&str]); 6] = [
        (&keys.metadata, &["HMGET", "HGET", "HSET", "EXISTS", "DEL"]),
        (&keys.leases, &["ZRANGE", "ZSCORE", "ZADD", "ZREM", "DEL"]),
        (&keys.progress, &["HSET", "HDEL", "HSCAN", "DEL"]),
        (&keys.mutex, &["GET", "SET", "DEL"]),
        (&keys.directory, &["SADD", "SREM", "SSCAN"]),
        ("server", &["INFO"]),
    ];
    rows.into_iter().flat_map(|(key, commands)| {
        let row = |command: &&str| [(*command).to_owned(), key.to_owned()];
        commands.iter().map(row)
    })
}
