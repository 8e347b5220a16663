//! Flat rows for dashboards.

use protocol::{
    GrafanaAssignmentRow, GrafanaGroupRow, GrafanaMemberRow, GrafanaMessageRow, GrafanaOption,
    GrafanaShardRow, GroupState, MemberState,
};

use crate::case::{AT, Case, LATER, exact};

pub(crate) fn cases() -> Vec<Case> {
    let option = |text: &str, value: &str| GrafanaOption {
        text: text.to_owned(),
        value: value.to_owned(),
    };
    vec![
        exact("grafana-options.minimal", Vec::<GrafanaOption>::new()),
        exact(
            "grafana-options.full",
            vec![option("orders", "orders"), option("shard 3", "3")],
        ),
        exact("grafana-groups.minimal", vec![empty_group()]),
        exact("grafana-groups.full", vec![stable_group()]),
        exact("grafana-members.minimal", Vec::<GrafanaMemberRow>::new()),
        exact("grafana-members.full", vec![member()]),
        exact("grafana-shards.minimal", vec![unknown_shard()]),
        exact("grafana-shards.full", vec![known_shard()]),
        exact("grafana-assignments.minimal", vec![assignment(1, "", "")]),
        exact(
            "grafana-assignments.full",
            vec![assignment(0, "worker-m1", "worker-m0")],
        ),
        exact("grafana-messages.minimal", vec![message(None)]),
        exact(
            "grafana-messages.full",
            vec![message(Some(r#"{"id":"o-1"}"#))],
        ),
        exact("grafana-messages.broken", vec![unread_shard()]),
    ]
}

fn empty_group() -> GrafanaGroupRow {
    GrafanaGroupRow {
        stream_prefix: "orders".to_owned(),
        consumer_group: "billing".to_owned(),
        state: GroupState::Empty,
        group_epoch: 1,
        assignment_epoch: 1,
        metadata_version: 1,
        shard_count: 8,
        active_members: 0,
        total_members: 0,
        current_shards: 0,
        target_shards: 0,
        assigned_shard_ratio: "0 / 8".to_owned(),
        revoking_shards: 0,
        total_stream_length: None,
        total_pending_count: None,
        total_lag: None,
        total_memory_usage_bytes: None,
    }
}

fn stable_group() -> GrafanaGroupRow {
    GrafanaGroupRow {
        state: GroupState::Stable,
        group_epoch: 13,
        assignment_epoch: 13,
        metadata_version: 34,
        active_members: 2,
        total_members: 3,
        current_shards: 7,
        target_shards: 8,
        assigned_shard_ratio: "7 / 8".to_owned(),
        revoking_shards: 1,
        total_stream_length: Some(12),
        total_pending_count: Some(2),
        total_lag: Some(3),
        total_memory_usage_bytes: Some(4_096),
        ..empty_group()
    }
}

fn member() -> GrafanaMemberRow {
    GrafanaMemberRow {
        stream_prefix: "orders".to_owned(),
        consumer_group: "billing".to_owned(),
        member_id: "worker-m0".to_owned(),
        member_name: "worker".to_owned(),
        state: MemberState::Active,
        member_epoch: 12,
        metadata_version: 34,
        current_shard_count: 2,
        revoking_shard_count: 1,
        runtime_max_concurrency: 4,
        active_consumer_workers: 1,
        last_heartbeat_at: AT,
        member_lease_expires_at: LATER,
    }
}

fn unknown_shard() -> GrafanaShardRow {
    GrafanaShardRow {
        stream_prefix: "orders".to_owned(),
        consumer_group: "billing".to_owned(),
        shard_count: 2,
        shard_index: 1,
        shard_label: "orders:1".to_owned(),
        stream_key: "orders:1".to_owned(),
        redis_slot: 12_707,
        redis_node_endpoint: None,
        stream_length: None,
        last_record_id: None,
        last_generated_id: None,
        group_last_delivered_id: None,
        consumer_last_acked_id: None,
        pending_count: None,
        lag: None,
        memory_usage_bytes: None,
        target_owner_member_ids: String::new(),
        current_owner_member_ids: String::new(),
        problem: Some("WRONGTYPE".to_owned()),
    }
}

fn known_shard() -> GrafanaShardRow {
    GrafanaShardRow {
        shard_index: 0,
        shard_label: "orders:0".to_owned(),
        stream_key: "orders:0".to_owned(),
        redis_slot: 8_578,
        redis_node_endpoint: Some("10.0.0.7:6379".to_owned()),
        stream_length: Some(12),
        last_record_id: Some("12-0".to_owned()),
        last_generated_id: Some("13-0".to_owned()),
        group_last_delivered_id: Some("9-0".to_owned()),
        consumer_last_acked_id: Some("7-0".to_owned()),
        pending_count: Some(2),
        lag: Some(3),
        memory_usage_bytes: Some(4_096),
        target_owner_member_ids: "worker-m0".to_owned(),
        current_owner_member_ids: "worker-m0".to_owned(),
        problem: None,
        ..unknown_shard()
    }
}

fn assignment(shard_index: u32, target: &str, revoking: &str) -> GrafanaAssignmentRow {
    GrafanaAssignmentRow {
        stream_prefix: "orders".to_owned(),
        consumer_group: "billing".to_owned(),
        shard_index,
        target_owners: target.to_owned(),
        current_owners: String::new(),
        revoking_owners: revoking.to_owned(),
    }
}

fn message(fields_json: Option<&str>) -> GrafanaMessageRow {
    GrafanaMessageRow {
        stream_prefix: "orders".to_owned(),
        consumer_group: "billing".to_owned(),
        shard_index: 0,
        stream_key: "orders:0".to_owned(),
        record_id: Some("1769854530123-0".to_owned()),
        record_time: Some(AT),
        fields_json: fields_json.map(str::to_owned),
        problem: None,
    }
}

fn unread_shard() -> GrafanaMessageRow {
    GrafanaMessageRow {
        record_id: None,
        record_time: None,
        problem: Some("shard streams: orders:0: Redis does not answer".to_owned()),
        ..message(None)
    }
}
