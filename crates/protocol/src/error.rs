//! Refusals on the wire: the codes, their HTTP status, and the body of every 4xx and 5xx answer.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The body of every refusal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ErrorBody {
    /// The HTTP status by its upper-case name: `CONFLICT`.
    pub status: String,
    /// What was refused, for programs.
    pub error_code: ErrorCode,
    /// What was refused, for people.
    pub message: String,
}

impl ErrorBody {
    /// The body for `error_code`, its status name filled in.
    #[must_use]
    pub fn new(error_code: ErrorCode, message: impl Into<String>) -> Self {
        let status = status_name(error_code.http_status()).to_owned();
        Self {
            status,
            error_code,
            message: message.into(),
        }
    }
}

macro_rules! error_codes {
    ($($(#[$doc:meta])* $variant:ident = $word:literal, $status:literal;)+) => {
        /// Why a request was refused. Codes that this version does not know decode to [`ErrorCode::Unknown`].
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ErrorCode {
            $($(#[$doc])* $variant,)+
            /// A code of a later version, as it was sent.
            Unknown(String),
        }

        impl ErrorCode {
            /// Every code of this version.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The word on the wire.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $(Self::$variant => $word,)+
                    Self::Unknown(word) => word,
                }
            }

            /// The HTTP status that goes with the code; 500 for one that is unknown.
            #[must_use]
            pub const fn http_status(&self) -> u16 {
                match self {
                    $(Self::$variant => $status,)+
                    Self::Unknown(_) => 500,
                }
            }
        }

        impl From<String> for ErrorCode {
            fn from(word: String) -> Self {
                match word.as_str() {
                    $($word => Self::$variant,)+
                    _ => Self::Unknown(word),
                }
            }
        }
    };
}

error_codes! {
    /// The group is there already.
    GroupAlreadyExists = "GROUP_ALREADY_EXISTS", 409;
    /// The prefix is there already, or keys of its name are that are not ours.
    StreamPrefixAlreadyExists = "STREAM_PREFIX_ALREADY_EXISTS", 409;
    /// The group has live members, and `force` was not set.
    GroupHasActiveMembers = "GROUP_HAS_ACTIVE_MEMBERS", 409;
    /// Another change of the shard count is under way.
    ActiveMigrationExists = "ACTIVE_MIGRATION_EXISTS", 409;
    /// The group is being corrected after its store lost writes.
    MetadataSyncInProgress = "METADATA_SYNC_IN_PROGRESS", 409;
    /// Someone else changed the group at the same time.
    StateVersionConflict = "STATE_VERSION_CONFLICT", 409;
    /// There is no such group.
    GroupNotFound = "GROUP_NOT_FOUND", 404;
    /// There is no such prefix.
    StreamNotFound = "STREAM_NOT_FOUND", 404;
    /// There is no such change of the shard count.
    MigrationNotFound = "MIGRATION_NOT_FOUND", 404;
    /// The change has gone too far to be taken back.
    RollbackNotAllowed = "ROLLBACK_NOT_ALLOWED", 422;
    /// The coordinator has no Redis, and the request needs one.
    RedisNotConfigured = "REDIS_NOT_CONFIGURED", 503;
    /// A shard's stream could not be made.
    RedisStreamProvisioningFailed = "REDIS_STREAM_PROVISIONING_FAILED", 503;
    /// Another coordinator held the group for too long.
    CoordinatorStateMutexUnavailable = "COORDINATOR_STATE_MUTEX_UNAVAILABLE", 503;
    /// The coordinator is on its way out.
    CoordinatorTerminating = "COORDINATOR_TERMINATING", 503;
    /// The store does not answer.
    StoreUnavailable = "STORE_UNAVAILABLE", 503;
    /// What the store holds cannot be understood, and is left alone.
    MetadataCorrupt = "METADATA_CORRUPT", 503;
    /// Too many requests; `Retry-After` says when to come back.
    RateLimitExceeded = "RATE_LIMIT_EXCEEDED", 429;
    /// The request is malformed.
    InvalidRequest = "INVALID_REQUEST", 400;
    /// Credentials are missing or wrong.
    Unauthorized = "UNAUTHORIZED", 401;
    /// The role does not reach.
    Forbidden = "FORBIDDEN", 403;
    /// There is no such route.
    NotFound = "NOT_FOUND", 404;
    /// The route has no such method.
    MethodNotAllowed = "METHOD_NOT_ALLOWED", 405;
    /// The body is too long.
    PayloadTooLarge = "PAYLOAD_TOO_LARGE", 413;
    /// The coordinator is at fault.
    InternalError = "INTERNAL_ERROR", 500;
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ErrorCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self::from)
    }
}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for ErrorCode {
    /// Any word: later releases may have further codes. Which ones an operation answers today is told there.
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
        utoipa::openapi::ObjectBuilder::new()
            .schema_type(utoipa::openapi::Type::String)
            .pattern(Some("^[A-Z][A-Z0-9_]*$"))
            .description(Some("Why a request was refused. Expect codes that you do not know, and go by the HTTP status then."))
            .examples(Self::ALL.iter().map(Self::as_str))
            .into()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for ErrorCode {}

/// The upper-case name of an HTTP status that the API answers; `UNKNOWN` for any other.
#[must_use]
pub const fn status_name(status: u16) -> &'static str {
    match status {
        400 => "BAD_REQUEST",
        401 => "UNAUTHORIZED",
        403 => "FORBIDDEN",
        404 => "NOT_FOUND",
        405 => "METHOD_NOT_ALLOWED",
        408 => "REQUEST_TIMEOUT",
        409 => "CONFLICT",
        413 => "PAYLOAD_TOO_LARGE",
        415 => "UNSUPPORTED_MEDIA_TYPE",
        422 => "UNPROCESSABLE_ENTITY",
        429 => "TOO_MANY_REQUESTS",
        500 => "INTERNAL_SERVER_ERROR",
        503 => "SERVICE_UNAVAILABLE",
        504 => "GATEWAY_TIMEOUT",
        _ => "UNKNOWN",
    }
}
