//! Refusals and failures as HTTP answers: one shape everywhere, a code for programs and a sentence for people.

use std::time::Duration;

use axum::Json;
use axum::http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use coordinator_core::step::Rejection;
use protocol::{ErrorBody, ErrorCode};
use store::{PlaneError, StoreError};

use crate::auth::AuthError;
use crate::convert::BadName;
use crate::engine::EngineError;

/// After how long a failed request is worth repeating, unless something else is known.
const RETRY_AFTER_FAILURE: Duration = Duration::from_secs(1);

/// An answer that refuses.
#[derive(Clone, Debug)]
pub(crate) struct ApiError {
    code: ErrorCode,
    message: String,
    /// Whether the same request may succeed later without anybody's doing.
    passes_by_itself: bool,
    retry_after: Duration,
}

impl ApiError {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            passes_by_itself: true,
            retry_after: RETRY_AFTER_FAILURE,
        }
    }

    /// The same, for a time after which the request is known to be worth repeating.
    pub(crate) fn retry_after(self, wait: Duration) -> Self {
        Self {
            retry_after: wait,
            ..self
        }
    }

    /// The same, and what else there is to say.
    pub(crate) fn after(self, what: &str) -> Self {
        Self {
            message: format!("{}; {what}", self.message),
            ..self
        }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidRequest, message)
    }

    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.code.http_status()).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let status = self.status();
        let mut response = (status, Json(ErrorBody::new(self.code, self.message))).into_response();
        let headers = response.headers_mut();
        if status == StatusCode::UNAUTHORIZED {
            let schemes = HeaderValue::from_static(
                "Bearer realm=\"coordinator\", Basic realm=\"coordinator\"",
            );
            headers.insert(WWW_AUTHENTICATE, schemes);
        }
        let passes = matches!(
            status,
            StatusCode::SERVICE_UNAVAILABLE | StatusCode::TOO_MANY_REQUESTS
        );
        if passes && self.passes_by_itself {
            // Whole seconds, and not too few of them.
            let seconds = self.retry_after.as_millis().div_ceil(1_000).max(1);
            let seconds = u64::try_from(seconds).unwrap_or(u64::MAX);
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

impl From<EngineError> for ApiError {
    fn from(error: EngineError) -> Self {
        // The causes are the driver's own words: of use to whoever reads the log, not to a client.
        if let Some(cause) = std::error::Error::source(&error) {
            tracing::debug!(%error, %cause, "a request failed");
        }
        let message = error.to_string();
        let passes_by_itself = !matches!(
            error,
            EngineError::NoPlane
                | EngineError::Store(StoreError::Refused { .. } | StoreError::Corrupt { .. })
                | EngineError::Plane(
                    PlaneError::Failed {
                        retryable: false,
                        ..
                    } | PlaneError::NotProvided { .. }
                )
        );
        let code = match error {
            EngineError::GroupNotFound => ErrorCode::GroupNotFound,
            EngineError::StreamNotFound => ErrorCode::StreamNotFound,
            EngineError::GroupExists => ErrorCode::GroupAlreadyExists,
            EngineError::StreamExists { .. } => ErrorCode::StreamPrefixAlreadyExists,
            EngineError::OtherShardCount { .. } => ErrorCode::InvalidRequest,
            EngineError::Rejected(Rejection::GroupHasActiveMembers { .. }) => {
                ErrorCode::GroupHasActiveMembers
            }
            EngineError::Rejected(Rejection::ActiveMigration { .. }) => {
                ErrorCode::ActiveMigrationExists
            }
            EngineError::Rejected(Rejection::UnknownMigration { .. }) => {
                ErrorCode::MigrationNotFound
            }
            EngineError::Rejected(Rejection::RollbackNotAllowed { .. }) => {
                ErrorCode::RollbackNotAllowed
            }
            EngineError::Rejected(Rejection::MetadataSyncInProgress) => {
                ErrorCode::MetadataSyncInProgress
            }
            EngineError::Conflict | EngineError::Unfinished { .. } => {
                ErrorCode::StateVersionConflict
            }
            EngineError::Terminating | EngineError::Interrupted => {
                ErrorCode::CoordinatorTerminating
            }
            EngineError::NoPlane => ErrorCode::RedisNotConfigured,
            EngineError::Plane(PlaneError::ForeignKeys { .. }) => {
                ErrorCode::StreamPrefixAlreadyExists
            }
            EngineError::Plane(
                PlaneError::Failed { .. }
                | PlaneError::NotProvided { .. }
                | PlaneError::OtherLife { .. },
            ) => ErrorCode::RedisStreamProvisioningFailed,
            EngineError::Store(StoreError::Locked { .. }) => {
                ErrorCode::CoordinatorStateMutexUnavailable
            }
            EngineError::Store(StoreError::Corrupt { .. }) => ErrorCode::MetadataCorrupt,
            EngineError::Store(StoreError::Unavailable { .. } | StoreError::Refused { .. }) => {
                ErrorCode::StoreUnavailable
            }
        };
        Self {
            passes_by_itself,
            ..Self::new(code, message)
        }
    }
}

impl From<AuthError> for ApiError {
    fn from(error: AuthError) -> Self {
        let code = match error {
            AuthError::Busy => ErrorCode::RateLimitExceeded,
            AuthError::Missing
            | AuthError::Malformed
            | AuthError::WrongPassword
            | AuthError::BadToken => ErrorCode::Unauthorized,
        };
        Self::new(code, error.to_string())
    }
}

impl From<BadName> for ApiError {
    fn from(error: BadName) -> Self {
        Self::invalid(error.to_string())
    }
}
