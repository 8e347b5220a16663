//! Where streams stand and what is in them, as operators see it. What is not known is null, and each shard fails alone (cases C04, C25, C28).

use coordinator_core::Group;
use coordinator_core::numbers::ShardIndex;
use coordinator_core::routing::redis_slot;
use protocol::{
    IsoTimestamp, MessageField, MessagePage, MessageQuery, MessageRecord, Offsets, ShardOffsets,
    stream_key,
};
use store::{EntryId, Message, PlaneError, StreamOffsets};

use super::owners::Owners;

/// What was found of one shard's stream.
pub(crate) type ShardRow = (ShardIndex, Result<StreamOffsets, PlaneError>);

/// Sums over all shards of a group; none where that of any shard is not known: of a part it would look like one of all (case C04).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Totals {
    pub(super) stream_length: Option<u64>,
    pub(super) pending: Option<u64>,
    pub(super) lag: Option<u64>,
    pub(super) memory_bytes: Option<u64>,
}

impl Totals {
    pub(crate) fn of(rows: &[ShardRow]) -> Self {
        let sum = |of: fn(&StreamOffsets) -> Option<u64>| -> Option<u64> {
            let known = |(_, found): &ShardRow| found.as_ref().ok().and_then(of);
            rows.iter().map(known).sum()
        };
        Self {
            stream_length: sum(|found| found.length),
            pending: sum(|found| Some(found.group.as_ref()?.pending)),
            lag: sum(|found| found.group.as_ref()?.lag),
            memory_bytes: sum(|found| found.memory_bytes),
        }
    }
}

/// Where the streams of a group stand.
pub(crate) fn offsets(group: &Group, rows: &[ShardRow]) -> Offsets {
    let totals = Totals::of(rows);
    let owners = Owners::current(group);
    let shards = rows.iter().map(|(shard, found)| match found {
        Ok(found) => row(group, *shard, found, &owners),
        Err(error) => unknown_row(group, *shard, error.to_string(), &owners),
    });
    Offsets {
        stream_prefix: group.record().id.stream.as_str().to_owned(),
        consumer_group: group.record().id.group.as_str().to_owned(),
        total_stream_length: totals.stream_length,
        total_pending_count: totals.pending,
        total_lag: totals.lag,
        total_memory_usage_bytes: totals.memory_bytes,
        memory_usage_known: totals.memory_bytes.is_some(),
        shards: shards.collect(),
        as_of: None,
        age_ms: None,
    }
}

/// A shard whose stream could not be looked at, and why.
pub(super) fn unknown_row(
    group: &Group,
    shard: ShardIndex,
    problem: String,
    owners: &Owners,
) -> ShardOffsets {
    ShardOffsets {
        problem: Some(problem),
        ..row(group, shard, &StreamOffsets::default(), owners)
    }
}

/// A shard whose stream was looked at.
pub(super) fn row(
    group: &Group,
    shard: ShardIndex,
    found: &StreamOffsets,
    owners: &Owners,
) -> ShardOffsets {
    let key = stream_key(group.record().id.stream.as_str(), shard.get());
    let id = |id: EntryId| id.to_string();
    let (pending, unread) = match &found.group {
        Some(of_group) => (Some(of_group.pending), of_group.unread),
        None => (None, None),
    };
    ShardOffsets {
        shard_index: shard.get(),
        redis_slot: redis_slot(key.as_bytes()).get(),
        stream_key: key,
        redis_node_endpoint: found.node_endpoint.clone(),
        redis_node_id: found.node_id.clone(),
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
        owner_member_ids: owners.names(shard).to_vec(),
        problem: problem_of(found, group),
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
    let field = |field: &store::MessageField| MessageField {
        name: text(&field.name),
        value_bytes: field.value_bytes,
        value: field.value.as_deref().map(text),
    };
    MessageRecord {
        record_id: message.id.to_string(),
        record_time: record_time(message.id),
        fields: message.fields.iter().map(field).collect(),
    }
}

/// The time in the id of an entry.
pub(super) fn record_time(id: EntryId) -> IsoTimestamp {
    IsoTimestamp::from_millis(i64::try_from(id.ms).unwrap_or(i64::MAX))
}
