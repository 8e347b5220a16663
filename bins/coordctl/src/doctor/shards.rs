//! The shards of a group: whether their streams and consumer groups are there, and what of them is not known.

use protocol::ShardOffsets;

use super::finding::{Finding, Kind};

/// What is told of a stream that is not there.
const NO_STREAM: &str = "does not exist";

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
        let reason = shard.problem.clone().unwrap_or_default();
        return if reason.is_empty() || reason.contains(NO_STREAM) {
            found(Kind::StreamMissing, "there is no such key".to_owned())
        } else {
            found(Kind::ShardUnreadable, reason)
        };
    }
    if shard.group_last_delivered_id.is_none() {
        return found(
            Kind::ConsumerGroupMissing,
            "the stream is there, and this consumer group of it is not".to_owned(),
        );
    }
    if let Some(count) = shard.trimmed_unread.filter(|count| *count > 0) {
        let what = format!("{count} entries were trimmed before this group had read them");
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
