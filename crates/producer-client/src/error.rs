//! What can become of a record that was not published. Redis is judged by its error codes, never by its texts.

use std::sync::Arc;
use std::time::Duration;

use protocol::ShardId;
use redis::{ErrorKind, RedisError, ServerError};

use crate::router::RefreshError;
use crate::routing_table::NoShards;
use crate::streams::AddError;

/// Codes of replies that go away by themselves; nothing was added.
const TRANSIENT: [&str; 10] = [
    "LOADING",
    "READONLY",
    "CLUSTERDOWN",
    "TRYAGAIN",
    "MASTERDOWN",
    "NOREPLICAS",
    "MISCONF",
    "BUSY",
    "MOVED",
    "ASK",
];

/// Why a record was not published, or may not have been.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The record has no fields, and Redis stores none such.
    #[error("a record needs at least one field")]
    NoFields,
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
    /// Whether publishing the same record again may succeed. After [`Self::Ambiguous`] it may then be there twice.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::NoFields | Self::Closed | Self::Refused { .. } => false,
            Self::NoRouting { source } => source.is_retryable(),
            Self::NoShards(_)
            | Self::NoGroup { .. }
            | Self::RoutingExpired { .. }
            | Self::StaleRoute { .. }
            | Self::NoRoute { .. }
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

impl From<AddError> for PublishError {
    fn from(error: AddError) -> Self {
        match error {
            AddError::Rejected(reply) => Self::from(&reply),
            AddError::Lost { address, source } => Self::Ambiguous { address, source },
            AddError::Unreachable { address, source } => unreachable_at(address, source),
        }
    }
}

/// No connection; where that is because Redis refused to have one, its code counts.
fn unreachable_at(address: String, source: RedisError) -> PublishError {
    if source.kind() == ErrorKind::AuthenticationFailed {
        let code = source.code().unwrap_or("WRONGPASS").to_owned();
        return PublishError::Refused {
            code,
            message: source.to_string(),
        };
    }
    match source.clone().into_server_errors().as_deref() {
        Some([(_, reply), ..]) => PublishError::from(reply),
        _ => PublishError::Unreachable { address, source },
    }
}

impl From<&ServerError> for PublishError {
    fn from(reply: &ServerError) -> Self {
        let code = reply.code().to_owned();
        let message = reply.details().unwrap_or_default().to_owned();
        match code.as_str() {
            "OOM" => Self::OutOfMemory { message },
            // A transaction that was dropped for a reason that only its text tells: nothing was added.
            "EXECABORT" => Self::Busy { code, message },
            known if TRANSIENT.contains(&known) => Self::Busy { code, message },
            _ => Self::Refused { code, message },
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use redis::RedisError;

    use super::{AddError, PublishError};

    fn rejected(code: &str) -> PublishError {
        let reply = redis::make_extension_error(code.to_owned(), Some("why".to_owned()));
        let errors = reply.into_server_errors().expect("a server's error");
        PublishError::from(AddError::Rejected(errors[0].1.clone()))
    }

    #[test]
    fn replies_that_go_away_are_retryable_and_add_nothing() {
        for code in [
            "LOADING",
            "READONLY",
            "CLUSTERDOWN",
            "TRYAGAIN",
            "MASTERDOWN",
            "NOREPLICAS",
            "MISCONF",
            "EXECABORT",
        ] {
            let error = rejected(code);
            assert!(
                matches!(&error, PublishError::Busy { code: told, .. } if told == code),
                "C08: {error:?}"
            );
            assert!(error.is_retryable() && !error.may_have_been_added());
        }
    }

    #[test]
    fn full_memory_is_its_own_retryable_error() {
        let error = rejected("OOM");
        assert!(
            matches!(&error, PublishError::OutOfMemory { message } if message == "why"),
            "C09: {error:?}"
        );
        assert!(error.is_retryable() && !error.may_have_been_added());
    }

    #[test]
    fn denials_and_wrong_types_are_permanent() {
        for code in ["NOPERM", "NOAUTH", "WRONGTYPE", "ERR"] {
            let error = rejected(code);
            assert_eq!(
                error.to_string(),
                format!("Redis refuses with {code}: why"),
                "C11"
            );
            assert!(!error.is_retryable() && !error.may_have_been_added());
        }
    }

    #[test]
    fn only_a_lost_answer_may_have_been_added() {
        let source = || RedisError::from(io::Error::from(io::ErrorKind::TimedOut));
        let address = || "127.0.0.1:6379".to_owned();
        let lost = PublishError::from(AddError::Lost {
            address: address(),
            source: source(),
        });
        assert!(lost.may_have_been_added() && lost.is_retryable());
        let unreachable = PublishError::from(AddError::Unreachable {
            address: address(),
            source: source(),
        });
        assert!(!unreachable.may_have_been_added() && unreachable.is_retryable());
    }
}
