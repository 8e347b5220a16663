//! Where each shard's stream stands, as Redis tells. Unread, pending and length are separate numbers, and unknown is null, never 0.

use serde::{Deserialize, Serialize};

use crate::IsoTimestamp;

/// The shards of a group and their sums.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Offsets {
    /// The logical stream.
    pub stream_prefix: String,
    /// The consumer group.
    pub consumer_group: String,
    /// One row for each shard; sorted by position.
    pub shards: Vec<ShardOffsets>,
    /// Records in all streams; null when that of any shard is: a sum of some would look like one of all (case C04).
    #[cfg_attr(feature = "openapi", schema(required))]
    pub total_stream_length: Option<u64>,
    /// Records delivered and not acknowledged; null when that of any shard is.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub total_pending_count: Option<u64>,
    /// Records not delivered yet; null when that of any shard is.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub total_lag: Option<u64>,
    /// Bytes of all streams; null when that of any shard is.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub total_memory_usage_bytes: Option<u64>,
    /// Whether the size of every stream is known.
    pub memory_usage_known: bool,
    /// When this was read, by the coordinator's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub as_of: Option<IsoTimestamp>,
    /// How long before the answer that was, in milliseconds: who asks again soon is told the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub age_ms: Option<u64>,
}

/// Where one shard's stream stands. What Redis does not tell is null, and `problem` says why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ShardOffsets {
    /// Position of the shard.
    pub shard_index: u32,
    /// Key of its stream.
    pub stream_key: String,
    /// Cluster slot of that key.
    #[cfg_attr(feature = "openapi", schema(maximum = 16_383))]
    pub redis_slot: u16,
    /// Address of the node that serves the slot.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub redis_node_endpoint: Option<String>,
    /// Id of that node in the cluster.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub redis_node_id: Option<String>,
    /// Records in the stream.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub stream_length: Option<u64>,
    /// Id of its first record.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub first_record_id: Option<String>,
    /// Id of its last record.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub last_record_id: Option<String>,
    /// Highest id it ever gave.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub last_generated_id: Option<String>,
    /// Id up to which the group has been served.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub group_last_delivered_id: Option<String>,
    /// Delivered and not acknowledged.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub pending_count: Option<u64>,
    /// Not delivered yet, as Redis counts; null where it can't tell, and where what is in the stream contradicts it (case C25).
    #[cfg_attr(feature = "openapi", schema(required))]
    pub lag: Option<u64>,
    /// Not delivered yet and still there to be; null where that can't be told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub unread: Option<u64>,
    /// What is left to be done: unread and pending together (case C28).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub backlog: Option<u64>,
    /// Records that were trimmed before the group had read them, as far as its readers noticed (case C30).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub trimmed_unread: Option<u64>,
    /// Which life of the stream this is, counted from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub generation: Option<u64>,
    /// Bytes the stream takes.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub memory_usage_bytes: Option<u64>,
    /// Live members that own the shard; sorted.
    pub owner_member_ids: Vec<String>,
    /// Why something above is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub problem: Option<String>,
}
