//! Routing version 1 against its golden vectors.
#![allow(clippy::unwrap_used)]

use coordinator_core::numbers::ShardCount;
use coordinator_core::routing::{murmur3_x86_32, redis_slot, shard_of_key};
use serde_json::Value;

fn golden() -> Value {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../fixtures/routing/routing-v1.json"
    );
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn rows<'a>(golden: &'a Value, table: &str) -> &'a Vec<Value> {
    let rows = golden[table].as_array().unwrap();
    assert!(!rows.is_empty(), "the golden table {table} is empty");
    rows
}

fn number(value: &Value) -> u32 {
    u32::try_from(value.as_u64().unwrap()).unwrap()
}

fn shard(key: &str, count: u32) -> u32 {
    shard_of_key(key.as_bytes(), ShardCount::new(count))
        .unwrap()
        .get()
}

#[test]
fn hashes_are_the_golden_ones() {
    for row in rows(&golden(), "hashes") {
        let key = row["key"].as_str().unwrap();
        assert_eq!(
            murmur3_x86_32(key.as_bytes(), 0),
            number(&row["hash"]),
            "key {key:?}"
        );
    }
}

#[test]
fn routes_are_the_golden_ones() {
    for row in rows(&golden(), "routes") {
        let count = number(&row["shardCount"]);
        for (key, expected) in row["shards"].as_object().unwrap() {
            assert_eq!(
                shard(key, count),
                number(expected),
                "key {key:?} over {count} shards"
            );
        }
    }
}

#[test]
fn hashes_above_the_last_full_range_are_drawn_again() {
    for row in rows(&golden(), "rehashed") {
        let (key, count) = (row["key"].as_str().unwrap(), number(&row["shardCount"]));
        assert!(
            u64::from(murmur3_x86_32(key.as_bytes(), 0))
                >= (1 << 32) - (1 << 32) % u64::from(count)
        );
        assert_eq!(
            shard(key, count),
            number(&row["shard"]),
            "key {key:?} over {count} shards"
        );
    }
}

#[test]
fn slots_are_the_golden_ones() {
    for row in rows(&golden(), "slots") {
        let key = row["key"].as_str().unwrap();
        assert_eq!(
            u32::from(redis_slot(key.as_bytes()).get()),
            number(&row["slot"]),
            "key {key:?}"
        );
    }
}

#[test]
fn a_stream_without_shards_routes_nothing() {
    assert_eq!(shard_of_key(b"order-123", ShardCount::new(0)), None);
}
