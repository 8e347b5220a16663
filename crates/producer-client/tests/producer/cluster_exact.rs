//! Exact publication in a Redis Cluster (C13): shards of different slots, slots that moved, slots on their way.

use producer_client::PublishedOnce;
use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use stream_lifecycle::{Base, Handle, ShardRef};
use testkit::wait_until;

use crate::cluster::{Clustered, SIX, keys_of};
use crate::coordinator::{Answer, routing_in};
use crate::lives::creation;
use crate::world::{LIMIT, record};

/// A cluster whose streams have lifecycles.
async fn living() -> (Clustered, Vec<Handle<ClusterConnection>>) {
    let world = Clustered::start().await;
    let client = ClusterClient::new(world.cluster.urls()).expect("nodes");
    let link = client.get_async_connection().await.expect("connects");
    let mut lives = Vec::new();
    for stream in SIX {
        let shard = ShardRef::new(link.clone(), Base::new(stream).expect("a base"));
        lives.push(shard.create(&creation().adopt()).await.expect("is made"));
    }
    let routing = routing_in(2, &SIX.map(|stream| (stream, Some(1))));
    world.coordinator.answer(Answer::Routing(routing));
    (world, lives)
}

fn all_keys(life: &Handle<ClusterConnection>) -> Vec<String> {
    let five = life.keys().five();
    five.iter().map(ToString::to_string).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c13_shards_on_all_nodes_take_exact_publications() {
    let (world, _lives) = living().await;
    let producer = world.producer();
    for stream in SIX {
        let key = &keys_of(stream)[0];
        let outcome = producer.publish_exact(&record(1, key)).await;
        outcome.expect("C13: is published");
        for _ in 0..2 {
            let outcome = producer.publish_once("e-1", &record(2, key)).await;
            outcome.expect("C13: is published");
        }
        assert_eq!(world.length(stream, world.owner_index(stream)), 2);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c13_a_shard_that_moved_is_followed_and_its_events_are_known() {
    let (world, lives) = living().await;
    let producer = world.producer();
    let key = &keys_of("orders:0")[0];
    let once = producer.publish_once("e-1", &record(1, key)).await;
    once.expect("is published");
    let moving = world.begin_move("orders:0");
    moving.carry(&all_keys(&lives[0]));
    let once = producer.publish_once("e-1", &record(1, key)).await;
    assert!(
        matches!(once, Ok(PublishedOnce::Duplicate(_))),
        "C13: known on its way: {once:?}"
    );
    let outcome = producer.publish_exact(&record(2, key)).await;
    outcome.expect("C13: is published on its way");
    moving.end();
    let once = producer.publish_once("e-1", &record(1, key)).await;
    assert!(
        matches!(once, Ok(PublishedOnce::Duplicate(_))),
        "C13: known at the new node: {once:?}"
    );
    assert_eq!(world.length("orders:0", moving.to), 2);
    assert_eq!(producer.counters().stale_routes, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn c08_a_shard_that_is_half_moved_is_waited_for() {
    let (world, lives) = living().await;
    let producer = world.producer();
    let key = keys_of("orders:0").remove(0);
    let outcome = producer.publish_exact(&record(1, &key)).await;
    outcome.expect("is published");
    let keys = all_keys(&lives[0]);
    let moving = world.begin_move("orders:0");
    moving.carry(&keys[..2]);
    let publishing = {
        let producer = producer.clone();
        tokio::spawn(async move { producer.publish_exact(&record(2, &key)).await })
    };
    wait_until(LIMIT, || producer.counters().repeats > 0)
        .await
        .expect("C08: TRYAGAIN is no end");
    moving.carry(&keys[2..]);
    moving.end();
    let outcome = publishing.await.expect("no panic");
    outcome.expect("C08: is published at last");
    assert_eq!(world.length("orders:0", moving.to), 2);
}
