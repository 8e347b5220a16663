//! What can become of a call. Whether to repeat it is said here; when is up to the caller.

use std::time::Duration;

use protocol::{DecodeError, ErrorCode};

/// Why a call gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The coordinator, or something in front of it, refused.
    #[error("refused with {status} {code}: {message}")]
    Api {
        /// The HTTP status.
        status: u16,
        /// The code of the body; [`ErrorCode::Unknown`] where the body was not the coordinator's.
        code: ErrorCode,
        /// The reason of the body, or its beginning where it was not the coordinator's.
        message: String,
        /// After how long to come back, where that was said.
        retry_after: Option<Duration>,
    },
    /// The coordinator was not reached, or the connection broke. A call that changes something may have been carried out.
    #[error("no answer from {url}")]
    Transport {
        /// The base URL that was tried last.
        url: String,
        /// What broke.
        #[source]
        source: reqwest::Error,
    },
    /// The answer came and is not what the protocol says.
    #[error("the answer of {url} cannot be understood")]
    Decode {
        /// The base URL that answered.
        url: String,
        /// Where it departs from the protocol.
        #[source]
        source: DecodeError,
    },
    /// No answer came in time. A call that changes something may have been carried out.
    #[error("no answer from {url} within {limit:?}")]
    Timeout {
        /// The base URL that was tried last.
        url: String,
        /// The time that was allowed for the whole call.
        limit: Duration,
    },
    /// The name cannot be part of a path; nothing was sent.
    #[error("{field} `{name}`: {reason}")]
    InvalidName {
        /// Which name.
        field: &'static str,
        /// The name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl ClientError {
    /// Whether the same call may succeed later: the coordinator was not reached, was busy, or could not use its store.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Transport { .. } | Self::Timeout { .. } => true,
            Self::Decode { .. } | Self::InvalidName { .. } => false,
            Self::Api { status, code, .. } => match code {
                ErrorCode::StateVersionConflict => true,
                ErrorCode::RedisNotConfigured | ErrorCode::MetadataCorrupt => false,
                _ => matches!(status, 408 | 429 | 502 | 503 | 504),
            },
        }
    }

    /// The coordinator's code, where it refused.
    #[must_use]
    pub const fn code(&self) -> Option<&ErrorCode> {
        match self {
            Self::Api { code, .. } => Some(code),
            _ => None,
        }
    }

    /// After how long to come back, where that was said.
    #[must_use]
    pub const fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Api { retry_after, .. } => *retry_after,
            _ => None,
        }
    }
}
