//! Publishing that races changes of the shard count, with two coordinator processes and real members: whatever Redis took is handled, and no shard is read by
//! two at once. Case C47; with a failover of Redis in the middle in `failover.rs`.
#![allow(clippy::unwrap_used)]

mod failover;
mod race;
#[path = "../resharding/mod.rs"]
mod resharding;
#[path = "../support/mod.rs"]
mod support;

use protocol::MigrationState;
use race::{BETWEEN, Race};
use testkit::RedisServer;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_of_10_000_messages_that_race_8_to_12_to_5_to_8_are_handled_c47() {
    let redis = RedisServer::builder().start().unwrap();
    let race = Race::start(redis.url()).await;
    let members = race.members("members");
    race.publish(BETWEEN).await;
    for target in [12, 5, 8] {
        race.scale_until(target, MigrationState::Deprecated).await;
        race.publish(BETWEEN).await;
    }
    race.finish(members, &redis).await;
}

/// Rule G6: without members nothing is retired that has something in it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_of_10_000_messages_are_handled_when_every_consumer_was_dead_during_the_scale_in_c47() {
    let redis = RedisServer::builder().start().unwrap();
    let race = Race::start(redis.url()).await;
    let members = race.members("members");
    race.publish(BETWEEN).await;
    race.scale_until(12, MigrationState::Deprecated).await;
    drop(members);
    race.publish(BETWEEN).await;
    race.scale_until(5, MigrationState::Draining).await;
    race.publish(BETWEEN).await;
    assert!(race.is(MigrationState::Draining).await);
    let members = race.members("successors");
    race.reached(MigrationState::Deprecated).await;
    race.scale_until(8, MigrationState::Deprecated).await;
    race.finish(members, &redis).await;
}
