//! What operators and dashboards read about the coordinator and the members of a group. Offsets and records have their own modules.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{IsoTimestamp, ShardId, ShardProgress};

/// How the coordinator fares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// The worst of the parts.
    pub status: HealthStatus,
    /// Which coordinator answered.
    pub coordinator_id: String,
    /// Whether its store answers.
    pub redis: HealthStatus,
    /// Whether its periodic work keeps up.
    #[serde(rename = "loop")]
    pub tick_loop: HealthStatus,
    /// What is wrong with the store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub redis_detail: Option<String>,
    /// How long the store's answer took, in milliseconds; absent when there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub redis_latency_ms: Option<u64>,
    /// What is wrong with the periodic work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub loop_detail: Option<String>,
    /// When the periodic work last ran to its end; absent before the first time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub last_tick_at: Option<IsoTimestamp>,
}

/// How well something works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum HealthStatus {
    /// As it should.
    Up,
    /// With losses.
    Degraded,
    /// Not at all.
    Down,
}

/// One member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Member {
    /// Its id.
    pub member_id: String,
    /// Its name for people; its id when it gave none.
    pub member_name: String,
    /// Where in its life it is.
    pub state: MemberState,
    /// The epoch it was last given.
    pub member_epoch: i64,
    /// The version it last reported.
    pub metadata_version: u64,
    /// Workers it may run.
    pub runtime_max_concurrency: u32,
    /// Workers that are busy.
    pub active_consumer_workers: u32,
    /// Shards it last reported owning; sorted.
    pub current_assignment: Vec<ShardId>,
    /// Shards its last answer gave it; sorted.
    pub granted_assignment: Vec<ShardId>,
    /// Shards it is giving up; sorted.
    pub revoking: Vec<ShardId>,
    /// When it was last heard.
    pub last_heartbeat_at: IsoTimestamp,
    /// Until when it lives without being heard again.
    pub member_lease_expires_at: IsoTimestamp,
    /// How long giving up a shard may take, in milliseconds.
    pub rebalance_timeout_ms: u64,
    /// When that time is over; absent when it owes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub rebalance_deadline_at: Option<IsoTimestamp>,
    /// How far it has come; sorted by shard.
    pub shard_progress: Vec<ShardProgress>,
}

/// Where in its life a member is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum MemberState {
    /// Joining.
    Starting,
    /// Working.
    Active,
    /// Giving everything up.
    Leaving,
    /// Not heard for longer than its lease.
    Expired,
    /// Shut out.
    Fenced,
}

/// All members of a group; sorted by id.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct MemberList {
    /// The members.
    pub members: Vec<Member>,
}

/// Who should have which shard, and who has.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Assignments {
    /// Shards per member as they should be.
    pub target_assignment: BTreeMap<String, Vec<ShardId>>,
    /// Shards per member as last reported.
    pub current_assignments: BTreeMap<String, Vec<ShardId>>,
    /// Shards per member that are being given up.
    pub revoke_progress: BTreeMap<String, Vec<ShardId>>,
    /// Rules found broken; empty in a sound group.
    pub invariant_violations: Vec<String>,
}

/// How far the members of a group have come; sorted by member and shard.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Consumption {
    /// One row for each member and shard.
    pub progress: Vec<ProgressRow>,
    /// When this was read, by the coordinator's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub as_of: Option<IsoTimestamp>,
    /// How long before the answer that was, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub age_ms: Option<u64>,
}

/// How far one member has come in one shard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProgressRow {
    /// The logical stream.
    pub stream_prefix: String,
    /// The consumer group.
    pub consumer_group: String,
    /// The member.
    pub member_id: String,
    /// Its name for people.
    pub member_name: String,
    /// Where in its life it is.
    pub member_state: MemberState,
    /// What it reported.
    #[serde(flatten)]
    pub progress: ShardProgress,
}
