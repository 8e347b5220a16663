//! Publishing through the life of a shard: what it takes, and what a shard that takes nothing comes to.

use std::error::Error;

use producer_client::{PublishError, Record, ShardProblem};
use protocol::ErrorCode;
use stream_lifecycle::{GroupName, Retention, ShardAdmin, ShardConsumer, Trim};

use crate::coordinator::Answer;
use crate::lives::{creation, record_for};
use crate::world::{World, record};

fn problem(error: &PublishError) -> &ShardProblem {
    match error {
        PublishError::ShardUnusable { problem, .. } | PublishError::ShardStale { problem, .. } => {
            problem
        }
        other => panic!("no problem of a shard: {other:?}"),
    }
}

#[tokio::test]
async fn records_go_to_the_shard_of_their_key_and_are_told_where_they_are() {
    let (mut world, _lives) = World::living(&["orders:0", "orders:1"]).await;
    let producer = world.producer();
    for shard in [0, 1, 0] {
        let published = producer
            .publish_exact(&record_for(shard, 2, 7))
            .await
            .expect("is published");
        assert_eq!(published.stream_key, format!("orders:{shard}"));
        assert_eq!(published.shard.shard_index, shard);
        let there = world.records(&published.stream_key).await;
        assert_eq!(there.last().map(|(id, _, _)| id), Some(&published.id));
    }
    let counters = producer.counters();
    assert_eq!(
        (counters.published, counters.failures, counters.refreshes),
        (3, 0, 1)
    );
}

#[tokio::test]
async fn the_shard_keeps_the_length_it_was_made_with() {
    let mut world = World::of(&[]).await;
    let retention = Retention::forever().trim(Trim::Exact(2)).expect("a length");
    let shard = world.shard("orders:0");
    let made = shard.create(&creation().retention(retention)).await;
    made.expect("is made");
    world.routes_in(1, &[("orders:0", Some(1))]);
    let producer = world.producer();
    for n in 0..5 {
        let outcome = producer.publish_exact(&record(n, "k")).await;
        outcome.expect("is published");
    }
    assert_eq!(world.length("orders:0").await, 2);
}

#[tokio::test]
async fn what_breaks_a_limit_is_not_sent() {
    let (mut world, _lives) = World::living(&["orders:0"]).await;
    let producer = world.producer();
    let error = producer.publish_exact(&Record::new("k")).await;
    assert!(matches!(error, Err(PublishError::NoFields)), "{error:?}");
    let wide = (0..1_001).fold(Record::new("k"), |record, n| {
        record.field(n.to_string(), "v")
    });
    let error = producer.publish_exact(&wide).await.expect_err("too wide");
    assert_eq!(
        error.to_string(),
        "fields: there are 1001, at most 1000 are allowed"
    );
    assert!(!error.is_retryable() && !error.may_have_been_added());
    assert_eq!(world.length("orders:0").await, 0);
    assert_eq!(producer.counters().failures, 2);
}

#[tokio::test]
async fn a_sealed_shard_is_left_for_the_one_that_fresh_routing_tells() {
    let (mut world, lives) = World::living(&["orders:0", "orders:1"]).await;
    let producer = world.producer();
    let record = record_for(1, 2, 1);
    producer.publish_exact(&record).await.expect("is published");
    lives[1].seal().await.expect("is sealed");
    world.routes_in(2, &[("orders:0", Some(1))]);
    let published = producer
        .publish_exact(&record)
        .await
        .expect("C43: is published elsewhere");
    assert_eq!(published.stream_key, "orders:0");
    assert_eq!(world.length("orders:1").await, 1, "C47: nothing more");
    let counters = producer.counters();
    assert_eq!(
        (counters.sealed, counters.stale_routes, counters.refreshes),
        (1, 1, 2)
    );
}

#[tokio::test]
async fn a_shard_that_stays_sealed_is_told_after_one_question() {
    let (mut world, lives) = World::living(&["orders:0"]).await;
    let producer = world.producer();
    lives[0].seal().await.expect("is sealed");
    let error = producer
        .publish_exact(&record(1, "k"))
        .await
        .expect_err("it is sealed");
    assert_eq!(
        error.to_string(),
        "shard 0 at orders:0 took nothing as of version 1 of the routing: it is sealed; publish again once the routing has changed"
    );
    assert!(error.is_retryable() && !error.may_have_been_added());
    assert_eq!(world.coordinator.asked(), 2);
    assert_eq!(world.length("orders:0").await, 0);
    lives[0].unseal().await.expect("is unsealed");
    let outcome = producer.publish_exact(&record(1, "k")).await;
    outcome.expect("is published");
}

#[tokio::test]
async fn a_lost_stream_is_told_and_not_made_by_the_producer() {
    let (mut world, lives) = World::living(&["orders:0"]).await;
    let producer = world.producer();
    let outcome = producer.publish_exact(&record(1, "k")).await;
    outcome.expect("is published");
    world.delete("orders:0").await;
    let error = producer
        .publish_exact(&record(2, "k"))
        .await
        .expect_err("C01: the stream is gone");
    assert_eq!(problem(&error), &ShardProblem::StreamLost);
    assert!(error.is_retryable() && !error.may_have_been_added());
    assert_eq!(world.coordinator.asked(), 2);
    assert!(!world.exists("orders:0").await, "C43: never created");
    assert_eq!(producer.counters().streams_lost, 2);
    let group = GroupName::new("orders").expect("a name");
    lives[0].ensure_group(&group).await.expect("is restored");
    let outcome = producer.publish_exact(&record(3, "k")).await;
    outcome.expect("is published again");
}

#[tokio::test]
async fn a_stream_without_a_lifecycle_is_for_plain_publishing() {
    let mut world = World::of(&["orders:0"]).await;
    let producer = world.producer();
    let error = producer
        .publish_exact(&record(1, "k"))
        .await
        .expect_err("nobody made the shard");
    assert_eq!(problem(&error), &ShardProblem::NoLifecycle);
    assert!(error.to_string().contains("use plain `publish`"), "{error}");
    assert_eq!(world.length("orders:0").await, 0);
    let outcome = producer.publish("k", [("n", "1")]).await;
    outcome.expect("is published");
}

#[tokio::test]
async fn without_the_coordinator_a_shard_that_takes_nothing_is_told_with_the_reason() {
    let (world, lives) = World::living(&["orders:0"]).await;
    let producer = world.producer();
    let outcome = producer.publish_exact(&record(1, "k")).await;
    outcome.expect("is published");
    lives[0].destroy().await.expect("is destroyed");
    let refusal = Answer::Refusal(ErrorCode::StoreUnavailable);
    world.coordinator.answer(refusal);
    let error = producer
        .publish_exact(&record(2, "k"))
        .await
        .expect_err("nothing newer is known");
    assert!(matches!(error, PublishError::ShardStale { .. }));
    assert_eq!(problem(&error), &ShardProblem::Over { generation: 1 });
    let reason = error.source().expect("a reason").to_string();
    assert_eq!(reason, "the coordinator gave no routing");
    assert!(error.is_retryable() && !error.may_have_been_added());
}

#[tokio::test]
async fn a_group_that_is_gone_ends_exact_publishing() {
    let (world, lives) = World::living(&["orders:0"]).await;
    let producer = world.producer();
    let outcome = producer.publish_exact(&record(1, "k")).await;
    outcome.expect("is published");
    lives[0].destroy().await.expect("is destroyed");
    world
        .coordinator
        .answer(Answer::Refusal(ErrorCode::GroupNotFound));
    let error = producer.publish_exact(&record(2, "k")).await;
    assert!(
        matches!(error, Err(PublishError::NoGroup { .. })),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_closed_producer_takes_nothing() {
    let (world, _lives) = World::living(&["orders:0"]).await;
    let producer = world.producer();
    producer.close().await;
    let error = producer.publish_once("e-1", &record(1, "k")).await;
    assert!(matches!(error, Err(PublishError::Closed)), "{error:?}");
}
