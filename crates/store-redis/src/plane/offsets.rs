//! Where a shard's stream stands, and a consumer group in it. Unread, pending and length are numbers of their own (case C28); what Redis does not tell, or
//! what the stream contradicts, is unknown and never 0 (case C25).

use std::collections::HashMap;

use coordinator_core::names::{ConsumerGroup, StreamPrefix};
use coordinator_core::numbers::ShardIndex;
use redis::{FromRedisValue, Value};
use store::{EntryId, GroupOffsets, PlaneError, StreamOffsets};
use stream_lifecycle::ShardInspect;

use super::lives::Present;
use super::{RedisPlane, failure, shard_key};

type Fields = HashMap<String, Value>;

impl RedisPlane {
    pub(super) async fn offsets_of(
        &self,
        stream: &StreamPrefix,
        group: &ConsumerGroup,
        shard: ShardIndex,
    ) -> Result<StreamOffsets, PlaneError> {
        let key = shard_key(stream, shard);
        if !self.exists(&key).await? {
            return Ok(StreamOffsets::default());
        }
        let info: Fields = self.read("XINFO", &["STREAM", &key], &key).await?;
        let rows: Vec<Fields> = self.read("XINFO", &["GROUPS", &key], &key).await?;
        let memory: Option<u64> = self.read("MEMORY", &["USAGE", &key], &key).await?;
        let of_group = rows.iter().find(|row| {
            let name: Option<String> = field(row, "name");
            name.as_deref() == Some(group.as_str())
        });
        let given = field(&info, "last-generated-id").and_then(|id: String| EntryId::parse(&id));
        let group = match of_group {
            Some(row) => Some(
                self.group_offsets(stream, shard, group, (row, given))
                    .await?,
            ),
            None => None,
        };
        Ok(StreamOffsets {
            length: field(&info, "length"),
            first: entry_id(&info, "first-entry"),
            last: entry_id(&info, "last-entry"),
            last_generated: given,
            memory_bytes: memory,
            node_endpoint: None,
            node_id: None,
            group,
        })
    }

    async fn group_offsets(
        &self,
        stream: &StreamPrefix,
        shard: ShardIndex,
        group: &ConsumerGroup,
        (row, given): (&Fields, Option<EntryId>),
    ) -> Result<GroupOffsets, PlaneError> {
        let key = shard_key(stream, shard);
        let delivered: String = field(row, "last-delivered-id").unwrap_or_default();
        let last_delivered =
            EntryId::parse(&delivered).ok_or_else(|| failure::unexpected("XINFO GROUPS"))?;
        let after = format!("({last_delivered}");
        let next: Vec<Value> = self
            .read("XRANGE", &[&key, &after, "+", "COUNT", "1"], &key)
            .await?;
        let counted: Option<i64> = field(row, "lag");
        let counted = counted.and_then(|lag| u64::try_from(lag).ok());
        let has_unread = !next.is_empty();
        // Case C27: whoever was given the very last id that there was is behind by none, whatever a counter says. Whoever was put beyond it is never given
        // what is there.
        let is_at_the_end = given == Some(last_delivered) && !has_unread;
        let is_beyond = given.is_some_and(|given| last_delivered > given);
        Ok(GroupOffsets {
            last_delivered,
            pending: field(row, "pending").unwrap_or_default(),
            lag: if is_at_the_end {
                Some(0)
            } else {
                counted.filter(|lag| (*lag > 0) == has_unread && !is_beyond)
            },
            unread: if has_unread {
                counted.filter(|lag| *lag > 0)
            } else {
                Some(0)
            },
            trimmed_unread: self.trimmed_unread(stream, shard, group).await?,
        })
    }

    /// Case C30, as the group's readers noticed it.
    async fn trimmed_unread(
        &self,
        stream: &StreamPrefix,
        shard: ShardIndex,
        group: &ConsumerGroup,
    ) -> Result<u64, PlaneError> {
        let Present::Alive(handle) = self.present(stream, shard).await? else {
            return Ok(0);
        };
        let evidence = match handle.drain_evidence().await {
            Ok(evidence) => evidence,
            Err(error) if error.is_stale() => return Ok(0),
            Err(error) => return Err(failure::of_lifecycle(&shard_key(stream, shard), error)),
        };
        let mut groups = evidence.groups.iter();
        let of_group = groups.find(|found| found.name == group.as_str());
        Ok(of_group.map_or(0, |found| found.trimmed_unread))
    }

    async fn read<T: FromRedisValue>(
        &self,
        command: &str,
        arguments: &[&str],
        key: &str,
    ) -> Result<T, PlaneError> {
        let mut sent = redis::cmd(command);
        sent.arg(arguments);
        let value = self.ask(&sent, key).await?;
        redis::from_redis_value(value).map_err(|_| failure::unexpected(command))
    }
}

fn field<T: FromRedisValue>(fields: &Fields, name: &str) -> Option<T> {
    let value = fields.get(name).filter(|value| **value != Value::Nil)?;
    redis::from_redis_value(value.clone()).ok()
}

/// The id of an entry that XINFO shows whole; none where there is no entry.
fn entry_id(fields: &Fields, name: &str) -> Option<EntryId> {
    let (id, _): (String, Value) = field(fields, name)?;
    EntryId::parse(&id)
}
