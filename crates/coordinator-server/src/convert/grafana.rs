//! Flat rows for dashboards, made of what the other views show. What is not known is null (cases C04, C25).

use std::collections::BTreeMap;

use coordinator_core::Group;
use coordinator_core::names::MemberId;
use coordinator_core::numbers::ShardIndex;
use protocol::{
    Assignments, GrafanaAssignmentRow, GrafanaGroupRow, GrafanaMemberRow, GrafanaMessageRow,
    GrafanaOption, GrafanaShardRow, IsoTimestamp, Offsets, ShardId, stream_key,
};
use serde_json::{Map, Value};
use store::{EntryId, MemberProgress, Message};

use super::member::{assignments, members};

/// One choice of a variable.
pub(crate) fn option(text: String, value: String) -> GrafanaOption {
    GrafanaOption { text, value }
}

/// A group, with the sums of its streams where they are known.
pub(crate) fn group_row(group: &Group, offsets: Option<&Offsets>) -> GrafanaGroupRow {
    let view = super::group::group(group);
    let sum = |counts: &BTreeMap<String, u32>| counts.values().sum::<u32>();
    let current = sum(&view.current_assignment_summary);
    let target = sum(&view.target_assignment_summary);
    let revoking = group.live_members().map(|(id, _)| group.draining(id).len());
    GrafanaGroupRow {
        state: view.state,
        group_epoch: view.group_epoch,
        assignment_epoch: view.assignment_epoch,
        metadata_version: view.metadata_version,
        shard_count: view.shard_count,
        active_members: count(group.live_members().count()),
        total_members: count(group.record().members.len()),
        current_shards: current,
        target_shards: target,
        assigned_shard_ratio: format!("{current} / {}", view.shard_count),
        revoking_shards: count(revoking.sum()),
        total_stream_length: offsets.and_then(|offsets| offsets.total_stream_length),
        total_pending_count: offsets.and_then(|offsets| offsets.total_pending_count),
        total_lag: offsets.and_then(|offsets| offsets.total_lag),
        total_memory_usage_bytes: offsets.and_then(|offsets| offsets.total_memory_usage_bytes),
        stream_prefix: view.stream_prefix,
        consumer_group: view.consumer_group,
    }
}

/// The members of a group.
pub(crate) fn member_rows(
    group: &Group,
    progress: &BTreeMap<MemberId, MemberProgress>,
) -> Vec<GrafanaMemberRow> {
    let id = &group.record().id;
    let members = members(group, progress).members.into_iter();
    let rows = members.map(|member| GrafanaMemberRow {
        stream_prefix: id.stream.as_str().to_owned(),
        consumer_group: id.group.as_str().to_owned(),
        member_id: member.member_id,
        member_name: member.member_name,
        state: member.state,
        member_epoch: member.member_epoch,
        metadata_version: member.metadata_version,
        current_shard_count: count(member.current_assignment.len()),
        revoking_shard_count: count(member.revoking.len()),
        runtime_max_concurrency: member.runtime_max_concurrency,
        active_consumer_workers: member.active_consumer_workers,
        last_heartbeat_at: member.last_heartbeat_at,
        member_lease_expires_at: member.member_lease_expires_at,
    });
    rows.collect()
}

/// The shards of a group, as they were looked at. Who last acknowledged what is the members' word.
pub(crate) fn shard_rows(
    group: &Group,
    offsets: Offsets,
    progress: Option<&BTreeMap<MemberId, MemberProgress>>,
) -> Vec<GrafanaShardRow> {
    let assignments = assignments(group);
    let row = |shard: protocol::ShardOffsets| GrafanaShardRow {
        stream_prefix: offsets.stream_prefix.clone(),
        consumer_group: offsets.consumer_group.clone(),
        shard_count: group.record().shard_count.get(),
        shard_index: shard.shard_index,
        shard_label: shard.stream_key.clone(),
        stream_key: shard.stream_key,
        redis_slot: shard.redis_slot,
        redis_node_endpoint: shard.redis_node_endpoint,
        stream_length: shard.stream_length,
        last_record_id: shard.last_record_id,
        last_generated_id: shard.last_generated_id,
        group_last_delivered_id: shard.group_last_delivered_id,
        consumer_last_acked_id: progress
            .and_then(|progress| last_acked(progress, ShardIndex::new(shard.shard_index)))
            .map(|id| id.to_string()),
        pending_count: shard.pending_count,
        lag: shard.lag,
        memory_usage_bytes: shard.memory_usage_bytes,
        target_owner_member_ids: owners(&assignments.target_assignment, shard.shard_index),
        current_owner_member_ids: owners(&assignments.current_assignments, shard.shard_index),
        problem: shard.problem,
    };
    offsets.shards.into_iter().map(row).collect()
}

/// The highest id that a member says it acknowledged in a shard.
pub(crate) fn last_acked(
    progress: &BTreeMap<MemberId, MemberProgress>,
    shard: ShardIndex,
) -> Option<EntryId> {
    let rows = progress.values().flat_map(|progress| &progress.shards);
    let of_shard = rows.filter(|row| row.shard == shard);
    of_shard
        .filter_map(|row| EntryId::parse(row.last_acked_id.as_deref()?))
        .max()
}

/// Who owns which shard of a group.
pub(crate) fn assignment_rows(group: &Group) -> Vec<GrafanaAssignmentRow> {
    let Assignments {
        target_assignment,
        current_assignments,
        revoke_progress,
        ..
    } = assignments(group);
    let id = &group.record().id;
    let row = |shard: ShardIndex| GrafanaAssignmentRow {
        stream_prefix: id.stream.as_str().to_owned(),
        consumer_group: id.group.as_str().to_owned(),
        shard_index: shard.get(),
        target_owners: owners(&target_assignment, shard.get()),
        current_owners: owners(&current_assignments, shard.get()),
        revoking_owners: owners(&revoke_progress, shard.get()),
    };
    crate::engine::streams(group).iter().map(row).collect()
}

fn owners(assignment: &BTreeMap<String, Vec<ShardId>>, shard: u32) -> String {
    let owns = |shards: &Vec<ShardId>| shards.iter().any(|id| id.shard_index == shard);
    let owners = assignment.iter().filter(|(_, shards)| owns(shards));
    let names: Vec<&str> = owners.map(|(member, _)| member.as_str()).collect();
    names.join(",")
}

/// A record, its fields only where they were asked for.
pub(crate) fn message_row(
    group: &Group,
    shard: ShardIndex,
    message: &Message,
    with_fields: bool,
) -> GrafanaMessageRow {
    let id = &group.record().id;
    let ms = i64::try_from(message.id.ms).unwrap_or(i64::MAX);
    GrafanaMessageRow {
        stream_prefix: id.stream.as_str().to_owned(),
        consumer_group: id.group.as_str().to_owned(),
        shard_index: shard.get(),
        stream_key: stream_key(id.stream.as_str(), shard.get()),
        record_id: message.id.to_string(),
        record_time: IsoTimestamp::from_millis(ms),
        fields_json: with_fields.then(|| fields_json(&message.fields)),
    }
}

/// Fields as one JSON object; a name that occurs twice has a list. Bytes that are no UTF-8 are replaced.
fn fields_json(fields: &[(Vec<u8>, Vec<u8>)]) -> String {
    let mut object = Map::new();
    for (name, value) in fields {
        let name = String::from_utf8_lossy(name).into_owned();
        let value = Value::String(String::from_utf8_lossy(value).into_owned());
        match object.get_mut(&name) {
            None => {
                object.insert(name, value);
            }
            Some(Value::Array(values)) => values.push(value),
            Some(first) => *first = Value::Array(vec![first.take(), value]),
        }
    }
    Value::Object(object).to_string()
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_occurs_twice_loses_no_value() {
        let fields = [("b", "1"), ("a", "2"), ("b", "3"), ("b", "\u{fe}")]
            .map(|(name, value)| (name.into(), value.into()));
        assert_eq!(
            fields_json(&fields),
            "{\"a\":\"2\",\"b\":[\"1\",\"3\",\"þ\"]}"
        );
        assert_eq!(fields_json(&[]), "{}");
    }
}
