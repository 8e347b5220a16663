//! How long a producer goes on without its coordinator: until the lease of its routing is over, and not longer.

use std::error::Error;
use std::time::Duration;

use producer_client::{Producer, PublishError};
use protocol::ErrorCode;
use testkit::{wait_until, wait_until_async};

use crate::coordinator::{Answer, routing};
use crate::world::{LIMIT, World};

async fn outcome_is(producer: &Producer, wanted: impl Fn(&PublishError) -> bool) {
    wait_until_async(LIMIT, || async {
        producer
            .publish("k", [("n", "1")])
            .await
            .is_err_and(|error| wanted(&error))
    })
    .await
    .expect("the outcome that was waited for");
}

#[tokio::test]
async fn publishing_goes_on_without_the_coordinator_and_ends_with_the_lease() {
    let mut world = World::of(&["orders:0"]).await;
    let producer = world
        .builder()
        .refresh_interval(Duration::from_millis(50))
        .routing_lease(Duration::from_millis(1_500))
        .build()
        .expect("settings that work");
    producer
        .publish("k", [("n", "1")])
        .await
        .expect("is published");
    world
        .coordinator
        .answer(Answer::Refusal(ErrorCode::StoreUnavailable));
    wait_until(LIMIT, || producer.counters().refresh_failures > 0)
        .await
        .expect("is refused");
    producer
        .publish("k", [("n", "2")])
        .await
        .expect("the lease goes on");

    outcome_is(&producer, |error| {
        matches!(error, PublishError::RoutingExpired { .. })
    })
    .await;
    let length = world.length("orders:0").await;
    let error = producer
        .publish("k", [("n", "3")])
        .await
        .expect_err("the lease is over");
    let PublishError::RoutingExpired { age, lease, .. } = &error else {
        panic!("{error:?}")
    };
    assert!(age >= lease, "{age:?} {lease:?}");
    assert_eq!(*lease, Duration::from_millis(1_500));
    assert!(
        error
            .to_string()
            .ends_with("old and may be relied on for 1.5s"),
        "{error}"
    );
    let reason = error
        .source()
        .and_then(Error::source)
        .expect("why it was not renewed")
        .to_string();
    assert_eq!(reason, "refused with 503 STORE_UNAVAILABLE: as told");
    assert_eq!(
        world.length("orders:0").await,
        length,
        "nothing is written without a lease"
    );

    world.routes(1, &["orders:0"]);
    wait_until_async(LIMIT, || async {
        producer.publish("k", [("n", "4")]).await.is_ok()
    })
    .await
    .expect("publishing resumes with the coordinator");
}

#[tokio::test]
async fn the_lease_of_the_answer_counts_more_than_the_setting() {
    let world = World::of(&["orders:0"]).await;
    let mut short = routing(1, &["orders:0"]);
    short.routing_lease_ms = Some(200);
    world.coordinator.answer(Answer::Routing(short));
    let producer = world.producer();
    producer
        .publish("k", [("n", "1")])
        .await
        .expect("is published");
    wait_until(LIMIT, || world.coordinator.asked() > 3)
        .await
        .expect("it is renewed before it is over");
    world
        .coordinator
        .answer(Answer::Refusal(ErrorCode::StoreUnavailable));
    outcome_is(&producer, |error| {
        matches!(error, PublishError::RoutingExpired { lease, .. } if *lease == Duration::from_millis(200))
    })
    .await;
}

#[tokio::test]
async fn without_any_answer_nothing_is_published_and_the_coordinator_is_not_flooded() {
    let world = World::of(&["orders:0"]).await;
    world
        .coordinator
        .answer(Answer::Refusal(ErrorCode::StoreUnavailable));
    let producer = world.producer();
    for _ in 0..200 {
        let error = producer
            .publish("k", [("n", "1")])
            .await
            .expect_err("no routing");
        assert!(matches!(error, PublishError::NoRouting { .. }));
    }
    assert!(
        world.coordinator.asked() < 5,
        "asked {} times",
        world.coordinator.asked()
    );
    world.routes(1, &["orders:0"]);
    wait_until_async(LIMIT, || async {
        producer.publish("k", [("n", "1")]).await.is_ok()
    })
    .await
    .expect("publishing begins with the coordinator");
}

#[tokio::test]
async fn a_new_layout_is_taken_over_in_the_background() {
    let mut world = World::of(&["orders:0"]).await;
    let producer = world
        .builder()
        .refresh_interval(Duration::from_millis(20))
        .build()
        .expect("settings that work");
    producer
        .publish("k", [("n", "1")])
        .await
        .expect("is published");
    world.create("new:0").await;
    world.routes(2, &["new:0"]);
    wait_until_async(LIMIT, || async {
        producer
            .publish("k", [("n", "1")])
            .await
            .is_ok_and(|published| published.stream_key == "new:0")
    })
    .await
    .expect("the new layout is used");
    assert_eq!(producer.counters().stale_routes, 0);
}
