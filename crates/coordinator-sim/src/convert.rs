//! Heartbeats and their answers, from the wire to the core and back, as the coordinator's server does it.

use coordinator_core::input::{Heartbeat, Revoking};
use coordinator_core::names::{InstanceId, MemberId, RequestId};
use coordinator_core::numbers::{Concurrency, MetadataVersion, Sequence, ShardIndex};
use coordinator_core::settings::Settings;
use coordinator_core::shard_set::ShardSet;
use coordinator_core::step::{self, HeartbeatReply};
use member_client::protocol::{
    Assignment, HeartbeatRequest, HeartbeatResponse, HeartbeatStatus, RevokeState, RevokingShard,
    ShardId,
};

/// A heartbeat as the core judges it.
pub(crate) fn request(request: HeartbeatRequest) -> Heartbeat {
    let member =
        MemberId::parse(&request.member_id).expect("members of a simulation have good names");
    Heartbeat {
        protocol_version: request.protocol_version,
        request: RequestId::from(request.request_id),
        addressed_to: member.clone(),
        member,
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
        progress: ShardSet::new(),
    }
}

/// Rule O5: only REVOKED with nothing in flight lets go.
fn revoking(row: &RevokingShard) -> Revoking {
    Revoking {
        shard: ShardIndex::new(row.shard.shard_index),
        finished: row.state == RevokeState::Revoked && row.in_flight == 0,
    }
}

fn shard_set(shards: &[ShardId]) -> ShardSet {
    let indices = shards
        .iter()
        .map(|shard| ShardIndex::new(shard.shard_index));
    indices.collect()
}

fn shard_ids(shards: &ShardSet) -> Vec<ShardId> {
    shards
        .iter()
        .map(|shard| ShardId::new(shard.get()))
        .collect()
}

/// What the member is told.
pub(crate) fn response(
    settings: &Settings,
    request: &str,
    member: &MemberId,
    reply: &HeartbeatReply,
) -> HeartbeatResponse {
    HeartbeatResponse {
        response_to: request.to_owned(),
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

/// What a member is told whose heartbeat found no turn (rule T3).
pub(crate) fn retry(settings: &Settings, request: &Heartbeat) -> HeartbeatResponse {
    let nothing = HeartbeatReply::without_group(step::HeartbeatStatus::Ok);
    HeartbeatResponse {
        status: HeartbeatStatus::Retry,
        ..response(
            settings,
            request.request.as_str(),
            &request.member,
            &nothing,
        )
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
