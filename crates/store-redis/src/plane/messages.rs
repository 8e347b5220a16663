//! Pages of a shard's entries, for looking only: nothing is delivered to anyone. Entries may be large: they are read a few at a time, and no more of them once
//! the bytes of the page are used up.

use coordinator_core::names::StreamPrefix;
use redis::Value;
use store::{EntryId, Message, MessageField, MessagePage, MessageRange, PlaneError, VALUE_BYTES};

use super::{RedisPlane, failure, shard_key};

/// How many entries are read at first, while nobody knows how large they are.
const FIRST_STEP: usize = 8;
/// The most that are read at once.
const LARGEST_STEP: usize = 256;

type Row = (String, Vec<(Vec<u8>, Vec<u8>)>);

impl RedisPlane {
    pub(super) async fn page(
        &self,
        stream: &StreamPrefix,
        range: &MessageRange,
    ) -> Result<MessagePage, PlaneError> {
        let key = shard_key(stream, range.shard);
        let mut page = Filling::new(range);
        loop {
            let step = page.next_step();
            let command = page_command(&key, range.is_backward, page.last(), step);
            let value = self.ask(&command, &key).await?;
            let rows: Vec<Row> =
                redis::from_redis_value(value).map_err(|_| failure::unexpected("XRANGE"))?;
            let is_end = rows.len() < step;
            if let Some(has_more) = page.take(rows, is_end)? {
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
    step: usize,
}

impl<'a> Filling<'a> {
    fn new(range: &'a MessageRange) -> Self {
        Self {
            range,
            limit: usize::try_from(range.limit).unwrap_or(usize::MAX),
            messages: Vec::new(),
            read: 0,
            given: 0,
            step: FIRST_STEP,
        }
    }

    /// Behind which entry it goes on.
    fn last(&self) -> Option<EntryId> {
        let last = self.messages.last().map(|message| message.id);
        last.or(self.range.after)
    }

    /// How many are read next: what probably fits, and never more than one beyond the limit, which tells whether there is a next page.
    fn next_step(&mut self) -> usize {
        let count = self.messages.len();
        if let Some(average) = self.read.checked_div(count) {
            let left = self.range.max_bytes.saturating_sub(self.read);
            let fits = left / average.max(1);
            self.step = fits.clamp(1, (self.step * 4).min(LARGEST_STEP));
        }
        self.step.min((self.limit - count).saturating_add(1))
    }

    /// Takes entries in. At the end of the page it gives whether there are more behind it; `is_end` says that nothing is behind these.
    fn take(&mut self, rows: Vec<Row>, is_end: bool) -> Result<Option<bool>, PlaneError> {
        for (id, fields) in rows {
            if self.is_full() {
                return Ok(Some(true));
            }
            let id = EntryId::parse(&id).ok_or_else(|| failure::unexpected("XRANGE"))?;
            let fields = self.fields(fields);
            self.messages.push(Message { id, fields });
        }
        if is_end {
            return Ok(Some(false));
        }
        // Whether there is something behind the limit is still to be seen; what is behind the bytes is not looked at.
        Ok((self.read >= self.range.max_bytes).then_some(true))
    }

    fn is_full(&self) -> bool {
        let has_one = !self.messages.is_empty();
        self.messages.len() >= self.limit || (has_one && self.read >= self.range.max_bytes)
    }

    /// The fields as they are given.
    fn fields(&mut self, fields: Vec<(Vec<u8>, Vec<u8>)>) -> Vec<MessageField> {
        let mut wanted = Vec::new();
        for (name, value) in fields {
            let left = self.range.max_bytes.saturating_sub(self.given);
            let length = value.len();
            self.read = self.read.saturating_add(name.len() + length);
            if self.range.with_fields {
                let value = (length <= VALUE_BYTES.min(left)).then_some(value);
                self.given += name.len() + value.as_ref().map_or(0, Vec::len);
                wanted.push(MessageField {
                    name,
                    value,
                    value_bytes: length as u64,
                });
            }
        }
        wanted
    }
}

fn page_command(key: &str, is_backward: bool, after: Option<EntryId>, count: usize) -> redis::Cmd {
    let after = after.map(|id| format!("({id}"));
    let (name, from, to) = match is_backward {
        true => ("XREVRANGE", "+", "-"),
        false => ("XRANGE", "-", "+"),
    };
    let mut command = redis::cmd(name);
    command
        .arg(key)
        .arg(after.as_deref().unwrap_or(from))
        .arg(to)
        .arg("COUNT")
        .arg(count);
    command
}
