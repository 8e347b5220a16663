//! Why an operation failed, one variant per answer. What Redis' own errors mean is told elsewhere.

use std::sync::Arc;

use redis::RedisError;

use crate::model::{Generation, Identity, InvalidInput, StreamId};

/// Why an operation failed. Unless said otherwise, nothing was changed.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum LifecycleError {
    /// The input can't work; nothing was sent.
    #[error(transparent)]
    Invalid(#[from] InvalidInput),
    /// The shard has no lifecycle: it never existed, or its state was lost.
    #[error("the shard {base} was never created, or its state was lost")]
    NotFound {
        /// Which shard.
        base: String,
    },
    /// The shard is in another life than the handle's.
    #[error("the shard is {current}, the handle is bound to {bound}")]
    GenerationMismatch {
        /// What the handle is bound to.
        bound: Identity,
        /// What the shard is now.
        current: Identity,
    },
    /// The shard is in an earlier life than the handle's: writes were lost.
    #[error("the shard went back to {current}, the handle is bound to {bound}")]
    Regressed {
        /// What the handle is bound to.
        bound: Identity,
        /// What the shard is now.
        current: Identity,
    },
    /// The next generation was to follow another one than the last.
    #[error("generation {expected} was expected, the shard is {current}")]
    UnexpectedGeneration {
        /// What the caller took for the last one.
        expected: Generation,
        /// What the shard is now.
        current: Identity,
    },
    /// The generation was destroyed.
    #[error("generation {generation} was destroyed")]
    Destroyed {
        /// Which.
        generation: Generation,
    },
    /// The time of the generation is over.
    #[error("generation {generation} expired at {expired_ms} ms")]
    Expired {
        /// Which.
        generation: Generation,
        /// When, in milliseconds since 1970 by Redis' clock.
        expired_ms: u64,
    },
    /// Publishing is refused for now.
    #[error("the shard {base} is sealed")]
    Sealed {
        /// Which shard.
        base: String,
    },
    /// A key that has to be written is of another type, or exists where it must not.
    #[error("the key {key} is taken by a {}", .found.as_deref().unwrap_or("key of another type"))]
    KeyConflict {
        /// The key.
        key: String,
        /// Its type, where it is known.
        found: Option<String>,
    },
    /// The stream is gone although its generation is alive.
    #[error("the stream of the shard {base} is gone although its generation is alive")]
    DataLost {
        /// Which shard.
        base: String,
    },
    /// The shard exists already, made by another.
    #[error("the shard exists already as {current}")]
    AlreadyExists {
        /// What it is.
        current: Identity,
    },
    /// The generation is still alive, so the next one can't be made.
    #[error("the shard is alive as {current}")]
    StillAlive {
        /// What it is.
        current: Identity,
    },
    /// The retention that was asked for is not the one the generation has.
    #[error("the retention is {current}, not {requested}")]
    RetentionDiffers {
        /// What was asked for.
        requested: String,
        /// What it is.
        current: String,
    },
    /// The deadline of a new generation is over by Redis' clock.
    #[error("the deadline {deadline_ms} ms is over, it is {now_ms} ms")]
    DeadlinePassed {
        /// The deadline.
        deadline_ms: u64,
        /// The time.
        now_ms: u64,
    },
    /// There is no stream to be taken over.
    #[error("there is no stream to be taken over")]
    NothingToAdopt,
    /// The stream is not proven to be drained (rule G4).
    #[error("not drained: {}", undrained(.group, .condition, *.pending, *.lag))]
    NotDrained {
        /// The first group that is not; empty if the stream has entries and no group.
        group: String,
        /// What is open: `pending`, `unread`, `lag` or `missing`.
        condition: String,
        /// How many entries are pending.
        pending: u64,
        /// The lag, if Redis knows it.
        lag: Option<u64>,
    },
    /// The key was used for other content.
    #[error("the key was used for other content, as {original}")]
    IdempotencyConflict {
        /// The entry that was made.
        original: StreamId,
    },
    /// The stream has more entries than were allowed.
    #[error("the stream has {length} entries, more than {most}")]
    SnapshotTooLarge {
        /// How many it has.
        length: u64,
        /// How many were allowed.
        most: usize,
    },
    /// An entry is not what it should be.
    #[error("the entry {id} is malformed: {problem}")]
    MalformedEntry {
        /// Which.
        id: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The consumer group does not exist. It is for the shard's owner to make it (case C01).
    #[error("the shard {base} has no consumer group {group}")]
    NoGroup {
        /// Which shard.
        base: String,
        /// Which group.
        group: String,
    },
    /// The consumer is not registered (`token` is none: register it), or not as this one, or the shard was given to another: stop.
    #[error("{}", fenced(*.token, *.epoch))]
    ConsumerFenced {
        /// The token that is registered; none if the consumer is not registered at all.
        token: Option<u64>,
        /// The epoch that it lost against, or that is registered.
        epoch: Option<u64>,
    },
    /// The consumer still has pending entries, which would be lost with it.
    #[error("the consumer would take its pending entries along ({pending})")]
    StillPending {
        /// How many.
        pending: u64,
    },
    /// The entry is not pending for the group: acknowledged before, or never given to it.
    #[error(
        "the entry {id} is not pending for the group {group}: it was acknowledged, or never delivered"
    )]
    NotPending {
        /// The group.
        group: String,
        /// The entry.
        id: StreamId,
    },
    /// Another holds the lease.
    #[error("{owner} holds the lease for another {left_ms} ms")]
    LeaseHeld {
        /// Who.
        owner: String,
        /// For how long at most, in milliseconds.
        left_ms: u64,
    },
    /// The lease has lapsed, or was taken by another.
    #[error("the lease is lost{}", .latest.map_or_else(String::new, |fence| format!(": the fence {fence} was given out since, or its time is over")))]
    LeaseLost {
        /// The greatest fence given out.
        latest: Option<u64>,
    },
    /// A blocked read was ended by the server: the key was removed, renamed or moved, or the server changed its role (case C03).
    #[error("the read was ended by the server")]
    ReadEnded,
    /// Redis can't work just now. The operation did not begin; it can be repeated unchanged (cases C08 and C09).
    #[error("Redis can't work just now: {code}")]
    Busy {
        /// Redis' code for it.
        code: String,
        /// What the driver said.
        #[source]
        source: Arc<RedisError>,
    },
    /// The connection failed after the operation was sent: it may have happened. Repeat `add_once`, not `publish`; after a read, read what
    /// is pending first. Operations that only look never answer this.
    #[error("the connection failed, and the operation may have happened")]
    Ambiguous(#[source] Arc<RedisError>),
    /// The connection could not be made, or broke while something was only being read: nothing was done.
    #[error("Redis can't be reached")]
    Unreachable(#[source] Arc<RedisError>),
    /// The user of Redis lacks a permission (case C11).
    #[error("the user of Redis may not run {what}")]
    Denied {
        /// The command, and the key where it is known.
        what: String,
    },
    /// Redis refuses for another reason.
    #[error("Redis refuses: {0}")]
    Refused(#[source] Arc<RedisError>),
    /// A script answered something that this version does not understand.
    #[error("{script} answered something unexpected: {what}")]
    Unexpected {
        /// Which script or command.
        script: &'static str,
        /// What.
        what: String,
    },
}

fn undrained(group: &str, condition: &str, pending: u64, lag: Option<u64>) -> String {
    if group.is_empty() {
        return "the stream has entries and no group".to_owned();
    }
    let lag = lag.map_or_else(|| "unknown".to_owned(), |lag| lag.to_string());
    match condition {
        "missing" => format!("the group {group} is missing"),
        _ => format!("group {group}: {condition} (pending {pending}, lag {lag})"),
    }
}

fn fenced(token: Option<u64>, epoch: Option<u64>) -> String {
    match (token, epoch) {
        (None, None) => "the consumer is not registered: register it".to_owned(),
        (None, Some(epoch)) => {
            format!("the consumer is fenced: another has the shard since epoch {epoch}")
        }
        (Some(token), epoch) => {
            let epoch = epoch.map_or_else(String::new, |epoch| format!(", epoch {epoch}"));
            format!("the consumer is fenced: known are token {token}{epoch}")
        }
    }
}

impl LifecycleError {
    /// Whether the handle is of no more use: its generation is over, or was never this one. Look the shard up again, after a pause:
    /// [`open`](crate::ShardRef::open) says the same until the owner makes the next generation.
    #[must_use]
    pub const fn is_stale(&self) -> bool {
        matches!(
            self,
            Self::NotFound { .. }
                | Self::UnexpectedGeneration { .. }
                | Self::GenerationMismatch { .. }
                | Self::Regressed { .. }
                | Self::Destroyed { .. }
                | Self::Expired { .. }
        )
    }

    /// Whether the same call can be made again, unchanged and without any other step, once a pause has passed. Not so after
    /// [`Ambiguous`](Self::Ambiguous): whether it may be repeated depends on the operation.
    #[must_use]
    pub const fn is_retryable(&self) -> bool {
        matches!(
            self,
            Self::Busy { .. } | Self::Unreachable(_) | Self::LeaseHeld { .. } | Self::ReadEnded
        )
    }
}
