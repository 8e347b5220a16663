//! The routing table by itself: where keys go and how an answer ages. Time is made up; nothing runs.

use std::time::{Duration, Instant};

use coordinator_core::numbers::ShardCount;
use coordinator_core::routing::{redis_slot, shard_of_key};
use producer_client::{NoShards, RoutingError, RoutingTable, RoutingTimes};
use protocol::{RoutedShard, Routing};

const TIMES: RoutingTimes = RoutingTimes {
    refresh_interval: Duration::from_secs(3),
    lease: Duration::from_secs(10),
};

fn routing(shard_count: u32) -> Routing {
    let shard = |shard_index| RoutedShard {
        shard_index,
        stream_key: protocol::stream_key("orders", shard_index),
        redis_slot: 0,
        generation: Some(u64::from(shard_index) + 1),
    };
    Routing {
        stream_prefix: "orders".to_owned(),
        consumer_group: "billing".to_owned(),
        metadata_version: 7,
        shard_count,
        stream_key_pattern: protocol::stream_key_pattern("orders"),
        shards: (0..shard_count).map(shard).collect(),
        routing_lease_ms: None,
    }
}

fn table(routing: Routing, asked_at: Instant) -> Result<RoutingTable, RoutingError> {
    RoutingTable::new(routing, ("orders", "billing"), asked_at, TIMES)
}

#[test]
fn every_key_goes_where_the_common_rule_says() {
    for count in [1, 2, 7, 900] {
        let table = table(routing(count), Instant::now()).expect("a usable answer");
        for n in 0..500 {
            let key = format!("customer-{n}");
            let expected = shard_of_key(key.as_bytes(), ShardCount::new(count))
                .expect("shards")
                .get();
            let route = table.route(key.as_bytes()).expect("shards");
            assert_eq!(route.shard.shard_index, expected);
            assert_eq!(route.stream_key, format!("orders:{expected}"));
            assert_eq!(route.slot, redis_slot(route.stream_key.as_bytes()).get());
            assert_eq!(route.generation, Some(u64::from(expected) + 1));
        }
    }
}

#[test]
fn without_shards_no_key_has_a_route() {
    let table = table(routing(0), Instant::now()).expect("a usable answer");
    assert_eq!(
        table.route(b"k"),
        Err(NoShards {
            metadata_version: 7
        })
    );
    assert!(table.routes().is_empty());
}

#[test]
fn an_answer_is_due_after_the_interval_and_over_after_the_lease() {
    let asked_at = Instant::now();
    let table = table(routing(1), asked_at).expect("a usable answer");
    let after = |millis| asked_at + Duration::from_millis(millis);
    assert_eq!(
        [0, 2_999, 3_000].map(|millis| table.is_due(after(millis))),
        [false, false, true]
    );
    assert_eq!(
        [3_000, 9_999, 10_000].map(|millis| table.is_expired(after(millis))),
        [false, false, true]
    );
    assert_eq!(table.age(after(1_234)), Duration::from_millis(1_234));
    assert_eq!(table.due_in(after(1_000)), Duration::from_secs(2));
    assert_eq!(table.due_in(after(5_000)), Duration::ZERO);
    assert_eq!(
        table.age(asked_at - Duration::from_secs(1)),
        Duration::ZERO,
        "time before the question is no age"
    );
}

#[test]
fn the_lease_of_the_answer_counts_and_is_renewed_in_time() {
    let asked_at = Instant::now();
    let answered = |lease_ms| {
        let answer = Routing {
            routing_lease_ms: Some(lease_ms),
            ..routing(1)
        };
        table(answer, asked_at).expect("a usable answer")
    };
    let long = answered(60_000);
    assert_eq!(long.lease(), Duration::from_secs(60));
    assert!(
        long.is_due(asked_at + Duration::from_secs(3))
            && !long.is_expired(asked_at + Duration::from_secs(59))
    );
    let short = answered(2_000);
    assert!(
        short.is_due(asked_at + Duration::from_secs(1)),
        "half the lease, not the whole interval"
    );
    assert!(answered(0).is_expired(asked_at));
}

#[test]
fn answers_that_do_not_fit_are_refused_with_both_sides() {
    let refusal = |answer| {
        table(answer, Instant::now())
            .expect_err("is refused")
            .to_string()
    };
    let other = Routing {
        consumer_group: "orders".to_owned(),
        ..routing(1)
    };
    assert_eq!(
        refusal(other),
        "asked for orders/billing, was told about orders/orders"
    );
    let incomplete = Routing {
        shard_count: 3,
        ..routing(2)
    };
    assert_eq!(refusal(incomplete), "3 shards are counted and 2 are listed");
    let mut misplaced = routing(3);
    misplaced.shards.swap(1, 2);
    assert_eq!(
        refusal(misplaced),
        "shard 2 is listed where shard 1 should be"
    );
}
