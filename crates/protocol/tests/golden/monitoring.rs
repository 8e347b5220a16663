//! Health, versions, members, assignments and consumption.

use std::collections::BTreeMap;

use protocol::{
    Assignments, Compatibility, Consumption, CoordinationVersion, Health, HealthStatus,
    IsoTimestamp, Member, MemberList, MemberState, ProgressRow, SupportedVersions, TimingDefaults,
    VersionStatus,
};

use crate::case::{AT, Case, LATER, exact, shards};
use crate::heartbeat::progress;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        exact("health.minimal", healthy()),
        exact("health.full", unhealthy()),
        exact("compatibility.minimal", Compatibility::current()),
        exact("compatibility.full", later_versions()),
        exact("member-list.minimal", MemberList::default()),
        exact(
            "member-list.full",
            MemberList {
                members: vec![busy_member(), new_member()],
            },
        ),
        exact("assignments.minimal", Assignments::default()),
        exact("assignments.full", assignments()),
        exact("consumption.minimal", Consumption::default()),
        exact("consumption.full", consumption()),
    ]
}

fn healthy() -> Health {
    Health {
        status: HealthStatus::Up,
        coordinator_id: "c-1".to_owned(),
        redis: HealthStatus::Up,
        tick_loop: HealthStatus::Up,
        redis_detail: None,
        redis_latency_ms: None,
        loop_detail: None,
        last_tick_at: None,
    }
}

fn unhealthy() -> Health {
    Health {
        status: HealthStatus::Down,
        redis: HealthStatus::Down,
        tick_loop: HealthStatus::Degraded,
        redis_detail: Some("connection refused".to_owned()),
        redis_latency_ms: Some(250),
        loop_detail: Some("late by 2 ticks".to_owned()),
        last_tick_at: Some(AT),
        ..healthy()
    }
}

fn later_versions() -> Compatibility {
    let first = CoordinationVersion {
        version: 1,
        status: VersionStatus::Deprecated,
        introduced_in: "0.1.0".to_owned(),
        deprecated_in: Some("2.0.0".to_owned()),
        removed_in: Some("3.0.0".to_owned()),
        timing_defaults: TimingDefaults::default(),
    };
    let second = CoordinationVersion {
        version: 2,
        status: VersionStatus::Active,
        introduced_in: "2.0.0".to_owned(),
        deprecated_in: None,
        removed_in: None,
        timing_defaults: TimingDefaults {
            heartbeat_interval_ms: 1_000,
            member_lease_ttl_ms: 5_000,
            rebalance_timeout_ms: 30_000,
        },
    };
    Compatibility {
        current_coordination_version: 2,
        supported_coordination_versions: SupportedVersions { min: 1, max: 2 },
        coordination_versions: vec![first, second],
    }
}

fn new_member() -> Member {
    Member {
        member_id: "worker-m1".to_owned(),
        member_name: "worker-m1".to_owned(),
        state: MemberState::Starting,
        member_epoch: 1,
        metadata_version: 0,
        runtime_max_concurrency: 1,
        active_consumer_workers: 0,
        current_assignment: Vec::new(),
        granted_assignment: Vec::new(),
        revoking: Vec::new(),
        last_heartbeat_at: AT,
        member_lease_expires_at: LATER,
        rebalance_timeout_ms: 60_000,
        rebalance_deadline_at: None,
        shard_progress: Vec::new(),
    }
}

fn busy_member() -> Member {
    Member {
        member_id: "worker-m0".to_owned(),
        member_name: "worker".to_owned(),
        state: MemberState::Active,
        member_epoch: 12,
        metadata_version: 34,
        runtime_max_concurrency: 4,
        active_consumer_workers: 1,
        current_assignment: shards([0, 2]),
        granted_assignment: shards([0, 2, 4]),
        revoking: shards([6]),
        rebalance_deadline_at: Some(IsoTimestamp::from_millis(AT.as_millis() + 60_000)),
        shard_progress: progress(),
        ..new_member()
    }
}

fn assignments() -> Assignments {
    let (first, second) = ("worker-m0".to_owned(), "worker-m1".to_owned());
    Assignments {
        target_assignment: BTreeMap::from([
            (first.clone(), shards([0, 2])),
            (second.clone(), shards([1, 3])),
        ]),
        current_assignments: BTreeMap::from([
            (first.clone(), shards([0, 2])),
            (second, Vec::new()),
        ]),
        revoke_progress: BTreeMap::from([(first, shards([1]))]),
        invariant_violations: vec!["shard 3 has two owners: worker-m0, worker-m1".to_owned()],
    }
}

fn consumption() -> Consumption {
    let members = [
        ("worker-m0", MemberState::Active),
        ("worker-m1", MemberState::Leaving),
    ];
    let row = |((member_id, member_state), progress): ((&str, _), _)| ProgressRow {
        stream_prefix: "orders".to_owned(),
        consumer_group: "billing".to_owned(),
        member_id: member_id.to_owned(),
        member_name: "worker".to_owned(),
        member_state,
        progress,
    };
    Consumption {
        progress: members.into_iter().zip(progress()).map(row).collect(),
        as_of: Some(AT),
        age_ms: Some(250),
    }
}
