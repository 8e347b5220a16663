//! Heartbeats and their answers between the member machine and the core, as the server turns one into the other. Refuses nothing: what the
//! machine sends is well-formed.

use coordinator_core::input::{Heartbeat, Revoking};
use coordinator_core::names::{InstanceId, MemberId, RequestId};
use coordinator_core::numbers::{Concurrency, MetadataVersion, Sequence, ShardIndex};
use coordinator_core::settings::Settings;
use coordinator_core::shard_set::ShardSet;
use coordinator_core::step::{HeartbeatReply, HeartbeatStatus};
use member_client::protocol::{
    self, Assignment, HeartbeatRequest, HeartbeatResponse, RevokeState, ShardId,
};

/// What the core is asked.
pub(super) fn heartbeat(member: &MemberId, request: HeartbeatRequest) -> Heartbeat {
    Heartbeat {
        protocol_version: request.protocol_version,
        request: RequestId::from(request.request_id),
        addressed_to: member.clone(),
        member: member.clone(),
        epoch: request.member_epoch,
        version: MetadataVersion::new(request.metadata_version),
        instance: request.instance_id.map(InstanceId::from),
        sequence: request.sequence.map(Sequence::new),
        name: request.member_name,
        max_concurrency: Concurrency::new(
            request.runtime_consumer_capacity.runtime_max_concurrency,
        ),
        owned: request.owned_shards.iter().map(index).collect(),
        revoking: request.revoking_shards.iter().map(revoking).collect(),
        progress: ShardSet::new(),
    }
}

fn index(shard: &ShardId) -> ShardIndex {
    ShardIndex::new(shard.shard_index)
}

fn revoking(shard: &protocol::RevokingShard) -> Revoking {
    Revoking {
        shard: index(&shard.shard),
        finished: shard.state == RevokeState::Revoked && shard.in_flight == 0,
    }
}

/// What the machine is answered.
pub(super) fn response(
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
            assigned_shards: ids(&reply.assigned),
            pending_shards: ids(&reply.pending),
            metadata_version: reply.metadata_version.get(),
        },
        member_lease_ttl_ms: Some(settings.member_lease_ttl().get()),
    }
}

fn ids(shards: &ShardSet) -> Vec<ShardId> {
    shards
        .iter()
        .map(|shard| ShardId::new(shard.get()))
        .collect()
}

const fn status(status: HeartbeatStatus) -> protocol::HeartbeatStatus {
    match status {
        HeartbeatStatus::Ok => protocol::HeartbeatStatus::Ok,
        HeartbeatStatus::SyncMetadata => protocol::HeartbeatStatus::SyncMetadata,
        HeartbeatStatus::RevokePending => protocol::HeartbeatStatus::RevokePending,
        HeartbeatStatus::UnknownMember => protocol::HeartbeatStatus::UnknownMemberId,
        HeartbeatStatus::Fenced => protocol::HeartbeatStatus::FencedMemberEpoch,
        HeartbeatStatus::UnsupportedProtocol => protocol::HeartbeatStatus::UnsupportedProtocol,
        HeartbeatStatus::InvalidRequest => protocol::HeartbeatStatus::InvalidRequest,
    }
}
