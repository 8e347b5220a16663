//! The identity of one shard on the wire. It says nothing about who owns the shard or where its stream is.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One shard of a stream prefix: `{"shardIndex": 3}`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ShardId {
    /// Position of the shard, counted from 0.
    pub shard_index: u32,
}

impl ShardId {
    /// The shard at `shard_index`.
    #[must_use]
    pub const fn new(shard_index: u32) -> Self {
        Self { shard_index }
    }
}

impl From<u32> for ShardId {
    fn from(shard_index: u32) -> Self {
        Self::new(shard_index)
    }
}

impl fmt::Display for ShardId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.shard_index, f)
    }
}
