//! A group as the coordinator shows it. Members and their shards are told in the monitoring answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Migration;

/// One group: a consumer group of a stream prefix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Group {
    /// The logical stream.
    pub stream_prefix: String,
    /// The consumer group on each of its shards.
    pub consumer_group: String,
    /// How settled the group is.
    pub state: GroupState,
    /// Epoch of the membership and of the assignable shards.
    pub group_epoch: u64,
    /// Epoch of the target assignment.
    pub assignment_epoch: u64,
    /// Version of everything a client can see.
    pub metadata_version: u64,
    /// Shards that producers route to.
    pub shard_count: u32,
    /// The change of the shard count that is under way; null when there is none.
    #[cfg_attr(feature = "openapi", schema(required))]
    pub active_migration: Option<Migration>,
    /// Shards per member as they should be.
    pub target_assignment_summary: BTreeMap<String, u32>,
    /// Shards per member as last reported.
    pub current_assignment_summary: BTreeMap<String, u32>,
    /// Told only of a group that is half made: its creation is to be repeated, or the group deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub provisioning: Option<GroupProvisioning>,
}

/// How far the making of a group's streams has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum GroupProvisioning {
    /// Not all streams and consumer groups of it were made; no member is taken in and no routing is told.
    Pending,
}

/// How settled a group is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum GroupState {
    /// Nobody is a live member.
    Empty,
    /// The target is older than the membership.
    Assigning,
    /// Members are on their way to the target.
    Reconciling,
    /// Every member has what it should have.
    Stable,
}

/// All groups, sorted by prefix and group; or a page of them, in an order that stays the same.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct GroupList {
    /// The groups.
    pub groups: Vec<Group>,
    /// What to ask with for the next page; absent at the end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub next_cursor: Option<String>,
    /// Where it was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub served_by: Option<ListedFrom>,
    /// How long ago the index was built from the records, in milliseconds; changes since then are in it, too, unless one was lost. Absent where the
    /// records were read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub index_age_ms: Option<u64>,
}

/// Where a list of groups was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ListedFrom {
    /// In an index, which may be late by a moment.
    Index,
    /// In the records of the groups.
    Records,
}

/// The most groups of a page; the least is 1.
pub const GROUPS_LIMIT_MAX: u32 = 1_000;

/// The query for a list of groups: `?streamPrefix=&state=&limit=&cursor=`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
#[serde(rename_all = "camelCase")]
pub struct GroupsQuery {
    /// Only those of this stream; absent: of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(nullable = false))]
    pub stream_prefix: Option<String>,
    /// Only those in this state. A page may have fewer groups for it than it could have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(nullable = false))]
    pub state: Option<GroupState>,
    /// At most so many, 1 to [`GROUPS_LIMIT_MAX`]; absent: all, in one answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "openapi",
        param(nullable = false, minimum = 1, maximum = 1000)
    )]
    pub limit: Option<u32>,
    /// The `nextCursor` of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "openapi",
        param(nullable = false, max_length = 1_400, pattern = "^[A-Za-z0-9_-]*$")
    )]
    pub cursor: Option<String>,
}
