//! The plain way: keys find their shards, streams keep their length, and an end is an end.

use producer_client::{MaxLen, PublishError, Record};
use testkit::wait_until;

use crate::coordinator::{Answer, routing};
use crate::world::{LIMIT, World, record};

#[tokio::test]
async fn every_key_goes_to_its_shard_and_is_told_where_it_is() {
    let streams = ["orders:0", "orders:1", "orders:2"];
    let mut world = World::of(&streams).await;
    let producer = world.producer();
    for n in 0..60 {
        let key = format!("customer-{n}");
        let published = producer
            .publish(&key, [("key", key.as_str()), ("n", "1")])
            .await
            .expect("is published");
        let stream = &published.stream_key;
        assert_eq!(*stream, format!("orders:{}", published.shard));
        let there = world.records(stream).await;
        assert_eq!(there.last(), Some(&(published.id, key, 1)));
    }
    for stream in streams {
        assert!(world.length(stream).await > 5, "{stream} got its share");
    }
    let counters = producer.counters();
    assert_eq!(
        (counters.published, counters.failures, counters.refreshes),
        (60, 0, 1)
    );
}

#[tokio::test]
async fn one_key_always_goes_to_one_shard() {
    let world = World::of(&["orders:0", "orders:1", "orders:2", "orders:3"]).await;
    let producer = world.producer();
    let first = producer
        .publish("k", [("n", "1")])
        .await
        .expect("is published")
        .shard;
    for _ in 0..20 {
        assert_eq!(
            producer
                .publish("k", [("n", "1")])
                .await
                .expect("is published")
                .shard,
            first
        );
    }
}

#[tokio::test]
async fn streams_are_trimmed_as_set() {
    let mut world = World::of(&["orders:0"]).await;
    let exact = world
        .builder()
        .max_len(MaxLen::Exact(5))
        .build()
        .expect("settings that work");
    let about = world
        .builder()
        .max_len(MaxLen::Approximate(5))
        .build()
        .expect("settings that work");
    for n in 0..300 {
        let fields = record(n, "k").fields().to_vec();
        about.publish("k", fields).await.expect("is published");
    }
    let length = world.length("orders:0").await;
    assert!((5..300).contains(&length), "{length}");
    exact
        .publish("k", [("n", "1")])
        .await
        .expect("is published");
    assert_eq!(world.length("orders:0").await, 5);
}

#[tokio::test]
async fn a_record_without_fields_is_refused_before_anything_is_sent() {
    let mut world = World::of(&["orders:0"]).await;
    let producer = world.producer();
    let error = producer
        .publish("k", Vec::<(&str, &str)>::new())
        .await
        .expect_err("is refused");
    assert!(matches!(error, PublishError::NoFields));
    let outcomes = producer
        .publish_batch(&[Record::new("k"), record(1, "k"), record(2, "l")])
        .await;
    assert!(matches!(
        outcomes.as_slice(),
        [
            Err(PublishError::NoFields),
            Err(PublishError::NotAttempted),
            Ok(_)
        ]
    ));
    assert_eq!(world.length("orders:0").await, 1);
}

#[tokio::test]
async fn a_stream_without_shards_takes_nothing() {
    let world = World::of(&[]).await;
    let producer = world.producer();
    let error = producer
        .publish("k", [("n", "1")])
        .await
        .expect_err("nowhere to go");
    assert_eq!(
        error.to_string(),
        "the stream has no shards as of version 1"
    );
    assert!(error.is_retryable());
    let outcomes = producer.publish_batch(&[record(1, "k")]).await;
    assert!(matches!(
        outcomes.as_slice(),
        [Err(PublishError::NoShards(_))]
    ));
}

#[tokio::test]
async fn routing_of_another_group_is_not_used() {
    let world = World::of(&["orders:0"]).await;
    let mut other = routing(1, &["orders:0"]);
    other.consumer_group = "billing".to_owned();
    world.coordinator.answer(Answer::Routing(other));
    let error = world
        .producer()
        .publish("k", [("n", "1")])
        .await
        .expect_err("no usable routing");
    let PublishError::NoRouting { source } = &error else {
        panic!("{error:?}")
    };
    let cause = std::error::Error::source(source.as_ref())
        .expect("a cause")
        .to_string();
    assert_eq!(
        cause,
        "asked for orders/orders, was told about orders/billing"
    );
}

#[tokio::test]
async fn a_closed_producer_takes_nothing_and_asks_nothing() {
    let mut world = World::of(&["orders:0"]).await;
    let producer = world
        .builder()
        .refresh_interval(LIMIT / 2_000)
        .build()
        .expect("settings that work");
    producer
        .publish("k", [("n", "1")])
        .await
        .expect("is published");
    wait_until(LIMIT, || world.coordinator.asked() > 3)
        .await
        .expect("is asked again and again");
    producer.close().await;
    producer.close().await;
    let error = producer
        .publish("k", [("n", "1")])
        .await
        .expect_err("is closed");
    assert!(matches!(error, PublishError::Closed) && !error.is_retryable());
    let outcomes = producer.clone().publish_batch(&[record(1, "k")]).await;
    assert!(matches!(outcomes.as_slice(), [Err(PublishError::Closed)]));
    assert_eq!(world.length("orders:0").await, 1);
    assert_no_more_questions(&world).await;
}

#[tokio::test]
async fn a_dropped_producer_asks_nothing() {
    let world = World::of(&["orders:0"]).await;
    let producer = world
        .builder()
        .refresh_interval(LIMIT / 2_000)
        .build()
        .expect("settings that work");
    let clone = producer.clone();
    drop(producer);
    wait_until(LIMIT, || world.coordinator.asked() > 3)
        .await
        .expect("a clone keeps it alive");
    drop(clone);
    assert_no_more_questions(&world).await;
}

/// A question that was on its way may still arrive; after that the count stands still.
async fn assert_no_more_questions(world: &World) {
    let mut seen = world.coordinator.asked();
    for quiet in 0.. {
        // waits: ten times the interval at which questions came before
        tokio::time::sleep(LIMIT / 200).await;
        let now = world.coordinator.asked();
        if now == seen {
            return;
        }
        assert!(quiet < 3, "still asked: {now} times");
        seen = now;
    }
}

#[tokio::test]
async fn closing_waits_for_what_is_on_its_way() {
    let mut world = World::of(&["orders:0"]).await;
    let producer = world.producer();
    producer
        .publish("k", [("n", "0")])
        .await
        .expect("is published");
    let publishing: Vec<_> = (0..200)
        .map(|_| {
            let producer = producer.clone();
            tokio::spawn(async move { producer.publish("k", [("n", "1")]).await })
        })
        .collect();
    wait_until(LIMIT, || producer.counters().published > 1)
        .await
        .expect("some are on their way");
    producer.close().await;
    let mut published = 1;
    for outcome in publishing {
        match outcome.await.expect("no panic") {
            Ok(_) => published += 1,
            Err(error) => assert!(matches!(error, PublishError::Closed), "{error:?}"),
        }
    }
    assert_eq!(world.length("orders:0").await, published);
}
