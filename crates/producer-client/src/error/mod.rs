//! What can become of a record that was not published. How Redis' errors are judged is told in `judged`.

mod judged;
mod problem;

use std::sync::Arc;
use std::time::Duration;

use protocol::ShardId;
use redis::RedisError;
use stream_lifecycle::InvalidInput;

use crate::router::RefreshError;
use crate::routing_table::NoShards;

pub use problem::ShardProblem;

/// Why a record was not published, or may not have been.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The record has no fields, and Redis stores none such.
    #[error("a record needs at least one field")]
    NoFields,
    /// The record or the event id breaks a limit of exact publication; nothing was sent.
    #[error(transparent)]
    Invalid(#[from] InvalidInput),
    /// The producer is closed.
    #[error("the producer is closed")]
    Closed,
    /// The stream has no shards now.
    #[error(transparent)]
    NoShards(#[from] NoShards),
    /// The coordinator knows no such group.
    #[error("the coordinator knows no group {consumer_group} of {stream_prefix}")]
    NoGroup {
        /// The prefix that was asked for.
        stream_prefix: String,
        /// The group that was asked for.
        consumer_group: String,
    },
    /// Where the shards are could not be learnt.
    #[error("the routing cannot be had")]
    NoRouting {
        /// What the last attempt came to.
        #[source]
        source: Arc<RefreshError>,
    },
    /// What is known of the shards is too old to be relied on.
    #[error("the routing is {age:?} old and may be relied on for {lease:?}")]
    RoutingExpired {
        /// How old it is.
        age: Duration,
        /// How old it may be.
        lease: Duration,
        /// What the last attempt to renew it came to.
        #[source]
        source: Option<Arc<RefreshError>>,
    },
    /// The shard's stream is not there, and whether it moved could not be learnt.
    #[error(
        "stream {stream_key} of shard {shard} does not exist as of version {metadata_version}, and newer routing cannot be had"
    )]
    StaleRoute {
        /// The shard.
        shard: ShardId,
        /// The key that does not exist.
        stream_key: String,
        /// Version of the routing that named it.
        metadata_version: u64,
        /// What asking again came to.
        #[source]
        source: Arc<RefreshError>,
    },
    /// The shard's stream is not there, although the routing is fresh (C43). It was not created.
    #[error(
        "stream {stream_key} of shard {shard} does not exist, although version {metadata_version} of the routing names it"
    )]
    NoRoute {
        /// The shard.
        shard: ShardId,
        /// The key that does not exist.
        stream_key: String,
        /// Version of the routing that named it.
        metadata_version: u64,
    },
    /// The shard does not take exact publications, although the routing is fresh. Nothing was added.
    #[error(
        "shard {shard} at {stream_key} took nothing as of version {metadata_version} of the routing: {problem}"
    )]
    ShardUnusable {
        /// The shard.
        shard: ShardId,
        /// Key of its stream.
        stream_key: String,
        /// Version of the routing that named it.
        metadata_version: u64,
        /// What is wrong with it, and what to do.
        problem: ShardProblem,
    },
    /// The shard does not take exact publications, and whether the routing changed could not be learnt. Nothing was added.
    #[error(
        "shard {shard} at {stream_key} took nothing as of version {metadata_version} of the routing, and newer routing cannot be had: {problem}"
    )]
    ShardStale {
        /// The shard.
        shard: ShardId,
        /// Key of its stream.
        stream_key: String,
        /// Version of the routing that named it.
        metadata_version: u64,
        /// What is wrong with it.
        problem: ShardProblem,
        /// What asking again came to.
        #[source]
        source: Arc<RefreshError>,
    },
    /// The event id was used for other fields: give every event an id of its own. This record was not added.
    #[error(
        "the event id was used for other fields, which are record {original} of {stream_key}: give each event an id of its own"
    )]
    EventIdTaken {
        /// Key of the stream.
        stream_key: String,
        /// Id of the record that was made with it.
        original: String,
    },
    /// Redis cannot take it now.
    #[error("Redis answers {code}: {message}")]
    Busy {
        /// The error code.
        code: String,
        /// The rest of the error.
        message: String,
    },
    /// Redis is full (C09).
    #[error("Redis is out of memory: {message}")]
    OutOfMemory {
        /// What Redis says.
        message: String,
    },
    /// Redis will not take it, now or later: it lacks a permission (C11), or the key is no stream.
    #[error("Redis refuses with {code}: {message}")]
    Refused {
        /// The error code.
        code: String,
        /// The rest of the error.
        message: String,
    },
    /// Redis was not reached.
    #[error("Redis at {address} is not reached")]
    Unreachable {
        /// Host and port.
        address: String,
        /// What went wrong.
        #[source]
        source: RedisError,
    },
    /// The connection was lost, or no answer came in time, after the record was sent: it may have been added.
    #[error("Redis at {address} did not answer: the record may have been added")]
    Ambiguous {
        /// Host and port.
        address: String,
        /// What went wrong.
        #[source]
        source: RedisError,
    },
    /// An earlier record of the same key in the same batch was not published, and this one must not overtake it.
    #[error("not sent: an earlier record of the same key in the batch was not published")]
    NotAttempted,
}

impl PublishError {
    /// Whether publishing the same record again may succeed. After [`Self::Ambiguous`] it may then be there twice, unless
    /// it is published by [`publish_once`](crate::Producer::publish_once) with the same event id.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::NoFields
            | Self::Invalid(_)
            | Self::Closed
            | Self::EventIdTaken { .. }
            | Self::Refused { .. } => false,
            Self::NoRouting { source } => source.is_retryable(),
            Self::NoShards(_)
            | Self::NoGroup { .. }
            | Self::RoutingExpired { .. }
            | Self::StaleRoute { .. }
            | Self::NoRoute { .. }
            | Self::ShardUnusable { .. }
            | Self::ShardStale { .. }
            | Self::Busy { .. }
            | Self::OutOfMemory { .. }
            | Self::Unreachable { .. }
            | Self::Ambiguous { .. }
            | Self::NotAttempted => true,
        }
    }

    /// Whether the record may have been added all the same. For every other error it was not.
    #[must_use]
    pub const fn may_have_been_added(&self) -> bool {
        matches!(self, Self::Ambiguous { .. })
    }
}
