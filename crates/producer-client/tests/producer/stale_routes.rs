//! C43: the stream is not where the routing says. Asked anew, once for all; tried once more; never created.

use std::error::Error;

use producer_client::PublishError;
use protocol::ErrorCode;
use testkit::wait_until;

use crate::coordinator::Answer;
use crate::world::{LIMIT, World};

#[tokio::test]
async fn a_missing_stream_is_routed_anew_and_the_record_tried_once_more() {
    let mut world = World::of(&["orders:0"]).await;
    let producer = world.producer();
    producer
        .publish("k", [("n", "1")])
        .await
        .expect("is published");
    world.delete("orders:0").await;
    world.create("orders:s:2").await;
    world.routes(2, &["orders:s:2"]);
    let published = producer
        .publish("k", [("n", "2")])
        .await
        .expect("C43: is published elsewhere");
    assert_eq!(published.stream_key, "orders:s:2");
    assert_eq!(world.coordinator.asked(), 2);
    assert!(!world.exists("orders:0").await);
    let counters = producer.counters();
    assert_eq!(
        (counters.published, counters.stale_routes, counters.failures),
        (2, 1, 0)
    );
}

#[tokio::test]
async fn a_group_made_anew_with_a_lower_version_is_followed() {
    let mut world = World::of(&["old:0"]).await;
    world.routes(34, &["old:0"]);
    let producer = world.producer();
    producer
        .publish("k", [("n", "1")])
        .await
        .expect("is published");
    world.delete("old:0").await;
    world.create("orders:0").await;
    world.routes(1, &["orders:0"]);
    let published = producer
        .publish("k", [("n", "2")])
        .await
        .expect("C43: the newer answer counts");
    assert_eq!(published.stream_key, "orders:0");
}

#[tokio::test]
async fn a_thousand_misses_at_once_ask_once() {
    let mut world = World::of(&["orders:0"]).await;
    let producer = world
        .builder()
        .max_in_flight(1_000)
        .build()
        .expect("settings that work");
    producer
        .publish("k", [("n", "0")])
        .await
        .expect("is published");
    world.delete("orders:0").await;
    world.create("orders:s:2").await;
    world.routes(2, &["orders:s:2"]);
    world.coordinator.hold();
    let publishing: Vec<_> = (0..1_000)
        .map(|n: u32| {
            let producer = producer.clone();
            tokio::spawn(async move { producer.publish(n.to_string(), [("n", "1")]).await })
        })
        .collect();
    wait_until(LIMIT, || producer.counters().stale_routes == 1_000)
        .await
        .expect("C43: all of them miss");
    world.coordinator.release();
    for outcome in publishing {
        outcome
            .await
            .expect("no panic")
            .expect("C43: is published elsewhere");
    }
    assert_eq!(
        world.coordinator.asked(),
        2,
        "C43: once at first, once for all misses"
    );
    assert_eq!(world.length("orders:s:2").await, 1_000);
}

#[tokio::test]
async fn a_thousand_misses_at_once_share_one_failure() {
    let mut world = World::of(&["orders:0"]).await;
    let producer = world
        .builder()
        .max_in_flight(1_000)
        .build()
        .expect("settings that work");
    producer
        .publish("k", [("n", "0")])
        .await
        .expect("is published");
    world.delete("orders:0").await;
    world
        .coordinator
        .answer(Answer::Refusal(ErrorCode::StoreUnavailable));
    world.coordinator.hold();
    let publishing: Vec<_> = (0..1_000)
        .map(|_| {
            let producer = producer.clone();
            tokio::spawn(async move { producer.publish("k", [("n", "1")]).await })
        })
        .collect();
    wait_until(LIMIT, || producer.counters().stale_routes == 1_000)
        .await
        .expect("C43: all of them miss");
    world.coordinator.release();
    for outcome in publishing {
        let error = outcome
            .await
            .expect("no panic")
            .expect_err("nothing newer is known");
        assert!(
            matches!(error, PublishError::StaleRoute { .. }),
            "{error:?}"
        );
    }
    assert_eq!(world.coordinator.asked(), 2);
}

#[tokio::test]
async fn a_deleted_stream_is_told_clearly_and_not_created() {
    let mut world = World::of(&["orders:0"]).await;
    let producer = world.producer();
    producer
        .publish("k", [("n", "1")])
        .await
        .expect("is published");
    world.delete("orders:0").await;
    let error = producer
        .publish("k", [("n", "2")])
        .await
        .expect_err("C43: there is no stream");
    let told =
        "stream orders:0 of shard 0 does not exist, although version 1 of the routing names it";
    assert_eq!(error.to_string(), told);
    assert!(matches!(
        error,
        PublishError::NoRoute {
            metadata_version: 1,
            ..
        }
    ));
    assert!(error.is_retryable() && !error.may_have_been_added());
    assert_eq!(world.coordinator.asked(), 2);
    assert!(!world.exists("orders:0").await, "C43: never a plain XADD");

    world.create("orders:0").await;
    producer
        .publish("k", [("n", "3")])
        .await
        .expect("C43: the same count, the same key, a new stream");
}

#[tokio::test]
async fn without_the_coordinator_a_missing_stream_is_told_with_the_reason() {
    let mut world = World::of(&["orders:0"]).await;
    let producer = world.producer();
    producer
        .publish("k", [("n", "1")])
        .await
        .expect("is published");
    world.delete("orders:0").await;
    world
        .coordinator
        .answer(Answer::Refusal(ErrorCode::StoreUnavailable));
    let error = producer
        .publish("k", [("n", "2")])
        .await
        .expect_err("nothing newer is known");
    assert!(matches!(error, PublishError::StaleRoute { .. }));
    let reason = error
        .source()
        .and_then(Error::source)
        .expect("the coordinator's refusal")
        .to_string();
    assert_eq!(reason, "refused with 503 STORE_UNAVAILABLE: as told");
    assert!(!world.exists("orders:0").await);
    let counters = producer.counters();
    assert_eq!((counters.refreshes, counters.refresh_failures), (2, 1));
}

#[tokio::test]
async fn a_group_that_is_gone_stops_publishing_until_it_is_back() {
    let mut world = World::of(&["orders:0", "orders:1"]).await;
    let producer = world.producer();
    producer
        .publish("k", [("n", "1")])
        .await
        .expect("is published");
    let one = producer
        .publish("k", [("n", "1")])
        .await
        .expect("is published")
        .stream_key;
    world.delete(&one).await;
    world
        .coordinator
        .answer(Answer::Refusal(ErrorCode::GroupNotFound));
    for key in ["k", "a", "b", "c", "d", "e", "f"] {
        let error = producer
            .publish(key, [("n", "2")])
            .await
            .expect_err("there is no group");
        assert_eq!(
            error.to_string(),
            "the coordinator knows no group orders of orders"
        );
    }
    let total = world.length("orders:0").await + world.length("orders:1").await;
    assert_eq!(total, 0, "the other shard got nothing either");

    world.create(&one).await;
    world.routes(1, &["orders:0", "orders:1"]);
    testkit::wait_until_async(LIMIT, || async {
        producer.publish("k", [("n", "3")]).await.is_ok()
    })
    .await
    .expect("the group is back");
}
