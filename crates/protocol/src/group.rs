//! A group as the coordinator shows it. Members and their shards are told in the monitoring answers.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Migration;

/// One group: a consumer group of a stream prefix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
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
    pub active_migration: Option<Migration>,
    /// Shards per member as they should be.
    pub target_assignment_summary: BTreeMap<String, u32>,
    /// Shards per member as last reported.
    pub current_assignment_summary: BTreeMap<String, u32>,
    /// Told only of a group that is half made: its creation is to be repeated, or the group deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provisioning: Option<GroupProvisioning>,
}

/// How far the making of a group's streams has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum GroupProvisioning {
    /// Not all streams and consumer groups of it were made; no member is taken in and no routing is told.
    Pending,
}

/// How settled a group is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

/// All groups; sorted by prefix and group.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupList {
    /// The groups.
    pub groups: Vec<Group>,
}
