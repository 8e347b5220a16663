//! How far members say they have come. For monitoring only: no decision reads it.

use coordinator_core::numbers::ShardIndex;
use coordinator_core::time::Timestamp;

/// What one member last reported of its work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemberProgress {
    /// How many more records its process could handle at that moment.
    pub available_concurrency: u32,
    /// A row for each shard it reported about (rule O8).
    pub shards: Vec<ShardProgress>,
}

/// How far a member is with one shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShardProgress {
    /// The shard.
    pub shard: ShardIndex,
    /// The stream that it reads.
    pub stream_key: String,
    /// The last entry it was given.
    pub last_delivered_id: Option<String>,
    /// The last entry it acknowledged.
    pub last_acked_id: Option<String>,
    /// Entries given and not acknowledged.
    pub pending_count: u64,
    /// When the member measured it, in its own time.
    pub updated_at: Option<Timestamp>,
}
