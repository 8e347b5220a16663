//! Heartbeats, their answers, and watches.

use protocol::{
    AssignedStream, Assignment, HeartbeatRequest, HeartbeatResponse, HeartbeatStatus, RevokeState,
    RevokingShard, RuntimeConsumerCapacity, ShardId, ShardProgress, WatchResponse,
};

use crate::case::{AT, Case, defaulted, exact, lenient, shards};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        defaulted("heartbeat-request.minimal", join()),
        exact("heartbeat-request.full", full_request()),
        defaulted(
            "heartbeat-request.leave",
            HeartbeatRequest {
                request_id: "r-9".to_owned(),
                member_epoch: -1,
                metadata_version: 35,
                ..join()
            },
        ),
        lenient(
            "heartbeat-request.unknown-field",
            HeartbeatRequest {
                owned_shards: shards([1]),
                ..join()
            },
        ),
        exact("heartbeat-response.minimal", rejection()),
        exact("heartbeat-response.full", full_response()),
        lenient(
            "heartbeat-response.unknown-field",
            HeartbeatResponse {
                status: HeartbeatStatus::Retry,
                member_epoch: 3,
                group_epoch: 4,
                assignment_epoch: 4,
                metadata_version: 5,
                assignment: Assignment {
                    metadata_version: 5,
                    ..Assignment::default()
                },
                ..rejection()
            },
        ),
        exact(
            "watch-response.minimal",
            WatchResponse {
                metadata_version: 0,
                changed: false,
            },
        ),
        exact(
            "watch-response.full",
            WatchResponse {
                metadata_version: 35,
                changed: true,
            },
        ),
    ]
}

fn join() -> HeartbeatRequest {
    HeartbeatRequest {
        protocol_version: 1,
        request_id: "r-1".to_owned(),
        member_id: "worker-m0".to_owned(),
        member_name: None,
        member_epoch: 0,
        metadata_version: 0,
        runtime_consumer_capacity: RuntimeConsumerCapacity {
            runtime_max_concurrency: 1,
            available_concurrency: 0,
        },
        owned_shards: Vec::new(),
        revoking_shards: Vec::new(),
        shard_progress: Vec::new(),
        instance_id: None,
        sequence: None,
        rack: None,
    }
}

fn full_request() -> HeartbeatRequest {
    HeartbeatRequest {
        protocol_version: 1,
        request_id: "hb-worker-m0-42".to_owned(),
        member_id: "worker-m0".to_owned(),
        member_name: Some("worker".to_owned()),
        member_epoch: 12,
        metadata_version: 34,
        runtime_consumer_capacity: RuntimeConsumerCapacity {
            runtime_max_concurrency: 4,
            available_concurrency: 3,
        },
        owned_shards: shards([0, 2]),
        revoking_shards: vec![
            RevokingShard {
                shard: ShardId::new(5),
                state: RevokeState::Revoking,
                in_flight: 0,
                acked_at: None,
            },
            RevokingShard {
                shard: ShardId::new(6),
                state: RevokeState::Draining,
                in_flight: 2,
                acked_at: None,
            },
            RevokingShard {
                shard: ShardId::new(7),
                state: RevokeState::Revoked,
                in_flight: 0,
                acked_at: Some(AT),
            },
        ],
        shard_progress: progress(),
        instance_id: Some("1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b".to_owned()),
        sequence: Some(42),
        rack: Some("eu-1a".to_owned()),
    }
}

/// The progress rows that several fixtures share.
pub(crate) fn progress() -> Vec<ShardProgress> {
    vec![
        ShardProgress {
            shard: ShardId::new(0),
            stream_key: "orders:0".to_owned(),
            last_delivered_id: Some("1769854530123-1".to_owned()),
            last_acked_id: Some("1769854530123-0".to_owned()),
            pending_count: 1,
            updated_at: Some(AT),
        },
        ShardProgress {
            shard: ShardId::new(2),
            stream_key: "orders:2".to_owned(),
            last_delivered_id: None,
            last_acked_id: None,
            pending_count: 0,
            updated_at: None,
        },
    ]
}

fn rejection() -> HeartbeatResponse {
    HeartbeatResponse {
        response_to: "r-1".to_owned(),
        status: HeartbeatStatus::UnknownMemberId,
        member_id: "worker-m0".to_owned(),
        member_epoch: 0,
        heartbeat_interval_ms: 3_000,
        rebalance_timeout_ms: 60_000,
        group_epoch: 0,
        assignment_epoch: 0,
        metadata_version: 0,
        assignment: Assignment::default(),
        member_lease_ttl_ms: None,
    }
}

fn full_response() -> HeartbeatResponse {
    HeartbeatResponse {
        response_to: "hb-worker-m0-42".to_owned(),
        status: HeartbeatStatus::Ok,
        member_epoch: 12,
        group_epoch: 13,
        assignment_epoch: 13,
        metadata_version: 34,
        assignment: Assignment {
            assigned_shards: shards([0, 2]),
            pending_shards: shards([4]),
            metadata_version: 34,
            shard_streams: vec![AssignedStream {
                shard_index: 2,
                stream_key: "orders:2".to_owned(),
                generation: 3,
            }],
        },
        member_lease_ttl_ms: Some(15_000),
        ..rejection()
    }
}
