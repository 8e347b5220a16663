//! Redis is full, away or silent while records are published exactly: repeated as long as that is safe, and told.

use std::time::Duration;

use producer_client::PublishError;
use testkit::{TcpProxy, wait_until, wait_until_async};

use crate::ambiguous::connection_is_gone;
use crate::world::{LIMIT, World, record};

#[tokio::test]
async fn c09_a_full_redis_is_asked_again_and_told_with_nothing_added() {
    let (mut world, _lives) = World::living(&["orders:0"]).await;
    let producer = world.producer();
    world
        .run(redis::cmd("CONFIG").arg(&["SET", "maxmemory", "1"]))
        .await;
    let error = producer
        .publish_exact(&record(1, "k"))
        .await
        .expect_err("Redis is full");
    assert!(
        matches!(error, PublishError::OutOfMemory { .. }),
        "C09: {error:?}"
    );
    assert!(error.is_retryable() && !error.may_have_been_added());
    assert_eq!(producer.counters().repeats, 3);
    assert_eq!(world.coordinator.asked(), 1, "no sign of a stale route");
    assert_eq!(world.length("orders:0").await, 0);
}

#[tokio::test]
async fn c08_what_passes_while_it_is_repeated_is_not_noticed() {
    let (mut world, _lives) = World::living(&["orders:0"]).await;
    let producer = world.producer();
    world
        .run(redis::cmd("CONFIG").arg(&["SET", "maxmemory", "1"]))
        .await;
    let publishing = {
        let producer = producer.clone();
        tokio::spawn(async move { producer.publish_exact(&record(1, "k")).await })
    };
    wait_until(LIMIT, || producer.counters().repeats > 0)
        .await
        .expect("is repeated");
    world
        .run(redis::cmd("CONFIG").arg(&["SET", "maxmemory", "0"]))
        .await;
    let outcome = publishing.await.expect("no panic");
    outcome.expect("C08: is published at last");
    assert_eq!(world.length("orders:0").await, 1);
    assert_eq!(producer.counters().failures, 0);
}

#[tokio::test]
async fn a_lost_answer_to_an_exact_publication_is_told_and_not_repeated() {
    let (mut world, _lives) = World::living(&["orders:0"]).await;
    let proxy = TcpProxy::start(world.redis.address())
        .await
        .expect("a proxy");
    let url = format!("redis://{}", proxy.address());
    let producer = world.builder_at(&url).build().expect("settings that work");
    let outcome = producer.publish_exact(&record(0, "k")).await;
    outcome.expect("is published");
    proxy.drop_replies(1);
    let error = producer
        .publish_exact(&record(1, "k"))
        .await
        .expect_err("no answer");
    assert!(
        matches!(&error, PublishError::Ambiguous { address, .. } if *address == proxy.address()),
        "{error:?}"
    );
    assert!(error.may_have_been_added());
    assert_eq!(
        world.length("orders:0").await,
        2,
        "it was added indeed, and only once"
    );
    let counters = producer.counters();
    assert_eq!((counters.repeats, counters.ambiguous), (0, 1));
}

#[tokio::test]
async fn a_lost_answer_to_the_opening_is_no_doubt_about_the_record() {
    let (mut world, _lives) = World::living(&["orders:0"]).await;
    let proxy = TcpProxy::start(world.redis.address())
        .await
        .expect("a proxy");
    let url = format!("redis://{}", proxy.address());
    let producer = world.builder_at(&url).build().expect("settings that work");
    // The first publication is plain: it opens the connection, and no handle.
    let outcome = producer.publish("k", [("key", "k"), ("n", "0")]).await;
    outcome.expect("is published");
    proxy.drop_replies(1);
    let outcome = producer.publish_exact(&record(1, "k")).await;
    outcome.expect("the shard is opened again and the record published once");
    assert_eq!(world.length("orders:0").await, 2);
}

#[tokio::test]
async fn many_without_a_connection_share_its_failure_and_know_that_nothing_was_added() {
    let (mut world, _lives) = World::living(&["orders:0"]).await;
    let proxy = TcpProxy::start(world.redis.address())
        .await
        .expect("a proxy");
    proxy.refuse().await;
    let producer = world
        .builder_at(&format!("redis://{}", proxy.address()))
        .connect_timeout(Duration::from_millis(300))
        .build()
        .expect("settings that work");
    let publishing: Vec<_> = (0..300)
        .map(|n| {
            let producer = producer.clone();
            tokio::spawn(async move { producer.publish_exact(&record(n, "k")).await })
        })
        .collect();
    for outcome in publishing {
        let error = outcome.await.expect("no panic").expect_err("no connection");
        assert!(
            matches!(error, PublishError::Unreachable { .. }),
            "{error:?}"
        );
        assert!(error.is_retryable() && !error.may_have_been_added());
    }
    proxy.heal().await.expect("accepts again");
    let outcome = producer.publish_exact(&record(1, "k")).await;
    outcome.expect("is published");
    assert_eq!(world.length("orders:0").await, 1);
}

#[tokio::test]
async fn a_connection_that_cannot_be_had_again_is_no_doubt_about_the_record() {
    let (mut world, _lives) = World::living(&["orders:0"]).await;
    let proxy = TcpProxy::start(world.redis.address())
        .await
        .expect("a proxy");
    let producer = world
        .builder_at(&format!("redis://{}", proxy.address()))
        .connect_timeout(Duration::from_millis(100))
        .build()
        .expect("settings that work");
    let outcome = producer.publish_exact(&record(0, "k")).await;
    outcome.expect("is published, and the handle bound");
    proxy.cut();
    wait_until_async(LIMIT, || async { connection_is_gone(&world).await })
        .await
        .expect("the cut arrives");
    proxy.stall();
    let error = producer
        .publish_exact(&record(1, "k"))
        .await
        .expect_err("no connection in time");
    assert!(
        matches!(error, PublishError::Unreachable { .. }),
        "{error:?}"
    );
    assert_eq!(producer.counters().repeats, 3);
    assert_eq!(world.length("orders:0").await, 1);
}

#[tokio::test]
async fn c07_scripts_that_redis_forgot_are_brought_again() {
    let (mut world, _lives) = World::living(&["orders:0"]).await;
    let producer = world.producer();
    for n in 0..3 {
        world.run(redis::cmd("SCRIPT").arg("FLUSH")).await;
        let outcome = producer.publish_exact(&record(n, "k")).await;
        outcome.expect("C07: is published");
    }
    assert_eq!(world.assert_ordered(&["orders:0"]).await, 3);
}
