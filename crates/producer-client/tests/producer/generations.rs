//! Generations of a shard and of its route: the same, a later one, an earlier one (C43).

use producer_client::{PublishError, ShardProblem};
use testkit::wait_until;

use crate::world::{LIMIT, World, record};

fn told(error: PublishError) -> ShardProblem {
    assert!(!error.may_have_been_added());
    match error {
        PublishError::ShardUnusable { problem, .. } => problem,
        other => panic!("no problem of a shard: {other:?}"),
    }
}

#[tokio::test]
async fn c43_a_shard_made_anew_is_followed_into_its_next_generation() {
    let (mut world, lives) = World::living(&["orders:0"]).await;
    let producer = world.producer();
    let outcome = producer.publish_exact(&record(1, "k")).await;
    outcome.expect("is published");
    world.renew("orders:0", &lives[0]).await;
    world.routes_in(2, &[("orders:0", Some(2))]);
    let outcome = producer.publish_exact(&record(2, "k")).await;
    outcome.expect("C43: is published into the next generation");
    assert_eq!(world.length("orders:0").await, 1);
    assert_eq!(world.coordinator.asked(), 2);
    let counters = producer.counters();
    assert_eq!((counters.stale_routes, counters.other_generations), (1, 1));
}

#[tokio::test]
async fn c43_where_no_generation_is_told_the_living_one_is_taken() {
    let (mut world, lives) = World::living(&["orders:0"]).await;
    world.routes_in(1, &[("orders:0", None)]);
    let producer = world.producer();
    let outcome = producer.publish_exact(&record(1, "k")).await;
    outcome.expect("is published");
    let second = world.renew("orders:0", &lives[0]).await;
    world.renew("orders:0", &second).await;
    let outcome = producer.publish_exact(&record(2, "k")).await;
    outcome.expect("C43: is published into the third generation");
    assert_eq!(world.length("orders:0").await, 1);
}

#[tokio::test]
async fn c43_a_thousand_exact_producers_with_an_old_route_ask_once() {
    let (mut world, lives) = World::living(&["orders:0"]).await;
    let producer = world
        .builder()
        .max_in_flight(1_000)
        .build()
        .expect("settings that work");
    let outcome = producer.publish_exact(&record(0, "k")).await;
    outcome.expect("is published");
    world.renew("orders:0", &lives[0]).await;
    world.routes_in(2, &[("orders:0", Some(2))]);
    world.coordinator.hold();
    let publishing: Vec<_> = (0..1_000)
        .map(|n| {
            let producer = producer.clone();
            tokio::spawn(async move { producer.publish_exact(&record(n, "k")).await })
        })
        .collect();
    wait_until(LIMIT, || producer.counters().stale_routes == 1_000)
        .await
        .expect("C43: all of them miss");
    assert_eq!(world.length("orders:0").await, 0, "nothing was let in");
    world.coordinator.release();
    for outcome in publishing {
        let outcome = outcome.await.expect("no panic");
        outcome.expect("C43: is published into the next generation");
    }
    assert_eq!(
        world.coordinator.asked(),
        2,
        "C43: once at first, once for all misses"
    );
    assert_eq!(world.length("orders:0").await, 1_000);
}

#[tokio::test]
async fn a_generation_ahead_of_the_routing_waits_for_the_coordinator() {
    let (mut world, lives) = World::living(&["orders:0"]).await;
    world.renew("orders:0", &lives[0]).await;
    let producer = world.producer();
    let error = producer
        .publish_exact(&record(1, "k"))
        .await
        .expect_err("the routing tells another generation");
    let ahead = ShardProblem::AheadOfRouting { told: 1, found: 2 };
    assert_eq!(told(error), ahead);
    assert_eq!(world.coordinator.asked(), 2, "asked anew before it is told");
    assert_eq!(world.length("orders:0").await, 0);
    world.routes_in(2, &[("orders:0", Some(2))]);
    let outcome = producer.publish_exact(&record(1, "k")).await;
    outcome.expect("is published once the coordinator has caught up");
    assert_eq!(world.coordinator.asked(), 3);
}

#[tokio::test]
async fn a_generation_behind_the_routing_is_never_published_to() {
    let (mut world, _lives) = World::living(&["orders:0"]).await;
    world.routes_in(2, &[("orders:0", Some(2))]);
    let producer = world.producer();
    for asked in [2, 3] {
        let error = producer
            .publish_exact(&record(1, "k"))
            .await
            .expect_err("Redis lost writes");
        assert!(error.to_string().contains("Redis lost writes"), "{error}");
        let lost = ShardProblem::WritesLost {
            expected: 2,
            found: 1,
        };
        assert_eq!(told(error), lost);
        assert_eq!(world.coordinator.asked(), asked);
    }
    assert_eq!(world.length("orders:0").await, 0);
    assert_eq!(producer.counters().writes_lost, 4);
}

#[tokio::test]
async fn a_shard_that_went_back_under_a_handle_is_never_published_to() {
    for routed in [Some(2), None] {
        let (mut world, lives) = World::living(&["orders:0"]).await;
        world.renew("orders:0", &lives[0]).await;
        world.routes_in(2, &[("orders:0", routed)]);
        let producer = world.producer();
        let outcome = producer.publish_exact(&record(1, "k")).await;
        outcome.expect("is published");
        world.flush().await;
        world.bear("orders:0").await;
        let error = producer
            .publish_exact(&record(2, "k"))
            .await
            .expect_err("Redis lost writes");
        let lost = ShardProblem::WritesLost {
            expected: 2,
            found: 1,
        };
        assert_eq!(told(error), lost, "{routed:?}");
        assert_eq!(world.coordinator.asked(), 2);
        assert_eq!(world.length("orders:0").await, 0);
    }
}

#[tokio::test]
async fn a_lifecycle_that_was_lost_is_told_and_nothing_is_made() {
    let (mut world, _lives) = World::living(&["orders:0"]).await;
    let producer = world.producer();
    let outcome = producer.publish_exact(&record(1, "k")).await;
    outcome.expect("is published");
    world.flush().await;
    let error = producer
        .publish_exact(&record(2, "k"))
        .await
        .expect_err("everything is gone");
    assert_eq!(told(error), ShardProblem::NoLifecycle);
    assert!(!world.exists("orders:0").await && !world.exists("{orders:0}:lc").await);
}
