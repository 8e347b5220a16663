//! What a line of a list says of a group: as much of a group with a million members as of one with none.

use coordinator_core::Group;
use serde::{Deserialize, Serialize};

use super::count;

/// A group in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct GroupBrief {
    pub(crate) state: protocol::GroupState,
    pub(crate) group_epoch: u64,
    pub(crate) assignment_epoch: u64,
    pub(crate) metadata_version: u64,
    pub(crate) shard_count: u32,
    /// Whether its shard count is being changed.
    pub(crate) is_changing: bool,
    pub(crate) live_members: u32,
    pub(crate) members: u32,
    /// What live members have by their own word.
    pub(crate) current_shards: u32,
    /// What members are to have.
    pub(crate) target_shards: u32,
    pub(crate) revoking_shards: u32,
}

impl GroupBrief {
    pub(crate) fn of(group: &Group) -> Self {
        let record = group.record();
        let current = group.live_members().map(|(id, _)| group.current(id).len());
        let target = record.target.iter().map(|(_, shards)| shards.len());
        let revoking = group.live_members().map(|(id, _)| group.draining(id).len());
        Self {
            state: super::group::state(group.state()),
            group_epoch: record.group_epoch.get(),
            assignment_epoch: record.assignment_epoch.get(),
            metadata_version: record.metadata_version.get(),
            shard_count: record.shard_count.get(),
            is_changing: record.migration.is_some(),
            live_members: count(group.live_members().count()),
            members: count(record.members.len()),
            current_shards: count(current.sum()),
            target_shards: count(target.sum()),
            revoking_shards: count(revoking.sum()),
        }
    }
}
