//! The answer is lost after the record was sent: it is told that the record may be there, and nothing is sent again.

use std::time::{Duration, Instant};

use producer_client::{Producer, PublishError};
use testkit::{TcpProxy, wait_until_async};

use crate::world::{LIMIT, World, record};

async fn through_a_proxy(world: &World) -> (TcpProxy, Producer) {
    let proxy = TcpProxy::start(world.redis.address())
        .await
        .expect("a proxy");
    let url = format!("redis://{}", proxy.address());
    let producer = world
        .builder_at(&url)
        .response_timeout(Duration::from_millis(500))
        .build()
        .expect("settings that work");
    producer
        .publish("k", [("key", "k"), ("n", "0")])
        .await
        .expect("is published");
    (proxy, producer)
}

#[tokio::test]
async fn a_lost_answer_is_told_and_not_repeated() {
    let mut world = World::of(&["orders:0"]).await;
    let (proxy, producer) = through_a_proxy(&world).await;
    proxy.drop_replies(1);
    let error = producer
        .publish("k", [("key", "k"), ("n", "1")])
        .await
        .expect_err("no answer");
    assert!(matches!(error, PublishError::Ambiguous { .. }), "{error:?}");
    assert!(error.may_have_been_added());
    assert_eq!(
        world.length("orders:0").await,
        2,
        "it was added indeed, and only once"
    );
    producer
        .publish("k", [("key", "k"), ("n", "2")])
        .await
        .expect("over another connection");
    assert_eq!(producer.counters().ambiguous, 1);
}

#[tokio::test]
async fn a_lost_answer_to_a_batch_leaves_its_shard_unknown_and_holds_the_rest_of_its_keys_back() {
    let mut world = World::of(&["orders:0"]).await;
    let proxy = TcpProxy::start(world.redis.address())
        .await
        .expect("a proxy");
    let url = format!("redis://{}", proxy.address());
    let producer = world
        .builder_at(&url)
        .max_in_flight(2)
        .build()
        .expect("settings that work");
    producer
        .publish("k", [("key", "k"), ("n", "0")])
        .await
        .expect("is published");
    proxy.drop_replies(1);
    let records = [
        record(1, "k"),
        record(2, "k"),
        record(3, "k"),
        record(4, "l"),
    ];
    let outcomes = producer.publish_batch(&records).await;
    assert!(
        matches!(
            outcomes.as_slice(),
            [
                Err(PublishError::Ambiguous { .. }),
                Err(PublishError::Ambiguous { .. }),
                Err(PublishError::NotAttempted),
                Ok(_)
            ]
        ),
        "{outcomes:?}"
    );
    assert_eq!(world.assert_ordered(&["orders:0"]).await, 4);
}

#[tokio::test]
async fn silence_ends_in_time() {
    let mut world = World::of(&["orders:0"]).await;
    let (proxy, producer) = through_a_proxy(&world).await;
    proxy.stall();
    let begun = Instant::now();
    let error = producer
        .publish("k", [("key", "k"), ("n", "1")])
        .await
        .expect_err("no answer");
    assert!(matches!(error, PublishError::Ambiguous { .. }), "{error:?}");
    assert!(begun.elapsed() >= Duration::from_millis(500));
    proxy.heal().await.expect("forwards again");
    producer
        .publish("k", [("key", "k"), ("n", "2")])
        .await
        .expect("over another connection");
    let stalled_or_not = world.length("orders:0").await;
    assert!((2..=3).contains(&stalled_or_not), "{stalled_or_not}");
}

#[tokio::test]
async fn a_connection_that_broke_while_idle_costs_nothing() {
    let world = World::of(&["orders:0"]).await;
    let (proxy, producer) = through_a_proxy(&world).await;
    for n in 0..5 {
        let connections = producer.counters();
        proxy.cut();
        // The driver is told of the end by the system; only then is the connection known to be idle and broken.
        wait_until_async(LIMIT, || async { connection_is_gone(&world).await })
            .await
            .expect("the cut arrives");
        producer
            .publish("k", [("key", "k"), ("n", &n.to_string())])
            .await
            .expect("over a new connection");
        assert_eq!(producer.counters().published, connections.published + 1);
    }
    assert_eq!(producer.counters().failures, 0);
}

#[tokio::test]
async fn many_that_wait_for_a_connection_share_its_failure() {
    let world = World::of(&["orders:0"]).await;
    let proxy = TcpProxy::start(world.redis.address())
        .await
        .expect("a proxy");
    proxy.stall();
    let limit = Duration::from_millis(300);
    let producer = world
        .builder_at(&format!("redis://{}", proxy.address()))
        .connect_timeout(limit)
        .build()
        .expect("settings that work");
    let begun = Instant::now();
    let publishing: Vec<_> = (0..300)
        .map(|_| {
            let producer = producer.clone();
            tokio::spawn(async move { producer.publish("k", [("n", "1")]).await })
        })
        .collect();
    for outcome in publishing {
        let error = outcome.await.expect("no panic").expect_err("no connection");
        assert!(
            matches!(error, PublishError::Unreachable { .. }),
            "{error:?}"
        );
        assert!(!error.may_have_been_added());
    }
    assert!(
        begun.elapsed() < limit * 30,
        "not one after the other: {:?}",
        begun.elapsed()
    );
}

/// Only the test's own connection is left.
pub(crate) async fn connection_is_gone(world: &World) -> bool {
    let mut connection = world.connection.clone();
    let list: String = redis::cmd("CLIENT")
        .arg("LIST")
        .query_async(&mut connection)
        .await
        .expect("answers");
    list.lines().count() == 1
}
