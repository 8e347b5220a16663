//! Pages of a shard's entries, for looking only: nothing is delivered to anyone.

use coordinator_core::names::StreamPrefix;
use redis::Value;
use store::{EntryId, Message, MessagePage, MessageRange, PlaneError};

use super::{RedisPlane, failure, shard_key};

type Row = (String, Vec<(Vec<u8>, Vec<u8>)>);

impl RedisPlane {
    pub(super) async fn page(
        &self,
        stream: &StreamPrefix,
        range: &MessageRange,
    ) -> Result<MessagePage, PlaneError> {
        let key = shard_key(stream, range.shard);
        let value = self.ask(&page_command(&key, range), &key).await?;
        let rows: Vec<Row> =
            redis::from_redis_value(value).map_err(|_| failure::unexpected("XRANGE"))?;
        let limit = range.limit as usize;
        let has_more = rows.len() > limit;
        let message = |(id, fields): Row| {
            let id = EntryId::parse(&id).ok_or_else(|| failure::unexpected("XRANGE"))?;
            Ok(Message { id, fields })
        };
        let messages = rows.into_iter().take(limit).map(message);
        Ok(MessagePage {
            messages: messages.collect::<Result<_, PlaneError>>()?,
            has_more,
        })
    }

    /// Asks for something that changes nothing.
    pub(super) async fn ask(&self, command: &redis::Cmd, key: &str) -> Result<Value, PlaneError> {
        let answer = self.redis.send_again(command).await;
        answer.map_err(|failure| failure::of_command(key, failure))
    }
}

/// One more than is wanted tells whether there is a next page.
fn page_command(key: &str, range: &MessageRange) -> redis::Cmd {
    let after = |id: EntryId| format!("({id}");
    let mut command = redis::cmd(if range.is_backward {
        "XREVRANGE"
    } else {
        "XRANGE"
    });
    let (from, to) = if range.is_backward {
        ("+", "-")
    } else {
        ("-", "+")
    };
    command
        .arg(key)
        .arg(range.after.map_or_else(|| from.to_owned(), after))
        .arg(to)
        .arg("COUNT")
        .arg(u64::from(range.limit) + 1);
    command
}
