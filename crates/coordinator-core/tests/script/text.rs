//! Shards, spans and states as they are printed. Short, and the same every time.

use coordinator_core::evidence::{Open, OpenCondition};
use coordinator_core::numbers::ShardIndex;
use coordinator_core::shard_set::ShardSet;
use coordinator_core::step::{HeartbeatReply, HeartbeatStatus};
use coordinator_core::time::{Millis, Timestamp};

/// The moment that a script begins at.
pub const START: Timestamp = Timestamp::from_ms(1_000_000);

/// A moment, as the span since the start of the script.
pub fn moment(at: Timestamp) -> String {
    if at < START {
        return format!("-{}", span(START.since(at)));
    }
    span(at.since(START))
}

pub fn span(span: Millis) -> String {
    let ms = span.get();
    if ms.is_multiple_of(1_000) {
        format!("{}s", ms / 1_000)
    } else {
        format!("{}.{:03}s", ms / 1_000, ms % 1_000)
    }
}

/// `0,1`, `0-3,7`, or `-` for none.
pub fn shards(set: &ShardSet) -> String {
    let all: Vec<u32> = set.iter().map(ShardIndex::get).collect();
    let runs = all.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
        [one] => one.to_string(),
        [one, two] => format!("{one},{two}"),
        [first, .., last] => format!("{first}-{last}"),
        [] => String::new(),
    });
    let runs: Vec<String> = runs.collect();
    if runs.is_empty() {
        "-".to_owned()
    } else {
        runs.join(",")
    }
}

/// `orders:pending=2,orders:lag=unknown,audit:unread`: what stands against a shard's being drained.
pub fn open(conditions: &[OpenCondition]) -> String {
    let texts = conditions.iter().map(|it| {
        let condition = match it.condition {
            Open::GroupMissing => "missing".to_owned(),
            Open::Pending(pending) => format!("pending={pending}"),
            Open::Lag(Some(lag)) => format!("lag={lag}"),
            Open::Lag(None) => "lag=unknown".to_owned(),
            Open::Unread => "unread".to_owned(),
        };
        format!("{}:{condition}", it.group.as_str())
    });
    texts.collect::<Vec<_>>().join(",")
}

/// A name of the code, as `RevokePending`, in the form that the protocol and the pages use.
pub fn shouted(name: &impl std::fmt::Debug) -> String {
    let mut text = String::new();
    for letter in format!("{name:?}").chars() {
        if letter.is_ascii_uppercase() && !text.is_empty() {
            text.push('_');
        }
        text.push(letter.to_ascii_uppercase());
    }
    text
}

const fn status(status: HeartbeatStatus) -> &'static str {
    match status {
        HeartbeatStatus::Ok => "OK",
        HeartbeatStatus::SyncMetadata => "SYNC_METADATA",
        HeartbeatStatus::RevokePending => "REVOKE_PENDING",
        HeartbeatStatus::UnknownMember => "UNKNOWN_MEMBER_ID",
        HeartbeatStatus::Fenced => "FENCED_MEMBER_EPOCH",
        HeartbeatStatus::UnsupportedProtocol => "UNSUPPORTED_PROTOCOL",
        HeartbeatStatus::InvalidRequest => "INVALID_REQUEST",
    }
}

/// Whether an answer lets its receiver go on (rule T3a).
pub const fn lets_go_on(status: HeartbeatStatus) -> bool {
    matches!(
        status,
        HeartbeatStatus::Ok | HeartbeatStatus::SyncMetadata | HeartbeatStatus::RevokePending
    )
}

/// A reply in one line: what the client is told, without what says nothing.
pub fn reply(reply: &HeartbeatReply) -> String {
    let mut text = status(reply.status).to_owned();
    if lets_go_on(reply.status) || reply.member_epoch != 0 {
        text += &format!(" epoch={}", reply.member_epoch);
    }
    text += &format!(" version={}", reply.metadata_version);
    if lets_go_on(reply.status) || !reply.assigned.is_empty() {
        text += &format!(" assigned={}", shards(&reply.assigned));
    }
    if !reply.pending.is_empty() {
        text += &format!(" pending={}", shards(&reply.pending));
    }
    if !reply.progress.is_empty() {
        text += &format!(" progress={}", shards(&reply.progress));
    }
    text
}
