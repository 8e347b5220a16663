//! What the driver's errors mean: by code and kind, never by text.

use std::sync::Arc;

use redis::{ErrorKind, RedisError};

use crate::error::LifecycleError;

/// Codes with which Redis refuses a script before its first line, and which pass by themselves.
const PASSING: [&str; 13] = [
    "LOADING",
    "MASTERDOWN",
    "NOREPLICAS",
    "CLUSTERDOWN",
    "TRYAGAIN",
    "MOVED",
    "ASK",
    "BUSY",
    "READONLY",
    "OOM",
    "MISCONF",
    "UNKILLABLE",
    "NOSCRIPT",
];

/// What an error means for the operation that was sent: which command it was, and for which key, the stream's or that of its lifecycle.
pub(crate) fn classify(error: RedisError, command: &str, key: &str) -> LifecycleError {
    let Some(code) = error.code().map(str::to_owned) else {
        return without_code(error);
    };
    match code.as_str() {
        code if PASSING.contains(&code) => LifecycleError::Busy {
            code: code.to_owned(),
            source: Arc::new(error),
        },
        "UNBLOCKED" => LifecycleError::ReadEnded,
        "WRONGTYPE" => LifecycleError::KeyConflict {
            key: key.to_owned(),
            found: None,
        },
        // Redis itself does not name, of the keys that a script takes, the one.
        "NOPERM" => {
            let base = base_of(key);
            let detail = error.detail().unwrap_or("a permission is missing");
            LifecycleError::Denied {
                what: format!("{command} on {base} or {{{base}}}:*: {detail} (NOPERM)"),
            }
        }
        _ => LifecycleError::Refused(Arc::new(error)),
    }
}

/// The shard of a key: what is kept beside its stream begins with the stream's name in braces.
pub(super) fn base_of(key: &str) -> &str {
    let beside = key.strip_prefix('{').and_then(|key| key.split_once("}:"));
    beside.map_or(key, |(base, _)| base)
}

fn without_code(error: RedisError) -> LifecycleError {
    match error.kind() {
        ErrorKind::AuthenticationFailed
        | ErrorKind::InvalidClientConfig
        | ErrorKind::RESP3NotSupported
        | ErrorKind::Client => LifecycleError::Refused(Arc::new(error)),
        ErrorKind::ClusterConnectionNotFound
        | ErrorKind::MasterNameNotFoundBySentinel
        | ErrorKind::NoValidReplicasFoundBySentinel => LifecycleError::Unreachable(Arc::new(error)),
        _ if error.is_connection_refusal() => LifecycleError::Unreachable(Arc::new(error)),
        _ => LifecycleError::Ambiguous(Arc::new(error)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io;

    use super::*;

    fn from_server(line: &str) -> LifecycleError {
        let bytes = format!("-{line}\r\n");
        let value = redis::parse_redis_value(bytes.as_bytes()).unwrap();
        let error = value.extract_error().unwrap_err();
        classify(error, "EVALSHA (create)", "{orders:3}:lc")
    }

    #[test]
    fn what_passes_can_be_repeated_unchanged_c09() {
        for code in PASSING {
            let error = from_server(&format!("{code} something"));
            assert!(matches!(&error, LifecycleError::Busy { code: known, .. } if known == code));
            assert!(error.is_retryable() && !error.is_stale(), "{code}");
        }
    }

    #[test]
    fn what_stays_can_not_be_repeated_c11() {
        let denied = from_server("NOPERM this user can't run the 'evalsha' command");
        assert_eq!(
            denied.to_string(),
            "the user of Redis may not run EVALSHA (create) on orders:3 or {orders:3}:*: \
             this user can't run the 'evalsha' command (NOPERM)"
        );
        for line in ["NOPERM x", "WRONGTYPE x", "ERR x", "CROSSSLOT x"] {
            assert!(!from_server(line).is_retryable(), "{line}");
        }
    }

    #[test]
    fn a_connection_that_breaks_leaves_the_outcome_open() {
        let error = |kind| {
            classify(
                RedisError::from(io::Error::from(kind)),
                "XREADGROUP",
                "orders:3",
            )
        };
        for kind in [io::ErrorKind::TimedOut, io::ErrorKind::BrokenPipe] {
            let ambiguous = error(kind);
            assert!(matches!(ambiguous, LifecycleError::Ambiguous(_)), "{kind}");
            assert!(!ambiguous.is_retryable());
        }
        let refused = error(io::ErrorKind::ConnectionRefused);
        assert!(matches!(refused, LifecycleError::Unreachable(_)));
    }
}
