//! The heartbeat of a member and its answer. What the answers mean for a client is told at [`HeartbeatStatus`];
//! how they are decided is not known here.

use serde::{Deserialize, Serialize};

use crate::{IsoTimestamp, ShardId, number};

/// `memberEpoch` of a member that joins, or joins again with nothing owned.
pub const JOIN_EPOCH: i64 = 0;

/// `memberEpoch` of a member that leaves.
pub const LEAVE_EPOCH: i64 = -1;

/// What a member sends: its whole state, every time. Unknown fields are ignored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct HeartbeatRequest {
    /// Version of the coordination protocol that the client speaks. One that is not known is answered `UNSUPPORTED_PROTOCOL`.
    pub protocol_version: u32,
    /// Name of this message; the answer repeats it as `responseTo`.
    #[cfg_attr(feature = "openapi", schema(max_length = 256))]
    pub request_id: String,
    /// Must be the member of the path.
    #[cfg_attr(
        feature = "openapi",
        schema(
            max_length = 256,
            pattern = "^[^\\u0000-\\u0020\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000{}]([^\\u0000-\\u001f\\u007f-\\u009f{}]*[^\\u0000-\\u0020\\u007f-\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000{}])?$"
        )
    )]
    pub member_id: String,
    /// A name for people; several members may share one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_length = 256))]
    pub member_name: Option<String>,
    /// The epoch last given to the member; 0 to join, -1 to leave.
    pub member_epoch: i64,
    /// The version of the group's metadata that the member acts on.
    #[serde(deserialize_with = "number::signed_range")]
    pub metadata_version: u64,
    /// How much the member can work at once.
    pub runtime_consumer_capacity: RuntimeConsumerCapacity,
    /// Every shard the member owns, whether it reads it already or not (rule O5b).
    #[serde(default)]
    pub owned_shards: Vec<ShardId>,
    /// Shards that the member is giving up or has just given up.
    #[serde(default)]
    pub revoking_shards: Vec<RevokingShard>,
    /// How far the member has come; for monitoring only.
    #[serde(default)]
    pub shard_progress: Vec<ShardProgress>,
    /// UUID of the process: tells a restarted member from its earlier self.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_length = 256))]
    pub instance_id: Option<String>,
    /// Rises with every message of the process: tells a delayed copy from a new message (rule H14a).
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "number::optional_signed_range"
    )]
    pub sequence: Option<u64>,
    /// Where the member runs; for placement policies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rack: Option<String>,
}

impl HeartbeatRequest {
    /// Whether the member joins, or joins again, with this message.
    #[must_use]
    pub const fn is_join(&self) -> bool {
        self.member_epoch == JOIN_EPOCH
    }

    /// Whether the member leaves with this message.
    #[must_use]
    pub const fn is_leave(&self) -> bool {
        self.member_epoch == LEAVE_EPOCH
    }
}

/// How much a member can work at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RuntimeConsumerCapacity {
    /// Workers the member may run; at least 1.
    #[serde(deserialize_with = "number::at_least_one")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1))]
    pub runtime_max_concurrency: u32,
    /// Workers that are free now.
    pub available_concurrency: u32,
}

/// A shard on its way out of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct RevokingShard {
    /// The shard.
    pub shard: ShardId,
    /// How far giving it up has come.
    pub state: RevokeState,
    /// Records of it that are still being handled.
    #[serde(default)]
    pub in_flight: u32,
    /// When the last of them was acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acked_at: Option<IsoTimestamp>,
}

/// How far giving up a shard has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum RevokeState {
    /// The member was told and has not stopped reading yet.
    Revoking,
    /// Nothing new is read, records in hand are being finished.
    Draining,
    /// Given up. Only with nothing in flight is it a release (rule O5).
    Revoked,
}

/// How far a member has come in one shard.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct ShardProgress {
    /// The shard.
    pub shard: ShardId,
    /// Key of its stream.
    pub stream_key: String,
    /// Id of the last record given to the member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_delivered_id: Option<String>,
    /// Id of the last record the member acknowledged.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_acked_id: Option<String>,
    /// Records delivered and not acknowledged.
    #[serde(default, deserialize_with = "number::signed_range")]
    pub pending_count: u64,
    /// When this was taken, by the member's clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_at: Option<IsoTimestamp>,
}

/// What the coordinator answers a heartbeat.
///
/// For the statuses that reject, the epochs are those known (0 if none) and the sets are empty.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct HeartbeatResponse {
    /// The `requestId` this answers.
    pub response_to: String,
    /// What the client does next.
    pub status: HeartbeatStatus,
    /// The member of the request.
    pub member_id: String,
    /// The epoch to send from now on.
    pub member_epoch: i64,
    /// How often to send, in milliseconds.
    pub heartbeat_interval_ms: u64,
    /// How long giving up a shard may take, in milliseconds.
    pub rebalance_timeout_ms: u64,
    /// Epoch of the group's membership.
    pub group_epoch: u64,
    /// Epoch of the assignment this answer comes from.
    pub assignment_epoch: u64,
    /// Version of the group's metadata.
    pub metadata_version: u64,
    /// The member's shards.
    pub assignment: Assignment,
    /// How long the member stays alive without a heartbeat, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(nullable = false))]
    pub member_lease_ttl_ms: Option<u64>,
}

/// The shards of one member.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct Assignment {
    /// Shards that are the member's now; sorted.
    pub assigned_shards: Vec<ShardId>,
    /// Shards that will be the member's once their holder let go; sorted.
    pub pending_shards: Vec<ShardId>,
    /// Version of the metadata this was taken from.
    pub metadata_version: u64,
    /// Where the assigned shards are read; sorted. Only those whose streams' lives are told apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shard_streams: Vec<AssignedStream>,
}

/// Where an assigned shard is read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "camelCase")]
pub struct AssignedStream {
    /// Position of the shard.
    pub shard_index: u32,
    /// Key of its stream.
    pub stream_key: String,
    /// Which life of the stream this is, counted from 1.
    pub generation: u64,
}

/// What a client does with the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum HeartbeatStatus {
    /// Takes the assignment over: starts what is new, drains what is gone. The only one that lets a shard start.
    Ok,
    /// Keeps everything and tries again later.
    Retry,
    /// Takes the versions over, keeps only what it owns and is assigned, starts nothing.
    SyncMetadata,
    /// Keeps only what it owns and is assigned, goes on draining, starts nothing.
    RevokePending,
    /// Stops reading and acknowledging at once, forgets its shards, joins again with nothing.
    UnknownMemberId,
    /// As [`Self::UnknownMemberId`]: the member was superseded or shut out.
    FencedMemberEpoch,
    /// Stops for good and reports why.
    UnsupportedProtocol,
    /// Stops for good and reports why.
    InvalidRequest,
}

impl HeartbeatStatus {
    /// Whether the coordinator renewed the member's lease before it answered so (rule T3a). Only these
    /// extend the client's assignment lease (rules T2 and T3).
    #[must_use]
    pub const fn renews_lease(self) -> bool {
        matches!(self, Self::Ok | Self::SyncMetadata | Self::RevokePending)
    }
}
