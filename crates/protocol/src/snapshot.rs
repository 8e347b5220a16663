//! A snapshot of the metadata: one JSON object a line. A header, a line for each group, and an end whose digest tells a whole file from a cut one.

use serde::{Deserialize, Serialize};

use crate::IsoTimestamp;

/// What the header calls the format.
pub const SNAPSHOT_FORMAT: &str = "redis-stream-coordinator-snapshot";
/// The version of the format that is written and read.
pub const SNAPSHOT_FORMAT_VERSION: u32 = 1;
/// The longest line that is taken, in bytes.
pub const SNAPSHOT_LINE_MAX_BYTES: usize = 16 * 1024 * 1024;
/// The longest snapshot that is taken, in bytes.
pub const SNAPSHOT_MAX_BYTES: usize = 1024 * 1024 * 1024;
/// The media type of a snapshot.
pub const SNAPSHOT_MEDIA_TYPE: &str = "application/x-ndjson";

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum SnapshotLine {
    /// The first.
    Header(SnapshotHeader),
    /// A group.
    Group(SnapshotGroup),
    /// A group whose record could not be read: it is not in the snapshot.
    Unreadable(SnapshotUnreadable),
    /// The last.
    End(SnapshotEnd),
}

/// What a snapshot is, and of when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SnapshotHeader {
    /// [`SNAPSHOT_FORMAT`].
    pub format: String,
    /// [`SNAPSHOT_FORMAT_VERSION`].
    pub format_version: u32,
    /// The version of the coordinator that wrote it.
    pub coordinator_version: String,
    /// Which coordinator that was.
    pub coordinator_id: String,
    /// When it began to write. Each group is as it was when its line was written.
    pub taken_at: IsoTimestamp,
    /// How many groups there were at the beginning.
    pub groups: u64,
}

/// A group as the store has it. Leases are not part of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SnapshotGroup {
    /// The logical stream.
    pub stream_prefix: String,
    /// The consumer group.
    pub consumer_group: String,
    /// How often the record had been written.
    pub revision: u64,
    /// Its shards.
    pub shard_count: u32,
    /// Its version.
    pub metadata_version: u64,
    /// Its epoch.
    pub group_epoch: u64,
    /// Its live members.
    pub members: u64,
    /// The record, as the text that the store keeps.
    pub record: String,
    /// SHA-256 of that text, in hex.
    pub sha256: String,
}

/// A group that is missing from a snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SnapshotUnreadable {
    /// The logical stream.
    pub stream_prefix: String,
    /// The consumer group.
    pub consumer_group: String,
    /// Why its record can't be read.
    pub reason: String,
}

/// The end: only what has one is whole.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct SnapshotEnd {
    /// How many groups are in it.
    pub groups: u64,
    /// SHA-256 of everything before this line, line breaks included, in hex.
    pub sha256: String,
}

/// The query of a restore: `?force=&requestedBy=&reason=`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
#[serde(rename_all = "camelCase")]
pub struct RestoreQuery {
    /// Whether groups that are there are replaced. Without it the store must be empty.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", param(default = false))]
    pub force: bool,
    /// Who asks, for the audit, which tells of its first 256 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(nullable = false))]
    pub requested_by: Option<String>,
    /// Why, for the audit, which tells of its first 1,024 bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(nullable = false))]
    pub reason: Option<String>,
}

/// What a restore did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Restored {
    /// The groups, in the order of the snapshot.
    pub groups: Vec<RestoredGroup>,
}

/// A group that was restored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RestoredGroup {
    /// The logical stream.
    pub stream_prefix: String,
    /// The consumer group.
    pub consumer_group: String,
    /// What was there before.
    pub outcome: RestoreOutcome,
    /// The version it has now: that of the snapshot.
    pub metadata_version: u64,
    /// The epoch it has now: above every one that is known to have been handed out.
    pub group_epoch: u64,
}

/// What was there before a group was restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RestoreOutcome {
    /// Nothing.
    Created,
    /// A record, which is gone.
    Replaced,
    /// A record that nobody could read, which is gone.
    Repaired,
}
