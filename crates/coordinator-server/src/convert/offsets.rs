//! Where streams stand and what is in them, as operators see it. What is not known is null, and each shard fails alone (cases C04, C25, C28).

use coordinator_core::Group;
use coordinator_core::names::MemberId;
use coordinator_core::numbers::ShardIndex;
use coordinator_core::routing::redis_slot;
use protocol::{
    IsoTimestamp, MessageField, MessagePage, MessageQuery, MessageRecord, Offsets, ShardOffsets,
    stream_key,
};
use store::{EntryId, Message, PlaneError, StreamOffsets};

/// Where the streams of a group stand.
pub(crate) fn offsets(
    group: &Group,
    rows: &[(ShardIndex, Result<StreamOffsets, PlaneError>)],
) -> Offsets {
    let shards: Vec<ShardOffsets> = rows
        .iter()
        .map(|(shard, found)| row(group, *shard, found))
        .collect();
    // Of a part of the shards no sum is told: it would look like one of all (case C04).
    let sum = |of: fn(&ShardOffsets) -> Option<u64>| -> Option<u64> { shards.iter().map(of).sum() };
    Offsets {
        stream_prefix: group.record().id.stream.as_str().to_owned(),
        consumer_group: group.record().id.group.as_str().to_owned(),
        total_stream_length: sum(|shard| shard.stream_length),
        total_pending_count: sum(|shard| shard.pending_count),
        total_lag: sum(|shard| shard.lag),
        total_memory_usage_bytes: sum(|shard| shard.memory_usage_bytes),
        memory_usage_known: shards
            .iter()
            .all(|shard| shard.memory_usage_bytes.is_some()),
        shards,
        as_of: None,
        age_ms: None,
    }
}

/// What is told of the streams of a group that could not be looked at.
pub(crate) fn unknown_offsets(group: &Group, problem: &str) -> Offsets {
    let unknown = |shard: ShardIndex| {
        let reason = problem.to_owned();
        let error = PlaneError::Failed {
            reason,
            retryable: true,
            source: None,
        };
        (shard, Err(error))
    };
    let streams = crate::engine::streams(group);
    let rows: Vec<_> = streams.iter().map(unknown).collect();
    let mut offsets = offsets(group, &rows);
    for shard in &mut offsets.shards {
        shard.problem = Some(problem.to_owned());
    }
    offsets
}

fn row(
    group: &Group,
    shard: ShardIndex,
    found: &Result<StreamOffsets, PlaneError>,
) -> ShardOffsets {
    let key = stream_key(group.record().id.stream.as_str(), shard.get());
    let (found, problem) = match found {
        Ok(found) => {
            let problem = problem_of(found, group);
            (found.clone(), problem)
        }
        Err(error) => (StreamOffsets::default(), Some(error.to_string())),
    };
    let id = |id: EntryId| id.to_string();
    let (pending, unread) = match &found.group {
        Some(of_group) => (Some(of_group.pending), of_group.unread),
        None => (None, None),
    };
    ShardOffsets {
        shard_index: shard.get(),
        redis_slot: redis_slot(key.as_bytes()).get(),
        stream_key: key,
        redis_node_endpoint: found.node_endpoint,
        redis_node_id: found.node_id,
        stream_length: found.length,
        first_record_id: found.first.map(id),
        last_record_id: found.last.map(id),
        last_generated_id: found.last_generated.map(id),
        group_last_delivered_id: found.group.as_ref().map(|it| id(it.last_delivered)),
        pending_count: pending,
        lag: found.group.as_ref().and_then(|it| it.lag),
        unread,
        backlog: pending
            .zip(unread)
            .map(|(pending, unread)| pending + unread),
        trimmed_unread: found.group.as_ref().map(|it| it.trimmed_unread),
        generation: generation(group, shard),
        memory_usage_bytes: found.memory_bytes,
        owner_member_ids: owners(group, shard),
        problem,
    }
}

fn problem_of(found: &StreamOffsets, group: &Group) -> Option<String> {
    if found.length.is_none() {
        return Some("the stream does not exist".to_owned());
    }
    match &found.group {
        None => Some(format!(
            "the stream has no consumer group {}",
            group.record().id.group
        )),
        Some(of_group) if of_group.lag.is_none() => {
            Some("Redis can't tell how much is unread".to_owned())
        }
        Some(_) => None,
    }
}

pub(super) fn generation(group: &Group, shard: ShardIndex) -> Option<u64> {
    let generation = group.record().generations.of(shard);
    generation.map(coordinator_core::numbers::StreamGeneration::get)
}

fn owners(group: &Group, shard: ShardIndex) -> Vec<String> {
    let owns = |id: &MemberId| group.current(id).contains(shard);
    let members = group.live_members().filter(|(id, _)| owns(id));
    members.map(|(id, _)| id.as_str().to_owned()).collect()
}

/// A page of a shard's records.
pub(crate) fn messages(
    group: &Group,
    shard: ShardIndex,
    query: &MessageQuery,
    page: &store::MessagePage,
) -> MessagePage {
    let id = &group.record().id;
    let last = page.messages.last().filter(|_| page.has_more);
    MessagePage {
        stream_prefix: id.stream.as_str().to_owned(),
        consumer_group: id.group.as_str().to_owned(),
        shard_index: shard.get(),
        stream_key: stream_key(id.stream.as_str(), shard.get()),
        direction: query.direction,
        limit: query.limit,
        records: page.messages.iter().map(record).collect(),
        next_cursor: last.map(|message| message.id.to_string()),
    }
}

fn record(message: &Message) -> MessageRecord {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let field = |(name, value): &(Vec<u8>, Vec<u8>)| MessageField {
        name: text(name),
        value_bytes: value.len() as u64,
        value: Some(text(value)),
    };
    MessageRecord {
        record_id: message.id.to_string(),
        record_time: IsoTimestamp::from_millis(i64::try_from(message.id.ms).unwrap_or(i64::MAX)),
        fields: message.fields.iter().map(field).collect(),
    }
}
