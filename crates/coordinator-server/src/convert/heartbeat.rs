//! Heartbeats and their answers, from the wire to the core and back.

use coordinator_core::input::{Heartbeat, Revoking};
use coordinator_core::names::{InstanceId, MemberId, RequestId};
use coordinator_core::numbers::{Concurrency, MetadataVersion, Sequence, ShardIndex};
use coordinator_core::settings::Settings;
use coordinator_core::step::{self, HeartbeatReply};
use coordinator_core::time::Timestamp;
use protocol::{Assignment, HeartbeatRequest, HeartbeatResponse, HeartbeatStatus, RevokeState};
use store::{MemberProgress, ShardProgress};

use super::{BadName, bounded, member_id, shard_ids, shard_set};

/// A heartbeat as the core judges it, and what it tells monitoring.
pub(crate) fn request(
    addressed_to: MemberId,
    request: HeartbeatRequest,
) -> Result<(Heartbeat, MemberProgress), BadName> {
    bounded("requestId", &request.request_id)?;
    bounded("instanceId", request.instance_id.as_deref().unwrap_or(""))?;
    bounded("memberName", request.member_name.as_deref().unwrap_or(""))?;
    let rows = request.shard_progress;
    let heartbeat = Heartbeat {
        protocol_version: request.protocol_version,
        request: RequestId::from(request.request_id),
        addressed_to,
        member: member_id(&request.member_id)?,
        epoch: request.member_epoch,
        version: MetadataVersion::new(request.metadata_version),
        instance: request.instance_id.map(InstanceId::from),
        sequence: request.sequence.map(Sequence::new),
        name: request.member_name,
        max_concurrency: Concurrency::new(
            request.runtime_consumer_capacity.runtime_max_concurrency,
        ),
        owned: shard_set(&request.owned_shards),
        revoking: request.revoking_shards.iter().map(revoking).collect(),
        progress: rows
            .iter()
            .map(|row| ShardIndex::new(row.shard.shard_index))
            .collect(),
    };
    let progress = MemberProgress {
        available_concurrency: request.runtime_consumer_capacity.available_concurrency,
        shards: rows.into_iter().map(progress_row).collect(),
    };
    Ok((heartbeat, progress))
}

/// Rule O5: only REVOKED with nothing in flight lets go.
fn revoking(shard: &protocol::RevokingShard) -> Revoking {
    Revoking {
        shard: ShardIndex::new(shard.shard.shard_index),
        finished: shard.state == RevokeState::Revoked && shard.in_flight == 0,
    }
}

fn progress_row(row: protocol::ShardProgress) -> ShardProgress {
    ShardProgress {
        shard: ShardIndex::new(row.shard.shard_index),
        stream_key: row.stream_key,
        last_delivered_id: row.last_delivered_id,
        last_acked_id: row.last_acked_id,
        pending_count: row.pending_count,
        updated_at: row
            .updated_at
            .and_then(|time| u64::try_from(time.as_millis()).ok())
            .map(Timestamp::from_ms),
    }
}

/// What the member is told.
pub(crate) fn response(
    settings: &Settings,
    request: &RequestId,
    member: &MemberId,
    reply: &HeartbeatReply,
) -> HeartbeatResponse {
    HeartbeatResponse {
        response_to: request.as_str().to_owned(),
        status: status(reply.status),
        member_id: member.as_str().to_owned(),
        member_epoch: i64::try_from(reply.member_epoch).unwrap_or(i64::MAX),
        heartbeat_interval_ms: settings.heartbeat_interval().get(),
        rebalance_timeout_ms: settings.rebalance_timeout().get(),
        group_epoch: reply.group_epoch.get(),
        assignment_epoch: reply.assignment_epoch.get(),
        metadata_version: reply.metadata_version.get(),
        assignment: Assignment {
            assigned_shards: shard_ids(&reply.assigned),
            pending_shards: shard_ids(&reply.pending),
            metadata_version: reply.metadata_version.get(),
            shard_streams: Vec::new(),
        },
        member_lease_ttl_ms: Some(settings.member_lease_ttl().get()),
    }
}

/// What a member is told whose heartbeat found no turn: it keeps what it has, and its lease is not renewed (rule T3).
pub(crate) fn retry_response(
    settings: &Settings,
    request: &RequestId,
    member: &MemberId,
) -> HeartbeatResponse {
    let nothing = HeartbeatReply::without_group(step::HeartbeatStatus::Ok);
    HeartbeatResponse {
        status: HeartbeatStatus::Retry,
        ..response(settings, request, member, &nothing)
    }
}

const fn status(status: step::HeartbeatStatus) -> HeartbeatStatus {
    match status {
        step::HeartbeatStatus::Ok => HeartbeatStatus::Ok,
        step::HeartbeatStatus::SyncMetadata => HeartbeatStatus::SyncMetadata,
        step::HeartbeatStatus::RevokePending => HeartbeatStatus::RevokePending,
        step::HeartbeatStatus::UnknownMember => HeartbeatStatus::UnknownMemberId,
        step::HeartbeatStatus::Fenced => HeartbeatStatus::FencedMemberEpoch,
        step::HeartbeatStatus::UnsupportedProtocol => HeartbeatStatus::UnsupportedProtocol,
        step::HeartbeatStatus::InvalidRequest => HeartbeatStatus::InvalidRequest,
    }
}
