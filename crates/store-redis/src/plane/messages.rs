//! Pages of a shard's entries, for looking only: nothing is delivered to anyone. Entries may be large: Redis itself stops once the bytes of the page are used up,
//! and sends no value that is not given.

use coordinator_core::names::StreamPrefix;
use redis::Value;
use store::{EntryId, Message, MessageField, MessagePage, MessageRange, PlaneError, VALUE_BYTES};

use super::{RedisPlane, failure, shard_key};
use crate::reply::Reply;
use crate::script::{self, Call};

/// The most that are read at once, so that others have their turn.
const STEP: usize = 256;

impl RedisPlane {
    pub(super) async fn page(
        &self,
        stream: &StreamPrefix,
        range: &MessageRange,
    ) -> Result<MessagePage, PlaneError> {
        let key = shard_key(stream, range.shard);
        let mut page = Filling::new(range);
        loop {
            let reply = self.redis.run_again(&page.next_part(&[&key])).await;
            let reply = reply.map_err(|error| failure::of_part(&key, error))?;
            if let Some(has_more) = page.take(reply)? {
                let messages = page.messages;
                return Ok(MessagePage { messages, has_more });
            }
        }
    }

    /// Asks for something that changes nothing.
    pub(super) async fn ask(&self, command: &redis::Cmd, key: &str) -> Result<Value, PlaneError> {
        let answer = self.redis.send_again(command).await;
        answer.map_err(|failure| failure::of_command(key, failure))
    }
}

/// A page that is being filled.
struct Filling<'a> {
    range: &'a MessageRange,
    limit: usize,
    messages: Vec<Message>,
    /// How many bytes its entries have, and how many of them are given.
    read: usize,
    given: usize,
}

impl<'a> Filling<'a> {
    fn new(range: &'a MessageRange) -> Self {
        Self {
            range,
            limit: usize::try_from(range.limit).unwrap_or(usize::MAX),
            messages: Vec::new(),
            read: 0,
            given: 0,
        }
    }

    /// What is read next: never more than one entry beyond the limit, which tells whether there is a next page.
    fn next_part<'k>(&self, keys: &'k [&'k str]) -> Call<'k> {
        let last = self.messages.last().map(|message| message.id);
        let after = last.or(self.range.after).map(|id| format!("({id}"));
        let (command, from, to) = match self.range.is_backward {
            true => ("XREVRANGE", "+", "-"),
            false => ("XRANGE", "-", "+"),
        };
        let most = (self.limit - self.messages.len()).saturating_add(1);
        let left = |used: usize| self.range.max_bytes.saturating_sub(used) as u64;
        // One entry is always read.
        let bytes = left(self.read).max(u64::from(self.messages.is_empty()));
        script::PAGE
            .call(keys)
            .arg(command)
            .arg(after.as_deref().unwrap_or(from))
            .arg(to)
            .number(most.min(STEP) as u64)
            .number(bytes)
            .number(left(self.given))
            .number(VALUE_BYTES as u64)
            .number(u64::from(self.range.with_fields))
    }

    /// Takes entries in. At the end of the page it gives whether there are more behind it.
    fn take(&mut self, mut reply: Reply) -> Result<Option<bool>, PlaneError> {
        let entries = reply.values().map_err(failure::of_store)?;
        let is_end = reply.text().map_err(failure::of_store)? == "end";
        for entry in entries {
            if self.messages.len() >= self.limit {
                return Ok(Some(true));
            }
            let message = self.message(entry);
            self.messages
                .push(message.ok_or_else(|| failure::unexpected("XRANGE"))?);
        }
        if is_end {
            return Ok(Some(false));
        }
        // Whether there is something behind the limit is still to be seen; what is behind the bytes is not looked at.
        Ok((self.read >= self.range.max_bytes).then_some(true))
    }

    fn message(&mut self, entry: Value) -> Option<Message> {
        let Value::Array(parts) = entry else {
            return None;
        };
        let mut parts = parts.into_iter();
        let (Some(Value::BulkString(id)), Some(Value::Int(bytes))) = (parts.next(), parts.next())
        else {
            return None;
        };
        self.read = self.read.saturating_add(usize::try_from(bytes).ok()?);
        let mut fields = Vec::with_capacity(parts.len() / 2);
        while let (Some(name), Some(value)) = (parts.next(), parts.next()) {
            let Value::BulkString(name) = name else {
                return None;
            };
            let (value, value_bytes) = match value {
                Value::BulkString(value) => {
                    let length = value.len() as u64;
                    (Some(value), length)
                }
                Value::Int(length) => (None, u64::try_from(length).ok()?),
                _ => return None,
            };
            self.given += name.len() + value.as_ref().map_or(0, Vec::len);
            fields.push(MessageField {
                name,
                value,
                value_bytes,
            });
        }
        let id = EntryId::parse(std::str::from_utf8(&id).ok()?)?;
        Some(Message { id, fields })
    }
}
