//! Where the wire and the core meet. Neither knows the other.

mod brief;
mod consumption;
mod grafana;
mod group;
mod heartbeat;
mod member;
mod migration;
mod offsets;
mod owners;

use std::time::{SystemTime, UNIX_EPOCH};

use coordinator_core::names::{
    ConsumerGroup, GroupId, MAX_NAME_BYTES, MemberId, NameError, StreamPrefix,
};
use coordinator_core::numbers::ShardIndex;
use coordinator_core::shard_set::ShardSet;
use coordinator_core::time::Timestamp;
use protocol::{IsoTimestamp, ShardId};

pub(crate) use brief::GroupBrief;
pub(crate) use consumption::{consumption, last_acked_of_each};
pub(crate) use grafana::{
    assignment_rows, broken_shard_row, group_row, member_rows, message_row, option, shard_rows,
};
pub(crate) use group::{group, group_changed, routing};
pub(crate) use heartbeat::{request, response, retry_response};
pub(crate) use member::{assignments, members};
pub(crate) use migration::{migration_of, migrations, nothing_to_change};
pub(crate) use offsets::{ShardRow, Totals, messages, offsets};

/// A name of the wire that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field} {source}")]
pub(crate) struct BadName {
    field: &'static str,
    source: NameError,
}

pub(crate) fn stream_prefix(text: &str) -> Result<StreamPrefix, BadName> {
    StreamPrefix::parse(text).map_err(|source| BadName {
        field: "streamPrefix",
        source,
    })
}

pub(crate) fn group_id(stream: &str, group: &str) -> Result<GroupId, BadName> {
    let stream = stream_prefix(stream)?;
    let group = ConsumerGroup::parse(group).map_err(|source| BadName {
        field: "consumerGroup",
        source,
    })?;
    Ok(GroupId { stream, group })
}

pub(crate) fn member_id(text: &str) -> Result<MemberId, BadName> {
    MemberId::parse(text).map_err(|source| BadName {
        field: "memberId",
        source,
    })
}

/// A text that a client chooses freely and that is recorded: bounded, since anybody may send one and the record holds several of each member.
fn bounded(field: &'static str, text: &str) -> Result<(), BadName> {
    if text.len() <= MAX_NAME_BYTES {
        return Ok(());
    }
    let source = NameError::TooLong { length: text.len() };
    Err(BadName { field, source })
}

pub(crate) fn iso(time: Timestamp) -> IsoTimestamp {
    IsoTimestamp::from_millis(i64::try_from(time.as_ms()).unwrap_or(i64::MAX))
}

/// The time now, by this coordinator's clock. No decision uses it.
pub(crate) fn now() -> IsoTimestamp {
    of_clock(SystemTime::now())
}

/// A time of this coordinator's clock.
pub(crate) fn of_clock(time: SystemTime) -> IsoTimestamp {
    let since = time.duration_since(UNIX_EPOCH);
    let ms = since.unwrap_or_default().as_millis();
    IsoTimestamp::from_millis(i64::try_from(ms).unwrap_or(i64::MAX))
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

fn shard_ids(shards: &ShardSet) -> Vec<ShardId> {
    shards
        .iter()
        .map(|shard| ShardId::new(shard.get()))
        .collect()
}

fn shard_set(shards: &[ShardId]) -> ShardSet {
    shards
        .iter()
        .map(|shard| ShardIndex::new(shard.shard_index))
        .collect()
}
