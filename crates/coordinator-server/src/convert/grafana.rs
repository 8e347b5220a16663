//! Flat rows for dashboards, made of what the other views show. What is not known is null (cases C04, C25).

use std::collections::BTreeMap;

use coordinator_core::Group;
use coordinator_core::names::{GroupId, MemberId};
use coordinator_core::numbers::ShardIndex;
use protocol::{
    GrafanaAssignmentRow, GrafanaGroupRow, GrafanaMemberRow, GrafanaMessageRow, GrafanaOption,
    GrafanaShardRow, ShardOffsets, stream_key,
};
use serde_json::{Map, Value};
use store::{MemberProgress, Message, MessageField};

use super::brief::GroupBrief;
use super::consumption::last_acked_of_each;
use super::count;
use super::member::members;
use super::offsets::{self, ShardRow, Totals};
use super::owners::Owners;

/// One choice of a variable.
pub(crate) fn option(text: String, value: String) -> GrafanaOption {
    GrafanaOption { text, value }
}

/// A group, with the sums of its streams where they are known.
pub(crate) fn group_row(
    id: &GroupId,
    brief: GroupBrief,
    totals: Option<Totals>,
) -> GrafanaGroupRow {
    GrafanaGroupRow {
        stream_prefix: id.stream.as_str().to_owned(),
        consumer_group: id.group.as_str().to_owned(),
        state: brief.state,
        group_epoch: brief.group_epoch,
        assignment_epoch: brief.assignment_epoch,
        metadata_version: brief.metadata_version,
        shard_count: brief.shard_count,
        active_members: brief.live_members,
        total_members: brief.members,
        current_shards: brief.current_shards,
        target_shards: brief.target_shards,
        assigned_shard_ratio: format!("{} / {}", brief.current_shards, brief.shard_count),
        revoking_shards: brief.revoking_shards,
        total_stream_length: totals.and_then(|totals| totals.stream_length),
        total_pending_count: totals.and_then(|totals| totals.pending),
        total_lag: totals.and_then(|totals| totals.lag),
        total_memory_usage_bytes: totals.and_then(|totals| totals.memory_bytes),
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

/// The shards of a group that are wanted, as they were looked at, at most `limit` of them. Who last acknowledged what is the members' word.
pub(crate) fn shard_rows(
    group: &Group,
    looked: Result<&[ShardRow], String>,
    progress: Option<&BTreeMap<MemberId, MemberProgress>>,
    wanted: impl Fn(ShardIndex) -> bool,
    limit: usize,
) -> Vec<GrafanaShardRow> {
    let (current, target) = (Owners::current(group), Owners::target(group));
    let acked = progress.map(last_acked_of_each).unwrap_or_default();
    let id = &group.record().id;
    let row = |shard: ShardIndex, found: ShardOffsets| GrafanaShardRow {
        stream_prefix: id.stream.as_str().to_owned(),
        consumer_group: id.group.as_str().to_owned(),
        shard_count: group.record().shard_count.get(),
        shard_index: shard.get(),
        shard_label: found.stream_key.clone(),
        stream_key: found.stream_key,
        redis_slot: found.redis_slot,
        redis_node_endpoint: found.redis_node_endpoint,
        stream_length: found.stream_length,
        last_record_id: found.last_record_id,
        last_generated_id: found.last_generated_id,
        group_last_delivered_id: found.group_last_delivered_id,
        consumer_last_acked_id: acked.get(&shard).map(ToString::to_string),
        pending_count: found.pending_count,
        lag: found.lag,
        memory_usage_bytes: found.memory_usage_bytes,
        target_owner_member_ids: target.joined(shard),
        current_owner_member_ids: current.joined(shard),
        problem: found.problem,
    };
    match looked {
        Ok(rows) => {
            let wanted = rows.iter().filter(|(shard, _)| wanted(*shard)).take(limit);
            let offsets = wanted.map(|(shard, found)| match found {
                Ok(found) => row(*shard, offsets::row(group, *shard, found, &current)),
                Err(error) => {
                    let problem = error.to_string();
                    let unknown = offsets::unknown_row(group, *shard, problem, &current);
                    row(*shard, unknown)
                }
            });
            offsets.collect()
        }
        Err(problem) => {
            let streams = crate::engine::streams(group);
            let wanted = streams.iter().filter(|shard| wanted(*shard)).take(limit);
            let unknown = |shard| offsets::unknown_row(group, shard, problem.clone(), &current);
            wanted.map(|shard| row(shard, unknown(shard))).collect()
        }
    }
}

/// Who owns which shard of a group: of those that are wanted, at most `limit`.
pub(crate) fn assignment_rows(
    group: &Group,
    wanted: impl Fn(ShardIndex) -> bool,
    limit: usize,
) -> Vec<GrafanaAssignmentRow> {
    let (target, current) = (Owners::target(group), Owners::current(group));
    let revoking = Owners::revoking(group);
    let id = &group.record().id;
    let row = |shard: ShardIndex| GrafanaAssignmentRow {
        stream_prefix: id.stream.as_str().to_owned(),
        consumer_group: id.group.as_str().to_owned(),
        shard_index: shard.get(),
        target_owners: target.joined(shard),
        current_owners: current.joined(shard),
        revoking_owners: revoking.joined(shard),
    };
    let streams = crate::engine::streams(group);
    let wanted = streams.iter().filter(|shard| wanted(*shard));
    wanted.take(limit).map(row).collect()
}

/// A record, its fields only where they were asked for.
pub(crate) fn message_row(
    group: &Group,
    shard: ShardIndex,
    message: &Message,
    with_fields: bool,
) -> GrafanaMessageRow {
    GrafanaMessageRow {
        record_id: Some(message.id.to_string()),
        record_time: Some(offsets::record_time(message.id)),
        fields_json: with_fields.then(|| fields_json(&message.fields)),
        problem: None,
        ..broken_shard_row(group, shard, String::new())
    }
}

/// A shard whose records can't be told, and why (case C04).
pub(crate) fn broken_shard_row(
    group: &Group,
    shard: ShardIndex,
    problem: String,
) -> GrafanaMessageRow {
    let id = &group.record().id;
    GrafanaMessageRow {
        stream_prefix: id.stream.as_str().to_owned(),
        consumer_group: id.group.as_str().to_owned(),
        shard_index: shard.get(),
        stream_key: stream_key(id.stream.as_str(), shard.get()),
        record_id: None,
        record_time: None,
        fields_json: None,
        problem: Some(problem),
    }
}

/// Fields as one JSON object; a name that occurs twice has a list. Bytes that are no UTF-8 are replaced, values that are too long are null.
fn fields_json(fields: &[MessageField]) -> String {
    let mut object = Map::new();
    for field in fields {
        let name = String::from_utf8_lossy(&field.name).into_owned();
        let value = field.value.as_deref().map_or(Value::Null, |value| {
            Value::String(String::from_utf8_lossy(value).into_owned())
        });
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_occurs_twice_loses_no_value() {
        let field = |(name, value): (&str, Option<&str>)| MessageField {
            name: name.into(),
            value: value.map(Into::into),
            value_bytes: 1,
        };
        let fields = [
            ("b", Some("1")),
            ("a", Some("2")),
            ("b", None),
            ("b", Some("\u{fe}")),
        ];
        let fields = fields.map(field);
        assert_eq!(
            fields_json(&fields),
            "{\"a\":\"2\",\"b\":[\"1\",null,\"þ\"]}"
        );
        assert_eq!(fields_json(&[]), "{}");
    }
}
