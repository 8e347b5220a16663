//! C46: an event is published once, whoever repeats it, and the repetition is told the original id.

use std::time::Duration;

use producer_client::{Producer, PublishError, PublishedOnce};
use stream_lifecycle::ShardAdmin;
use testkit::{TcpProxy, wait_until};

use crate::lives::record_for;
use crate::world::{LIMIT, World, record};

/// A producer with a handle on the shard, behind a proxy.
async fn behind_a_proxy(world: &World) -> (TcpProxy, Producer) {
    let proxy = TcpProxy::start(world.redis.address())
        .await
        .expect("a proxy");
    let producer = world
        .builder_at(&format!("redis://{}", proxy.address()))
        .response_timeout(Duration::from_millis(300))
        .build()
        .expect("settings that work");
    let outcome = producer.publish_once("first", &record(0, "k")).await;
    outcome.expect("is published");
    (proxy, producer)
}

#[tokio::test]
async fn c46_a_repeated_event_is_told_the_original_id_by_any_producer() {
    let (mut world, _lives) = World::living(&["orders:0"]).await;
    let (first, second) = (world.producer(), world.producer());
    let once = first.publish_once("e-1", &record(1, "k")).await;
    let once = once.expect("is published");
    let PublishedOnce::Added(original) = once else {
        panic!("C46: it is new: {once:?}");
    };
    for producer in [&first, &second] {
        let again = producer.publish_once("e-1", &record(1, "k")).await;
        let again = again.expect("C46: is known");
        assert_eq!(again, PublishedOnce::Duplicate(original.clone()));
        assert_eq!(producer.counters().duplicates, 1);
    }
    let there = world.records("orders:0").await;
    assert_eq!(there, vec![(original.id, "k".to_owned(), 1)], "C46: once");
    assert_eq!(first.counters().published, 1);
    assert_eq!(second.counters().published, 0);
}

#[tokio::test]
async fn c46_after_a_lost_answer_the_event_is_there_once_and_its_original_id_is_told() {
    let (mut world, _lives) = World::living(&["orders:0"]).await;
    let (proxy, producer) = behind_a_proxy(&world).await;
    proxy.drop_replies(1);
    let once = producer.publish_once("e-1", &record(1, "k")).await;
    let once = once.expect("C46: is repeated by itself");
    assert!(matches!(once, PublishedOnce::Duplicate(_)), "{once:?}");
    let there = world.records("orders:0").await;
    let ids: Vec<_> = there.iter().filter(|(_, _, n)| *n == 1).collect();
    assert_eq!(ids.len(), 1, "C46: the entry is there once");
    assert_eq!(ids[0].0, once.published().id);
    let counters = producer.counters();
    assert_eq!(
        (counters.repeats, counters.ambiguous, counters.failures),
        (1, 0, 0)
    );
}

#[tokio::test]
async fn c46_without_any_answer_it_ends_as_unknown_and_may_be_repeated() {
    let (mut world, _lives) = World::living(&["orders:0"]).await;
    let (proxy, producer) = behind_a_proxy(&world).await;
    proxy.drop_replies(usize::MAX);
    let error = producer
        .publish_once("e-1", &record(1, "k"))
        .await
        .expect_err("no answer comes");
    assert!(error.may_have_been_added(), "{error:?}");
    assert_eq!(producer.counters().repeats, 3, "a bounded number of times");
    proxy.heal().await.expect("forwards again");
    let once = producer.publish_once("e-1", &record(1, "k")).await;
    assert!(
        matches!(once, Ok(PublishedOnce::Duplicate(_))),
        "C46: {once:?}"
    );
    assert_eq!(world.length("orders:0").await, 2);
}

#[tokio::test]
async fn c46_an_event_without_an_answer_is_never_taken_to_another_shard() {
    let (mut world, lives) = World::living(&["orders:0", "orders:1"]).await;
    let (proxy, producer) = behind_a_proxy(&world).await;
    let record = record_for(1, 2, 1);
    let outcome = producer.publish_once("warm", &record).await;
    outcome.expect("is published");
    proxy.stall();
    let publishing = {
        let (producer, record) = (producer.clone(), record.clone());
        tokio::spawn(async move { producer.publish_once("e-1", &record).await })
    };
    wait_until(LIMIT, || producer.counters().repeats == 1)
        .await
        .expect("no answer comes");
    lives[1].destroy().await.expect("is destroyed");
    world.routes_in(2, &[("orders:0", Some(1))]);
    let before = world.length("orders:0").await;
    proxy.heal().await.expect("forwards again");
    let error = publishing
        .await
        .expect("no panic")
        .expect_err("C46: what the lost shard took is not known");
    assert!(error.may_have_been_added(), "{error:?}");
    assert_eq!(world.coordinator.asked(), 1);
    assert_eq!(world.length("orders:0").await, before);
}

#[tokio::test]
async fn c46_an_event_id_with_other_fields_is_refused() {
    let (mut world, _lives) = World::living(&["orders:0"]).await;
    let producer = world.producer();
    let once = producer.publish_once("e-1", &record(1, "k")).await;
    let original = once.expect("is published").into_published();
    let error = producer
        .publish_once("e-1", &record(2, "k"))
        .await
        .expect_err("C46: the id is taken");
    assert!(
        matches!(&error, PublishError::EventIdTaken { original: id, .. } if *id == original.id),
        "{error:?}"
    );
    assert!(!error.is_retryable() && !error.may_have_been_added());
    assert_eq!(world.length("orders:0").await, 1);
}

#[tokio::test]
async fn event_ids_that_cannot_work_are_not_sent() {
    let (mut world, _lives) = World::living(&["orders:0"]).await;
    let producer = world.producer();
    for id in [String::new(), "x".repeat(513), "a\nb".to_owned()] {
        let error = producer.publish_once(&id, &record(1, "k")).await;
        assert!(
            matches!(error, Err(PublishError::Invalid(_))),
            "{id:?}: {error:?}"
        );
    }
    assert_eq!(world.length("orders:0").await, 0);
}

/// What the documentation warns of: each shard, and each generation of it, remembers its own events.
#[tokio::test]
async fn an_event_id_is_known_to_one_generation_of_one_shard() {
    let (mut world, lives) = World::living(&["orders:0", "orders:1"]).await;
    let producer = world.producer();
    for shard in [0, 1] {
        let once = producer.publish_once("e-1", &record_for(shard, 2, 1)).await;
        assert!(matches!(once, Ok(PublishedOnce::Added(_))), "{once:?}");
    }
    world.renew("orders:0", &lives[0]).await;
    world.routes_in(2, &[("orders:0", Some(2)), ("orders:1", Some(1))]);
    let once = producer.publish_once("e-1", &record_for(0, 2, 1)).await;
    assert!(matches!(once, Ok(PublishedOnce::Added(_))), "{once:?}");
    assert_eq!(world.length("orders:0").await, 1);
}
