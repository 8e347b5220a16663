//! Changes of the shard count as the coordinator shows them; how they proceed is not known here.

use serde::{Deserialize, Serialize};

use crate::IsoTimestamp;

/// `reshardingId` of a change that changed nothing.
pub const NOOP_RESHARDING_ID: &str = "noop";

/// One change of the shard count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Migration {
    /// `reshard-<uuid>`, or `noop` where nothing was to be changed.
    pub resharding_id: String,
    /// Shards before.
    pub from_shard_count: u32,
    /// Shards after.
    pub to_shard_count: u32,
    /// How far it has come.
    pub state: MigrationState,
    /// When it was begun.
    pub created_at: IsoTimestamp,
    /// When its state last changed.
    pub updated_at: IsoTimestamp,
    /// The removed shards one by one; only while they are drained.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub shards: Option<Vec<DrainingShard>>,
}

/// How far a change of the shard count has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum MigrationState {
    /// Recorded; streams are being provisioned.
    Preparing,
    /// Producers are routed to the new count.
    Active,
    /// Removed shards are read to their end.
    Draining,
    /// Done.
    Deprecated,
    /// Taken back; added shards are read to their end.
    RollingBack,
    /// Taken back.
    RolledBack,
}

/// A removed shard on its way out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct DrainingShard {
    /// Position of the shard.
    pub shard_index: u32,
    /// How far it has come.
    pub phase: ShardDrainPhase,
    /// Delivered and not acknowledged, the most of any consumer group; null when Redis cannot tell.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub pending: Option<u64>,
    /// Not delivered yet, the most of any consumer group; null when Redis cannot tell.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub lag: Option<u64>,
    /// What stands against its being retired, per consumer group (rule G4).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<OpenCondition>,
}

/// What stands against a shard's being retired, in one consumer group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct OpenCondition {
    /// The consumer group.
    pub consumer_group: String,
    /// What.
    pub condition: DrainCondition,
    /// How many records, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub count: Option<u64>,
}

/// What can stand against a shard's being retired. Rule G4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum DrainCondition {
    /// Records delivered and not acknowledged.
    Pending,
    /// A lag above 0, or one that Redis cannot tell.
    Lag,
    /// A record after the last delivered one.
    Unread,
    /// The stream does not have a group that the coordinator knows: whether it handled the records is not known.
    GroupMissing,
}

/// How far a removed shard has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ShardDrainPhase {
    /// Records may be left; its owner goes on reading.
    Draining,
    /// Shown to be empty; its owner is giving it up.
    Drained,
    /// Its stream is gone.
    Retired,
}

/// The changes of one group, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Migrations {
    /// Those under way and those kept.
    pub migrations: Vec<Migration>,
    /// Which of them is under way; null when none is.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub active_resharding_id: Option<String>,
}
