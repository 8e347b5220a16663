//! Where producers write. Which key goes to which shard is not decided here.

use serde::{Deserialize, Serialize};

/// Where the shards of a group are written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Routing {
    /// The logical stream.
    pub stream_prefix: String,
    /// The group that was asked for.
    pub consumer_group: String,
    /// Version of the metadata this was taken from.
    pub metadata_version: u64,
    /// Shards to spread keys over; 0 when nothing may be published.
    pub shard_count: u32,
    /// How a stream key is made: `orders:{shardIndex}`.
    pub stream_key_pattern: String,
    /// The shards; sorted by position, one for each of `shardCount`.
    pub shards: Vec<RoutedShard>,
    /// For how many milliseconds a producer may go on with this answer when it cannot ask again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub routing_lease_ms: Option<u64>,
}

/// Where one shard is written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RoutedShard {
    /// Position of the shard.
    pub shard_index: u32,
    /// Key of its stream.
    pub stream_key: String,
    /// Cluster slot of that key.
    #[cfg_attr(feature = "openapi", schema(maximum = 16_383))]
    pub redis_slot: u16,
    /// Which life of the stream this is, counted from 1; absent where lives are not told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub generation: Option<u64>,
}
