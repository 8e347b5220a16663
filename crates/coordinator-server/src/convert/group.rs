//! Groups and routings as they are shown.

use std::collections::BTreeMap;
use std::time::Duration;

use coordinator_core::numbers::ShardIndex;
use coordinator_core::record::Provisioning;
use coordinator_core::routing::redis_slot;
use coordinator_core::state::GroupState;
use protocol::{
    GroupChanged, GroupProvisioning, RoutedShard, Routing, stream_key, stream_key_pattern,
};

use super::count;
use super::migration::migration;
use super::offsets::generation;
use crate::engine::GroupNews;

/// A group as operators see it.
pub(crate) fn group(group: &coordinator_core::Group) -> protocol::Group {
    let record = group.record();
    let target = record
        .target
        .iter()
        .map(|(id, shards)| (id.as_str().to_owned(), count(shards.len())));
    let current = group
        .live_members()
        .map(|(id, _)| (id.as_str().to_owned(), count(group.current(id).len())));
    protocol::Group {
        stream_prefix: record.id.stream.as_str().to_owned(),
        consumer_group: record.id.group.as_str().to_owned(),
        state: state(group.state()),
        group_epoch: record.group_epoch.get(),
        assignment_epoch: record.assignment_epoch.get(),
        metadata_version: record.metadata_version.get(),
        shard_count: record.shard_count.get(),
        active_migration: record.migration.as_ref().map(migration),
        target_assignment_summary: target.collect::<BTreeMap<_, _>>(),
        current_assignment_summary: current.collect::<BTreeMap<_, _>>(),
        provisioning: (record.provisioning == Provisioning::Pending)
            .then_some(GroupProvisioning::Pending),
    }
}

/// A group's change as those are told who show it.
pub(crate) fn group_changed(news: &GroupNews) -> GroupChanged {
    GroupChanged {
        stream_prefix: news.group.stream.as_str().to_owned(),
        consumer_group: news.group.group.as_str().to_owned(),
        metadata_version: news.version.get(),
        state: news.state.map(state),
    }
}

/// How keys of a group's stream are routed.
pub(crate) fn routing(group: &coordinator_core::Group, lease: Duration) -> Routing {
    let record = group.record();
    let stream = record.id.stream.as_str();
    let shard = |index: u32| {
        let key = stream_key(stream, index);
        let redis_slot = redis_slot(key.as_bytes()).get();
        RoutedShard {
            shard_index: index,
            redis_slot,
            stream_key: key,
            generation: generation(group, ShardIndex::new(index)),
        }
    };
    Routing {
        stream_prefix: stream.to_owned(),
        consumer_group: record.id.group.as_str().to_owned(),
        metadata_version: record.metadata_version.get(),
        shard_count: record.shard_count.get(),
        stream_key_pattern: stream_key_pattern(stream),
        shards: record
            .shard_count
            .shards()
            .map(|index| shard(index.get()))
            .collect(),
        routing_lease_ms: Some(u64::try_from(lease.as_millis()).unwrap_or(u64::MAX)),
    }
}

pub(super) const fn state(state: GroupState) -> protocol::GroupState {
    match state {
        GroupState::Empty => protocol::GroupState::Empty,
        GroupState::Assigning => protocol::GroupState::Assigning,
        GroupState::Reconciling => protocol::GroupState::Reconciling,
        GroupState::Stable => protocol::GroupState::Stable,
    }
}
