//! Offsets of the shards and pages of their records.

use protocol::{MessageField, MessagePage, MessageRecord, Offsets, PageDirection, ShardOffsets};

use crate::case::{AT, Case, exact};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        exact("offsets.minimal", no_offsets()),
        exact("offsets.full", offsets()),
        exact("message-page.minimal", empty_page()),
        exact("message-page.full", page()),
    ]
}

fn no_offsets() -> Offsets {
    Offsets {
        stream_prefix: "orders".to_owned(),
        consumer_group: "billing".to_owned(),
        shards: Vec::new(),
        total_stream_length: Some(0),
        total_pending_count: Some(0),
        total_lag: Some(0),
        total_memory_usage_bytes: Some(0),
        memory_usage_known: true,
        as_of: None,
        age_ms: None,
    }
}

/// The second shard cannot be read (C04): it shows nulls and the reason, and no sum is known.
fn offsets() -> Offsets {
    Offsets {
        shards: vec![readable_shard(), broken_shard()],
        total_stream_length: None,
        total_pending_count: None,
        total_lag: None,
        total_memory_usage_bytes: None,
        memory_usage_known: false,
        as_of: Some(AT),
        age_ms: Some(250),
        ..no_offsets()
    }
}

fn readable_shard() -> ShardOffsets {
    ShardOffsets {
        shard_index: 0,
        stream_key: "orders:0".to_owned(),
        redis_slot: 8_578,
        redis_node_endpoint: Some("10.0.0.7:6379".to_owned()),
        redis_node_id: Some("07c37dfeb235213a872192d90877d0cd55635b91".to_owned()),
        stream_length: Some(12),
        first_record_id: Some("1-0".to_owned()),
        last_record_id: Some("12-0".to_owned()),
        last_generated_id: Some("13-0".to_owned()),
        group_last_delivered_id: Some("9-0".to_owned()),
        pending_count: Some(2),
        lag: Some(3),
        unread: Some(3),
        backlog: Some(5),
        trimmed_unread: Some(7),
        generation: Some(2),
        memory_usage_bytes: Some(4_096),
        owner_member_ids: vec!["worker-m0".to_owned()],
        problem: None,
    }
}

fn broken_shard() -> ShardOffsets {
    ShardOffsets {
        shard_index: 1,
        stream_key: "orders:1".to_owned(),
        redis_slot: 12_707,
        redis_node_endpoint: None,
        redis_node_id: None,
        stream_length: None,
        first_record_id: None,
        last_record_id: None,
        last_generated_id: None,
        group_last_delivered_id: None,
        pending_count: None,
        lag: None,
        unread: None,
        backlog: None,
        trimmed_unread: None,
        generation: None,
        memory_usage_bytes: None,
        owner_member_ids: Vec::new(),
        problem: Some("WRONGTYPE".to_owned()),
    }
}

fn empty_page() -> MessagePage {
    MessagePage {
        stream_prefix: "orders".to_owned(),
        consumer_group: "billing".to_owned(),
        shard_index: 0,
        stream_key: "orders:0".to_owned(),
        direction: PageDirection::Backward,
        limit: 25,
        records: Vec::new(),
        next_cursor: None,
    }
}

fn page() -> MessagePage {
    let field = |name: &str, value: Option<&str>, value_bytes| MessageField {
        name: name.to_owned(),
        value: value.map(str::to_owned),
        value_bytes,
    };
    let record = |record_id: &str, fields| MessageRecord {
        record_id: record_id.to_owned(),
        record_time: AT,
        fields,
    };
    MessagePage {
        direction: PageDirection::Forward,
        limit: 2,
        records: vec![
            record(
                "1769854530123-0",
                vec![field("id", Some("o-1"), 3), field("id", Some("o-2"), 3)],
            ),
            record("1769854530123-1", vec![field("payload", None, 512)]),
        ],
        next_cursor: Some("1769854530123-1".to_owned()),
        ..empty_page()
    }
}
