//! What failures of the lifecycle and of the connection mean for whoever asked for streams.

use std::sync::Arc;

use store::{PlaneError, StoreError};
use stream_lifecycle::{InvalidInput, LifecycleError};

use crate::link::Failure;

/// What went wrong with one stream, said with its key: Redis itself does not name it.
pub(super) fn of_lifecycle(key: &str, error: LifecycleError) -> PlaneError {
    let retryable = error.is_retryable() || matches!(error, LifecycleError::Ambiguous(_));
    let reason = match &error {
        LifecycleError::Busy { .. }
        | LifecycleError::Unreachable(_)
        | LifecycleError::Ambiguous(_)
        | LifecycleError::Refused(_) => {
            let cause = std::error::Error::source(&error).map(ToString::to_string);
            format!("{key}: {error}: {}", cause.unwrap_or_default())
        }
        LifecycleError::Denied { .. } => {
            let stream = key.rsplit_once(':').map_or(key, |(stream, _)| stream);
            format!(
                "{key}: {error}; give it what it lacks: ACL SETUSER USER '~{stream}:*' '~{{{stream}:*', and the commands of docs/operations.md#permissions"
            )
        }
        _ => format!("{key}: {error}"),
    };
    PlaneError::Failed {
        reason,
        retryable,
        source: Some(Arc::new(error)),
    }
}

/// A name that a shard stream can't have.
pub(super) fn invalid(error: InvalidInput) -> PlaneError {
    PlaneError::Failed {
        reason: error.to_string(),
        retryable: false,
        source: Some(Arc::new(error)),
    }
}

/// A command that Redis did not do, said with its key.
pub(super) fn of_command(what: &str, failure: Failure) -> PlaneError {
    of_part(what, failure.error)
}

/// The same of a script.
pub(super) fn of_part(what: &str, error: StoreError) -> PlaneError {
    match of_store(error) {
        PlaneError::Failed {
            reason,
            retryable,
            source,
        } => PlaneError::Failed {
            reason: format!("{what}: {reason}"),
            retryable,
            source,
        },
        other => other,
    }
}

pub(super) fn of_store(error: StoreError) -> PlaneError {
    let retryable = matches!(error, StoreError::Unavailable { .. });
    let (reason, source) = match error {
        StoreError::Unavailable { reason, source }
        | StoreError::Refused { reason, source }
        | StoreError::Corrupt { reason, source } => (reason, source),
        StoreError::Locked { .. } => (error.to_string(), None),
    };
    PlaneError::Failed {
        reason,
        retryable,
        source,
    }
}

/// An answer of Redis that this program does not understand.
pub(super) fn unexpected(what: &str) -> PlaneError {
    PlaneError::Failed {
        reason: format!("{what} answered something unexpected"),
        retryable: false,
        source: None,
    }
}

/// A stream whose lifecycle is lost: fail closed.
pub(super) fn without_lifecycle(key: &str) -> PlaneError {
    PlaneError::Failed {
        reason: format!(
            "{key}: the stream is there and its lifecycle is lost, so that nothing can be proven of it"
        ),
        retryable: false,
        source: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Case C11: the keys are those of the page, for all shards of the stream, and who reads it knows what to say to Redis.
    #[test]
    fn c11_what_a_user_lacks_for_a_stream_is_said_as_a_command() {
        let what = "EVALSHA (create) on other:0 or {other:0}:*: no (NOPERM)".to_owned();
        let error = of_lifecycle("other:0", LifecycleError::Denied { what });
        let PlaneError::Failed {
            reason, retryable, ..
        } = error
        else {
            panic!("{error}");
        };
        assert!(!retryable, "somebody has to do something");
        let said = "ACL SETUSER USER '~other:*' '~{other:*'";
        assert!(reason.contains(said), "{reason}");
        assert!(reason.contains("on other:0 or {other:0}:*"), "{reason}");
    }
}
