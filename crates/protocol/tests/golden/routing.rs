//! Producer routing.

use protocol::{RoutedShard, Routing};

use crate::case::{Case, exact, lenient};

pub(crate) fn cases() -> Vec<Case> {
    let full = Routing {
        consumer_group: "billing".to_owned(),
        metadata_version: 34,
        shard_count: 2,
        shards: vec![shard(0, 8_578, Some(1)), shard(1, 12_707, None)],
        routing_lease_ms: Some(10_000),
        ..minimal()
    };
    let older = Routing {
        shard_count: 1,
        shards: vec![shard(0, 8_578, None)],
        ..minimal()
    };
    vec![
        exact("routing.minimal", minimal()),
        exact("routing.full", full),
        lenient("routing.unknown-field", older),
    ]
}

fn minimal() -> Routing {
    Routing {
        stream_prefix: "orders".to_owned(),
        consumer_group: "orders".to_owned(),
        metadata_version: 3,
        shard_count: 0,
        stream_key_pattern: protocol::stream_key_pattern("orders"),
        shards: Vec::new(),
        routing_lease_ms: None,
    }
}

fn shard(shard_index: u32, redis_slot: u16, generation: Option<u64>) -> RoutedShard {
    RoutedShard {
        shard_index,
        stream_key: protocol::stream_key("orders", shard_index),
        redis_slot,
        generation,
    }
}
