//! Shards that are retired while records are on their way to them (C47): in a batch, and by many producers at once.

use std::collections::HashMap;

use producer_client::{Producer, ProducerBuilder};
use redis::aio::MultiplexedConnection;
use redis::streams::StreamReadReply;
use stream_lifecycle::{Draining, LifecycleError, ShardAdmin, StreamId};
use testkit::{TcpProxy, wait_until};

use crate::lives::Life;
use crate::world::{LIMIT, World, numbered, record};

const FOUR: [&str; 4] = ["orders:0", "orders:1", "orders:2", "orders:3"];
const GENERATIONS: [(&str, Option<u64>); 3] = [
    ("orders:0", Some(1)),
    ("orders:1", Some(1)),
    ("orders:2", Some(1)),
];

/// A producer whose answers take some milliseconds: so there are moments without a new record, in which a shard can be retired.
async fn unhurried(world: &World) -> (TcpProxy, ProducerBuilder) {
    let proxy = TcpProxy::start(world.redis.address())
        .await
        .expect("a proxy");
    proxy.delay(3);
    let builder = world.builder_at(&format!("redis://{}", proxy.address()));
    (proxy, builder)
}

/// Id, key and number of a record.
type Entry = (String, String, u64);

/// Handles what is in the stream as a consumer of its group does; gives what was there.
async fn handle_all(connection: &mut MultiplexedConnection, stream: &str) -> Vec<Entry> {
    let mut handled = Vec::new();
    loop {
        let mut read = redis::cmd("XREADGROUP");
        read.arg(&["GROUP", "orders", "c", "COUNT", "500", "STREAMS"]);
        let reply: Option<StreamReadReply> = read
            .arg(stream)
            .arg(">")
            .query_async(connection)
            .await
            .expect("the group is there");
        let Some(entries) = reply.and_then(|mut reply| reply.keys.pop()) else {
            return handled;
        };
        for entry in entries.ids {
            let mut ack = redis::cmd("XACK");
            ack.arg(stream).arg("orders").arg(&entry.id);
            ack.exec_async(connection).await.expect("is acknowledged");
            let (key, n) = (entry.get("key"), entry.get("n"));
            handled.push((entry.id, key.expect("a key"), n.expect("a number")));
        }
    }
}

/// Handles what is in the shard and removes it, again and again until nothing came in between.
async fn retire(life: &Life, connection: &mut MultiplexedConnection) -> Vec<Entry> {
    let mut handled = Vec::new();
    loop {
        handled.extend(handle_all(connection, "orders:3").await);
        match life.destroy_if_drained(&Draining::new()).await {
            Ok(_) => return handled,
            Err(LifecycleError::NotDrained { .. }) => {}
            Err(error) => panic!("cannot be retired: {error}"),
        }
    }
}

/// Checks that `count` records are there or were handled; gives them by their ids, which tell when they were added.
async fn all_there(world: &mut World, handled: Vec<Entry>, count: u64) -> Vec<Entry> {
    assert!(!world.exists("orders:3").await, "C47: never brought back");
    let mut all = handled;
    for stream in &FOUR[..3] {
        all.extend(world.records(stream).await);
    }
    let mut numbers: Vec<u64> = all.iter().map(|(_, _, n)| *n).collect();
    numbers.sort_unstable();
    let expected: Vec<u64> = (0..count).collect();
    assert_eq!(numbers, expected, "C47: nothing is lost or there twice");
    all.sort_by_key(|(id, _, _)| id.parse::<StreamId>().expect("an id"));
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c47_a_shard_retired_in_the_middle_of_a_batch_loses_nothing_and_keys_stay_in_order() {
    let (mut world, lives) = World::living(&FOUR).await;
    let (_proxy, builder) = unhurried(&world).await;
    let producer = builder
        .max_in_flight(20)
        .build()
        .expect("settings that work");
    let publishing = {
        let producer = producer.clone();
        tokio::spawn(async move { producer.publish_batch(&numbered(4_000, 40)).await })
    };
    wait_until(LIMIT, || producer.counters().published > 400)
        .await
        .expect("the batch is on its way");
    world.routes_in(2, &GENERATIONS);
    let mut connection = world.connection.clone();
    let handled = retire(&lives[3], &mut connection).await;
    for outcome in publishing.await.expect("no panic") {
        outcome.expect("C43: is published elsewhere");
    }
    assert!(!handled.is_empty(), "the shard was in use");
    assert!(
        producer.counters().stale_routes > 0,
        "the batch met the end"
    );
    assert_eq!(world.coordinator.asked(), 2, "C43: one question");
    let mut last = HashMap::new();
    for (id, key, n) in all_there(&mut world, handled, 4_000).await {
        let before = last.insert(key, n);
        assert!(before < Some(n), "{id}: {n} comes after {before:?}");
    }
}

/// How a record is published in the race below.
#[derive(Clone, Copy, Debug)]
enum Way {
    Plain,
    Exact,
    Once,
}

async fn publish(producer: &Producer, way: Way, n: u64) {
    let key = format!("k{n}");
    let record = record(n, &key);
    match way {
        Way::Plain => {
            let fields = [("key", key.clone()), ("n", n.to_string())];
            let outcome = producer.publish(&key, fields).await;
            outcome.expect("C43: is published");
        }
        Way::Exact => {
            let outcome = producer.publish_exact(&record).await;
            outcome.expect("C43: is published");
        }
        Way::Once => {
            let outcome = producer.publish_once(&key, &record).await;
            outcome.expect("C43: is published");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c47_publications_that_race_a_retirement_are_in_live_shards_or_were_handled() {
    for way in [Way::Plain, Way::Exact, Way::Once] {
        let (mut world, lives) = World::living(&FOUR).await;
        let (_proxy, builder) = unhurried(&world).await;
        let producer = builder.build().expect("settings that work");
        let publishing: Vec<_> = (0..8)
            .map(|task| {
                let producer = producer.clone();
                tokio::spawn(async move {
                    for n in (task..800).step_by(8) {
                        publish(&producer, way, n).await;
                    }
                })
            })
            .collect();
        wait_until(LIMIT, || producer.counters().published > 100)
            .await
            .expect("records are on their way");
        world.routes_in(2, &GENERATIONS);
        let mut connection = world.connection.clone();
        let handled = retire(&lives[3], &mut connection).await;
        for task in publishing {
            task.await.expect("no panic");
        }
        assert!(producer.counters().stale_routes > 0, "{way:?}");
        assert_eq!(world.coordinator.asked(), 2, "C43: {way:?}: one question");
        all_there(&mut world, handled, 800).await;
    }
}
