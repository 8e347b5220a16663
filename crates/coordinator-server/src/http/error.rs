//! Refusals and failures as HTTP answers: one shape everywhere, a code for programs and a sentence for people.

use std::time::Duration;

use axum::Json;
use axum::http::header::{RETRY_AFTER, WWW_AUTHENTICATE};
use axum::http::{Extensions, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use coordinator_core::step::Rejection;
use protocol::{ErrorBody, ErrorCode};
use store::{PlaneError, StoreError};

use super::audit::Resharding;
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
    /// The change of the shard count that goes on all the same.
    resharding: Option<Resharding>,
}

impl ApiError {
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            passes_by_itself: true,
            retry_after: RETRY_AFTER_FAILURE,
            resharding: None,
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

    /// The same, of a change of the shard count that goes on all the same.
    pub(crate) fn of_change(self, resharding: impl Into<String>) -> Self {
        Self {
            resharding: Some(Resharding(resharding.into())),
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
        let mut of_change = Extensions::new();
        if let Some(resharding) = self.resharding {
            of_change.insert(resharding);
        }
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
        response.extensions_mut().extend(of_change);
        response
    }
}

impl From<EngineError> for ApiError {
    fn from(error: EngineError) -> Self {
        // The causes are the driver's own words: of use to whoever reads the log, not to a client.
        if let Some(cause) = std::error::Error::source(&error) {
            tracing::debug!(%error, %cause, "a request failed");
        }
        let told = Self::new(code(&error), error.to_string());
        let told = Self {
            passes_by_itself: passes_by_itself(&error),
            ..told
        };
        match error {
            EngineError::Begun { resharding, .. } => told.of_change(resharding.as_str()),
            _ => told,
        }
    }
}

fn passes_by_itself(error: &EngineError) -> bool {
    match error {
        EngineError::Begun { source, .. } => passes_by_itself(source),
        EngineError::Plane(error) | EngineError::Unread(error) => !matches!(
            error,
            PlaneError::Failed {
                retryable: false,
                ..
            } | PlaneError::NotProvided { .. }
        ),
        EngineError::Store(error) => !matches!(
            error,
            StoreError::Refused { .. } | StoreError::Corrupt { .. }
        ),
        EngineError::NoPlane => false,
        _ => true,
    }
}

fn code(error: &EngineError) -> ErrorCode {
    match error {
        EngineError::Begun { source, .. } => code(source),
        EngineError::GroupNotFound => ErrorCode::GroupNotFound,
        EngineError::StreamNotFound => ErrorCode::StreamNotFound,
        EngineError::GroupExists => ErrorCode::GroupAlreadyExists,
        EngineError::StreamExists { .. } => ErrorCode::StreamPrefixAlreadyExists,
        EngineError::OtherShardCount { .. } => ErrorCode::InvalidRequest,
        EngineError::Rejected(rejection) => code_of_rejection(rejection),
        EngineError::Conflict | EngineError::Unfinished { .. } => ErrorCode::StateVersionConflict,
        EngineError::Terminating | EngineError::Interrupted => ErrorCode::CoordinatorTerminating,
        EngineError::NoPlane => ErrorCode::RedisNotConfigured,
        EngineError::Plane(PlaneError::ForeignKeys { .. }) => ErrorCode::StreamPrefixAlreadyExists,
        EngineError::Plane(
            PlaneError::Failed { .. }
            | PlaneError::NotProvided { .. }
            | PlaneError::OtherLife { .. },
        ) => ErrorCode::RedisStreamProvisioningFailed,
        EngineError::Store(StoreError::Locked { .. }) => {
            ErrorCode::CoordinatorStateMutexUnavailable
        }
        EngineError::Store(StoreError::Corrupt { .. }) => ErrorCode::MetadataCorrupt,
        EngineError::Store(StoreError::Unavailable { .. } | StoreError::Refused { .. })
        | EngineError::Unread(_) => ErrorCode::StoreUnavailable,
    }
}

const fn code_of_rejection(rejection: &Rejection) -> ErrorCode {
    match rejection {
        Rejection::GroupHasActiveMembers { .. } => ErrorCode::GroupHasActiveMembers,
        Rejection::ActiveMigration { .. } => ErrorCode::ActiveMigrationExists,
        Rejection::UnknownMigration { .. } => ErrorCode::MigrationNotFound,
        Rejection::RollbackNotAllowed { .. } => ErrorCode::RollbackNotAllowed,
        Rejection::MetadataSyncInProgress => ErrorCode::MetadataSyncInProgress,
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
