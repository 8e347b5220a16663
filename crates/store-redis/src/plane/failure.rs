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
    match of_store(failure.error) {
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
