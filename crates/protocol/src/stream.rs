//! What operators ask for (create, delete, change the shard count) and the answers that are not a group or a migration.

use serde::{Deserialize, Serialize};

use crate::Migration;

/// Creates a stream prefix and the group named like it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct CreateStreamRequest {
    /// Shards to begin with; absent: the coordinator's default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 16_384))]
    pub initial_shard_count: Option<u32>,
    /// Who asks, for the audit.
    #[cfg_attr(feature = "openapi", schema(pattern = "\\S"))]
    pub requested_by: String,
    /// Why, for the audit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Creates a further group of a prefix; the body is that of [`CreateStreamRequest`].
pub type CreateGroupRequest = CreateStreamRequest;

/// A stream prefix that now exists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct StreamCreated {
    /// The logical stream.
    pub stream_prefix: String,
    /// Its shards.
    pub shard_count: u32,
    /// Version of the group's metadata.
    pub metadata_version: u64,
}

/// Deletes a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct DeleteGroupRequest {
    /// Who asks, for the audit.
    #[cfg_attr(feature = "openapi", schema(pattern = "\\S"))]
    pub requested_by: String,
    /// Why, for the audit.
    pub reason: String,
    /// Also while members are live.
    #[serde(default)]
    pub force: bool,
}

/// Changes the shard count of a prefix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ScaleRequest {
    /// Shards to end with.
    #[cfg_attr(feature = "openapi", schema(maximum = 16_384))]
    pub target_shard_count: u32,
    /// Who asks, for the audit.
    #[cfg_attr(feature = "openapi", schema(pattern = "\\S"))]
    pub requested_by: String,
    /// Why, for the audit.
    pub reason: String,
    /// The operator's note of when the old shards may go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deprecated_after: Option<String>,
}

/// A change of the shard count that was begun for every group of a prefix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct StreamScaled {
    /// The logical stream.
    pub stream_prefix: String,
    /// Shards it will have.
    pub target_shard_count: u32,
    /// The groups concerned; sorted.
    pub affected_consumer_groups: Vec<String>,
    /// Their changes, in the same order.
    pub migrations: Vec<Migration>,
}

/// Takes a change of the shard count back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RollbackRequest {
    /// Who asks, for the audit.
    #[cfg_attr(feature = "openapi", schema(pattern = "\\S"))]
    pub requested_by: String,
    /// Why, for the audit.
    pub reason: String,
}
