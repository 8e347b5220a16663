//! Creation, deletion, and changes of the shard count.

use protocol::{
    CreateStreamRequest, DeleteGroupRequest, DrainCondition, DrainingShard, Migration,
    MigrationState, Migrations, NOOP_RESHARDING_ID, OpenCondition, RollbackRequest, ScaleRequest,
    ShardDrainPhase, StreamCreated, StreamScaled,
};

use crate::case::{AT, Case, LATER, defaulted, exact, lenient};

pub(crate) fn cases() -> Vec<Case> {
    let mut cases = creation();
    cases.extend(deletion());
    cases.extend(scaling());
    cases.extend(migrations());
    cases
}

fn creation() -> Vec<Case> {
    let minimal = CreateStreamRequest {
        initial_shard_count: None,
        requested_by: "ops".to_owned(),
        reason: None,
    };
    let full = CreateStreamRequest {
        initial_shard_count: Some(8),
        reason: Some("new stream".to_owned()),
        ..minimal.clone()
    };
    vec![
        exact("create-stream-request.minimal", minimal.clone()),
        exact("create-stream-request.full", full),
        lenient("create-stream-request.unknown-field", minimal),
        exact(
            "stream-created.minimal",
            StreamCreated {
                stream_prefix: "orders".to_owned(),
                shard_count: 1,
                metadata_version: 1,
            },
        ),
        exact(
            "stream-created.full",
            StreamCreated {
                stream_prefix: "bestellungen: täglich".to_owned(),
                shard_count: 100_000,
                metadata_version: 9_223_372_036_854_775_807,
            },
        ),
    ]
}

fn deletion() -> Vec<Case> {
    let request = |force| DeleteGroupRequest {
        requested_by: "ops".to_owned(),
        reason: "retired".to_owned(),
        force,
    };
    vec![
        defaulted("delete-group-request.minimal", request(false)),
        exact("delete-group-request.full", request(true)),
        lenient("delete-group-request.unknown-field", request(false)),
    ]
}

fn scaling() -> Vec<Case> {
    let full = ScaleRequest {
        target_shard_count: 16,
        requested_by: "ops".to_owned(),
        reason: "more traffic".to_owned(),
        deprecated_after: Some("PT24H".to_owned()),
    };
    let to_nothing = ScaleRequest {
        target_shard_count: 0,
        reason: "empty it".to_owned(),
        deprecated_after: None,
        ..full.clone()
    };
    let rollback = RollbackRequest {
        requested_by: "ops".to_owned(),
        reason: "too early".to_owned(),
    };
    vec![
        exact("scale-request.minimal", to_nothing),
        exact("scale-request.full", full.clone()),
        lenient(
            "scale-request.unknown-field",
            ScaleRequest {
                deprecated_after: None,
                ..full
            },
        ),
        exact("stream-scaled.minimal", scaled(0, &[], Vec::new())),
        exact(
            "stream-scaled.full",
            scaled(16, &["billing", "orders"], vec![migration(), migration()]),
        ),
        exact("rollback-request.minimal", rollback.clone()),
        exact(
            "rollback-request.full",
            RollbackRequest {
                requested_by: "Petra Müller".to_owned(),
                reason: "too early: consumers do not keep up".to_owned(),
            },
        ),
        lenient("rollback-request.unknown-field", rollback),
    ]
}

fn migrations() -> Vec<Case> {
    let noop = Migration {
        resharding_id: NOOP_RESHARDING_ID.to_owned(),
        to_shard_count: 8,
        state: MigrationState::Deprecated,
        ..migration()
    };
    vec![
        exact("migration.minimal", migration()),
        exact("migration.full", draining()),
        exact("migration.noop", noop),
        exact("migrations.minimal", Migrations::default()),
        exact(
            "migrations.full",
            Migrations {
                active_resharding_id: Some(draining().resharding_id),
                migrations: vec![draining(), migration()],
            },
        ),
    ]
}

fn scaled(target_shard_count: u32, groups: &[&str], migrations: Vec<Migration>) -> StreamScaled {
    StreamScaled {
        stream_prefix: "orders".to_owned(),
        target_shard_count,
        affected_consumer_groups: groups.iter().map(ToString::to_string).collect(),
        migrations,
    }
}

/// The migration that several fixtures share.
pub(crate) fn migration() -> Migration {
    Migration {
        resharding_id: "reshard-0b9f6a52-7f0e-4a8e-9a55-8f6ad1c3a001".to_owned(),
        from_shard_count: 8,
        to_shard_count: 16,
        state: MigrationState::Preparing,
        created_at: AT,
        updated_at: AT,
        shards: None,
    }
}

fn draining() -> Migration {
    let shard = |shard_index, phase, pending, lag| DrainingShard {
        shard_index,
        phase,
        pending,
        lag,
        open: Vec::new(),
    };
    Migration {
        resharding_id: "reshard-0b9f6a52-7f0e-4a8e-9a55-8f6ad1c3a002".to_owned(),
        to_shard_count: 5,
        state: MigrationState::Draining,
        updated_at: LATER,
        shards: Some(vec![
            DrainingShard {
                open: vec![OpenCondition {
                    consumer_group: "billing".to_owned(),
                    condition: DrainCondition::Pending,
                    count: Some(2),
                }],
                ..shard(5, ShardDrainPhase::Draining, Some(2), Some(10))
            },
            shard(6, ShardDrainPhase::Drained, Some(0), None),
            shard(7, ShardDrainPhase::Retired, None, None),
        ]),
        ..migration()
    }
}
