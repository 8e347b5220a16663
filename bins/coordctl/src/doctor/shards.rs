//! The shards of a group: whether their streams and consumer groups are there, and what of them is not known.

use protocol::ShardOffsets;

use super::finding::{Finding, Kind};

/// What is told of a stream that is not there.
const NO_STREAM: &str = "does not exist";

/// Whether the stream of a shard is not there, and not just untold.
pub(crate) fn is_stream_missing(shard: &ShardOffsets) -> bool {
    let problem = shard.problem.as_deref().unwrap_or_default();
    shard.stream_length.is_none() && (problem.is_empty() || problem.contains(NO_STREAM))
}

/// Looks one shard over.
pub(super) fn examine(group: &str, shard: &ShardOffsets) -> Option<Finding> {
    let found = |kind, what: String| {
        Some(Finding::new(
            kind,
            format!("{group} {}", shard.stream_key),
            what,
        ))
    };
    if shard.stream_length.is_none() {
        return if is_stream_missing(shard) {
            found(Kind::StreamMissing, "there is no such key".to_owned())
        } else {
            found(
                Kind::ShardUnreadable,
                shard.problem.clone().unwrap_or_default(),
            )
        };
    }
    if shard.group_last_delivered_id.is_none() {
        return found(
            Kind::ConsumerGroupMissing,
            "the stream is there, and this consumer group of it is not".to_owned(),
        );
    }
    if let Some(count) = shard.trimmed_unread.filter(|count| *count > 0) {
        let entries = if count == 1 {
            "1 entry was".to_owned()
        } else {
            format!("{count} entries were")
        };
        let what = format!("{entries} trimmed before this group had read them");
        return found(Kind::TrimmedUnread, what);
    }
    if shard.lag.is_none() {
        return found(
            Kind::LagUnknown,
            "Redis can't tell how much is unread".to_owned(),
        );
    }
    None
}
