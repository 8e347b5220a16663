//! Flat rows for dashboards: each endpoint answers an array of one of these. Numbers that Redis does not tell are null.

use serde::{Deserialize, Serialize};

use crate::{GroupState, IsoTimestamp, MemberState};

/// One entry of a dashboard variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GrafanaOption {
    /// What is shown.
    #[serde(rename = "__text")]
    pub text: String,
    /// What it stands for.
    #[serde(rename = "__value")]
    pub value: String,
}

/// One group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct GrafanaGroupRow {
    /// The logical stream.
    pub stream_prefix: String,
    /// The consumer group.
    pub consumer_group: String,
    /// How settled the group is.
    pub state: GroupState,
    /// Epoch of the membership.
    pub group_epoch: u64,
    /// Epoch of the assignment.
    pub assignment_epoch: u64,
    /// Version of the metadata.
    pub metadata_version: u64,
    /// Shards of the group.
    pub shard_count: u32,
    /// Live members.
    pub active_members: u32,
    /// Members on record.
    pub total_members: u32,
    /// Shards that have an owner.
    pub current_shards: u32,
    /// Shards that should have one.
    pub target_shards: u32,
    /// Both as text: `18 / 20`.
    pub assigned_shard_ratio: String,
    /// Shards being given up.
    pub revoking_shards: u32,
    /// Records in the streams.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub total_stream_length: Option<u64>,
    /// Delivered and not acknowledged.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub total_pending_count: Option<u64>,
    /// Not delivered yet.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub total_lag: Option<u64>,
    /// Bytes the streams take.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub total_memory_usage_bytes: Option<u64>,
}

/// One member.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct GrafanaMemberRow {
    /// The logical stream.
    pub stream_prefix: String,
    /// The consumer group.
    pub consumer_group: String,
    /// The member.
    pub member_id: String,
    /// Its name for people.
    pub member_name: String,
    /// Where in its life it is.
    pub state: MemberState,
    /// The epoch it was last given.
    pub member_epoch: i64,
    /// The version it last reported.
    pub metadata_version: u64,
    /// Shards it owns.
    pub current_shard_count: u32,
    /// Shards it is giving up.
    pub revoking_shard_count: u32,
    /// Workers it may run.
    pub runtime_max_concurrency: u32,
    /// Workers that are busy.
    pub active_consumer_workers: u32,
    /// When it was last heard.
    pub last_heartbeat_at: IsoTimestamp,
    /// Until when it lives without being heard again.
    pub member_lease_expires_at: IsoTimestamp,
}

/// One shard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct GrafanaShardRow {
    /// The logical stream.
    pub stream_prefix: String,
    /// The consumer group.
    pub consumer_group: String,
    /// Shards of the group.
    pub shard_count: u32,
    /// Position of this one.
    pub shard_index: u32,
    /// How it is shown.
    pub shard_label: String,
    /// Key of its stream.
    pub stream_key: String,
    /// Cluster slot of that key.
    #[cfg_attr(feature = "openapi", schema(maximum = 16_383))]
    pub redis_slot: u16,
    /// Address of the node that serves the slot.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub redis_node_endpoint: Option<String>,
    /// Records in the stream.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub stream_length: Option<u64>,
    /// Id of its last record.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub last_record_id: Option<String>,
    /// Highest id it ever gave.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub last_generated_id: Option<String>,
    /// Id up to which the group has been served.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub group_last_delivered_id: Option<String>,
    /// Last id its owner acknowledged.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub consumer_last_acked_id: Option<String>,
    /// Delivered and not acknowledged.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub pending_count: Option<u64>,
    /// Not delivered yet.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub lag: Option<u64>,
    /// Bytes the stream takes.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub memory_usage_bytes: Option<u64>,
    /// Who should own it, separated by commas.
    pub target_owner_member_ids: String,
    /// Who owns it, separated by commas.
    pub current_owner_member_ids: String,
    /// Why something above is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub problem: Option<String>,
}

/// Who owns one shard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct GrafanaAssignmentRow {
    /// The logical stream.
    pub stream_prefix: String,
    /// The consumer group.
    pub consumer_group: String,
    /// Position of the shard.
    pub shard_index: u32,
    /// Who should own it, separated by commas.
    pub target_owners: String,
    /// Who owns it, separated by commas.
    pub current_owners: String,
    /// Who is giving it up, separated by commas.
    pub revoking_owners: String,
}

/// One record, or a shard of which none can be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct GrafanaMessageRow {
    /// The logical stream.
    pub stream_prefix: String,
    /// The consumer group.
    pub consumer_group: String,
    /// Position of the shard.
    pub shard_index: u32,
    /// Key of its stream.
    pub stream_key: String,
    /// Id of the record; null in the row of a shard that can't be read.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub record_id: Option<String>,
    /// The time in that id.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub record_time: Option<IsoTimestamp>,
    /// The fields as JSON text; null while values are masked.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub fields_json: Option<String>,
    /// Why the shard can't be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub problem: Option<String>,
}
