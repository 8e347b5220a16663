//! What is kept of every mutation, refused ones too. Where it is kept is not known here.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{IsoTimestamp, Role};

/// One mutation and what became of it. Who asked is in `principal` and `requestedBy`: the first is proved, the second said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuditEvent {
    /// Names this event among all: it may be kept in several places.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub event_id: Option<String>,
    /// When it was answered.
    pub timestamp: IsoTimestamp,
    /// Which coordinator answered.
    pub coordinator_id: String,
    /// What was asked for.
    pub action: AuditAction,
    /// What became of it.
    pub outcome: AuditOutcome,
    /// Status of the HTTP answer.
    pub status: u16,
    /// The user who proved to ask; absent where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub principal: Option<String>,
    /// That user's roles; sorted.
    #[serde(default)]
    pub roles: Vec<Role>,
    /// Method of the request.
    pub method: String,
    /// Path of the request.
    pub path: String,
    /// The route it matched, with its parameters unfilled.
    pub route: String,
    /// Query of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub query_string: Option<String>,
    /// The request's `X-Request-Id`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub request_id: Option<String>,
    /// Who the body says asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub requested_by: Option<String>,
    /// Why, as the body says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub reason: Option<String>,
    /// Address of the caller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub client_address: Option<String>,
    /// The caller's `User-Agent`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub user_agent: Option<String>,
    /// The logical stream concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub stream_prefix: Option<String>,
    /// The consumer group concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub consumer_group: Option<String>,
    /// The change of the shard count concerned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub resharding_id: Option<String>,
    /// How long the answer took, in milliseconds.
    pub duration_ms: u64,
    /// What the body asked for, without secrets.
    #[serde(default)]
    pub request_summary: BTreeMap<String, String>,
    /// SHA-256 of the body in hex.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub request_body_sha256: Option<String>,
}

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AuditAction {
    /// A stream prefix.
    CreateStream,
    /// A further group.
    CreateGroup,
    /// The end of a group.
    DeleteGroup,
    /// Another shard count, asked at the prefix.
    ScaleStream,
    /// Another shard count, asked at a group.
    ScaleGroup,
    /// The old shard count back.
    RollbackMigration,
    /// Metadata put back from a snapshot: one event of the request, and one of each group that it put back.
    RestoreSnapshot,
}

/// What became of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum AuditOutcome {
    /// Done, or begun.
    Success,
    /// Refused: the request was at fault.
    Rejected,
    /// Failed: the coordinator or its store was.
    Failed,
}

/// Events of an answer that is not told how many.
pub const AUDIT_LIMIT_DEFAULT: u32 = 100;

/// The most events of an answer, and the most that is kept in each place; the least is 1.
pub const AUDIT_LIMIT_MAX: u32 = 1_000;

/// The query for audit events: `?streamPrefix=&consumerGroup=&limit=`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
#[serde(rename_all = "camelCase")]
pub struct AuditQuery {
    /// Only those of this stream; absent: of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(nullable = false))]
    pub stream_prefix: Option<String>,
    /// Only those of this consumer group of the stream, which need not exist any more; absent: of all its groups that exist, and of the one named like it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(nullable = false))]
    pub consumer_group: Option<String>,
    /// At most so many, 1 to [`AUDIT_LIMIT_MAX`]; absent: [`AUDIT_LIMIT_DEFAULT`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "openapi",
        param(nullable = false, minimum = 1, maximum = 1000)
    )]
    pub limit: Option<u32>,
}

/// The latest audit events, newest first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct AuditEvents {
    /// The events.
    pub events: Vec<AuditEvent>,
}
