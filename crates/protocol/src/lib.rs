//! The wire protocol of the coordinator, version 1: what travels between it and its clients as JSON.
//!
//! The types here are the raw wire: decoding checks shapes and names the field that is wrong, but the rules
//! of the coordinator (who may do what, and when) are not known here. Nothing in this crate does I/O.
//!
//! ```
//! use protocol::{HeartbeatRequest, decode};
//!
//! let body = br#"{"protocolVersion":1,"requestId":"r-1","memberId":"m-1","memberEpoch":0,"metadataVersion":0,
//!                 "runtimeConsumerCapacity":{"runtimeMaxConcurrency":1,"availableConcurrency":1}}"#;
//! let join: HeartbeatRequest = decode(body).expect("a well-formed heartbeat");
//! assert!(join.is_join());
//!
//! let error = decode::<HeartbeatRequest>(br#"{"protocolVersion":"one"}"#).expect_err("a text is no version");
//! assert!(error.to_string().starts_with("protocolVersion: "));
//! ```

mod audit;
mod auth;
mod decode;
mod error;
mod events;
mod grafana;
mod group;
mod heartbeat;
mod messages;
mod migration;
mod monitoring;
mod names;
mod number;
mod objects;
mod offsets;
mod routing;
mod shard_id;
mod snapshot;
mod stream;
mod timestamp;
mod version;
mod watch;

pub use audit::{
    AUDIT_LIMIT_DEFAULT, AUDIT_LIMIT_MAX, AuditAction, AuditEvent, AuditEvents, AuditOutcome,
    AuditQuery,
};
pub use auth::{LoginRequest, LoginResponse, Role, Session, TOKEN_TYPE, UnknownRole};
pub use decode::{DecodeError, decode};
pub use error::{ErrorBody, ErrorCode, status_name};
pub use events::GroupChanged;
pub use grafana::{
    GrafanaAssignmentRow, GrafanaGroupRow, GrafanaMemberRow, GrafanaMessageRow, GrafanaOption,
    GrafanaShardRow,
};
pub use group::{
    GROUPS_LIMIT_MAX, Group, GroupList, GroupProvisioning, GroupState, GroupsQuery, ListedFrom,
};
pub use heartbeat::{
    AssignedStream, Assignment, HeartbeatRequest, HeartbeatResponse, HeartbeatStatus, JOIN_EPOCH,
    LEAVE_EPOCH, RevokeState, RevokingShard, RuntimeConsumerCapacity, ShardProgress,
};
pub use messages::{
    MESSAGE_LIMIT_DEFAULT, MESSAGE_LIMIT_MAX, MessageField, MessagePage, MessageQuery,
    MessageRecord, PageDirection,
};
pub use migration::{
    DrainCondition, DrainingShard, Migration, MigrationState, Migrations, NOOP_RESHARDING_ID,
    OpenCondition, ShardDrainPhase,
};
pub use monitoring::{
    Assignments, Consumption, Health, HealthStatus, Member, MemberList, MemberState, ProgressRow,
};
pub use names::{
    NAME_MAX_BYTES, NAME_PATTERN, NameError, NameProblem, STREAM_KEY_PLACEHOLDER,
    check_consumer_group, check_member_id, check_stream_prefix, stream_key, stream_key_pattern,
};
pub use offsets::{Offsets, ShardOffsets};
pub use routing::{RoutedShard, Routing};
pub use shard_id::ShardId;
pub use snapshot::{
    RestoreOutcome, RestoreQuery, Restored, RestoredGroup, SNAPSHOT_FORMAT,
    SNAPSHOT_FORMAT_VERSION, SNAPSHOT_LINE_MAX_BYTES, SNAPSHOT_MAX_BYTES, SNAPSHOT_MEDIA_TYPE,
    SnapshotEnd, SnapshotGroup, SnapshotHeader, SnapshotLine, SnapshotUnreadable,
};
pub use stream::{
    CreateGroupRequest, CreateStreamRequest, DeleteGroupRequest, RollbackRequest, ScaleRequest,
    StreamCreated, StreamScaled,
};
pub use timestamp::{IsoTimestamp, TimestampError};
pub use version::{
    Compatibility, CoordinationVersion, DEFAULT_HEARTBEAT_INTERVAL_MS, DEFAULT_MEMBER_LEASE_TTL_MS,
    DEFAULT_REBALANCE_TIMEOUT_MS, MAX_PROTOCOL_VERSION, MIN_PROTOCOL_VERSION, PROTOCOL_VERSION,
    SupportedVersions, TimingDefaults, VersionStatus, is_supported,
};
pub use watch::{WATCH_WAIT_DEFAULT_MS, WATCH_WAIT_MAX_MS, WatchQuery, WatchResponse};
