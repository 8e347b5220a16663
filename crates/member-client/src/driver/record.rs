//! One record of a shard, as the handler is given it. How it is read and what becomes of it is not known here.

use std::fmt;
use std::sync::Arc;

use protocol::ShardId;

/// Names and values as they are in the stream, in their order.
pub(crate) type Fields = Vec<(Vec<u8>, Vec<u8>)>;

/// One record of one shard. Clones share its content.
#[derive(Clone)]
pub struct Record {
    pub(crate) shard: ShardId,
    pub(crate) stream_key: Arc<str>,
    pub(crate) member_id: Arc<str>,
    pub(crate) epoch: i64,
    pub(crate) id: Arc<str>,
    pub(crate) fields: Arc<Fields>,
    pub(crate) attempt: u32,
    pub(crate) deliveries: u64,
}

impl Record {
    /// The shard.
    #[must_use]
    pub fn shard(&self) -> ShardId {
        self.shard
    }

    /// The key of the shard's stream.
    #[must_use]
    pub fn stream_key(&self) -> &str {
        &self.stream_key
    }

    /// The member that owns the shard. A process with a concurrency above 1 is several members.
    #[must_use]
    pub fn member_id(&self) -> &str {
        &self.member_id
    }

    /// The member's epoch when it was given the shard: the same for all records of one ownership.
    #[must_use]
    pub fn epoch(&self) -> i64 {
        self.epoch
    }

    /// The id in the stream.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Names and values in the order of the stream; a name may occur more than once.
    #[must_use]
    pub fn fields(&self) -> &[(Vec<u8>, Vec<u8>)] {
        &self.fields
    }

    /// The first value of that name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&[u8]> {
        self.fields
            .iter()
            .find(|(found, _)| found == name.as_bytes())
            .map(|(_, value)| value.as_slice())
    }

    /// The how-manieth attempt at the record this is, from 1. On a shard whose lives are told apart it counts those of earlier
    /// processes too, also of one that died of the record (case C21); an earlier delivery of which nothing else is known
    /// counts as one. Elsewhere it counts what this worker has done.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// How often Redis has delivered the record, this time included. More than 1: an earlier owner, or an earlier connection
    /// of this one, had it and did not acknowledge it, perhaps because it died of it.
    #[must_use]
    pub fn deliveries(&self) -> u64 {
        self.deliveries
    }
}

/// Without the content, which may be confidential.
impl fmt::Debug for Record {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Record")
            .field("stream_key", &self.stream_key)
            .field("epoch", &self.epoch)
            .field("id", &self.id)
            .field("fields", &self.fields.len())
            .field("attempt", &self.attempt)
            .field("deliveries", &self.deliveries)
            .finish_non_exhaustive()
    }
}
