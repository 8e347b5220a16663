//! Processes that come, go, crash, share a name or lose their coordinator.

use std::time::{Duration, Instant};

use member_client::{Health, StopReason};
use testkit::wait_until;

use crate::world::{LIMIT, SHARDS, World};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn processes_join_leave_and_crash_and_every_record_is_handled_in_one_pair_of_hands() {
    let mut world = World::new(1).await;
    let a = world.process("a", "a");
    world.publish(300).await;
    let b = world.process("b", "b");
    world.publish(300).await;
    world.wait_for_stable(2).await;
    let c = world.process("c", "c");
    world.publish(300).await;
    world.wait_for_stable(3).await;
    let stopped = a.shutdown().await;
    assert_eq!(stopped[0].reason, StopReason::Left);
    world.publish(300).await;
    drop(b);
    world.publish(300).await;
    world.wait_for_everything().await;
    world.wait_for_stable(1).await;
    world.check().await;
    let shares = world.shares();
    assert_eq!(shares.keys().copied().collect::<Vec<_>>(), ["a", "b", "c"]);
    drop(c);
}

/// What a rebalance costs: a shard that moves is read by its new owner long before the next regular heartbeat.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_new_process_gets_its_share_without_waiting_for_heartbeats() {
    let world = World::new(1).await;
    let a = world.process("a", "a");
    world.wait_for_stable(1).await;
    let start = Instant::now();
    let b = world.process("b", "b");
    world.wait_for_stable(2).await;
    assert!(
        start.elapsed() < Duration::from_secs(2),
        "{:?}",
        start.elapsed()
    );
    let metrics = (a.metrics(), b.metrics());
    assert_eq!(
        (metrics.0.abandonments, metrics.1.shards_started),
        (0, u64::from(SHARDS) / 2)
    );
}

/// C22: two processes with one member id: in the end the newer one works and the older one stands aside.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_processes_with_one_id_the_newer_one_stays() {
    let mut world = World::new(1).await;
    let old = world.process("old", "twin");
    world.wait_for_stable(1).await;
    let new = world.process("new", "twin");
    wait_until(LIMIT, || old.health()[0].1 == Health::Failing)
        .await
        .unwrap();
    wait_until(LIMIT, || new.health()[0].1 == Health::Healthy)
        .await
        .unwrap();
    let before = world.shares();
    world.publish(120).await;
    world.wait_for_everything().await;
    let after = world.shares();
    assert_eq!(after.get("old"), before.get("old"));
    world.check().await;
    assert!(
        new.metrics().abandonments <= 1,
        "thrown out more than once: {:?}",
        new.metrics()
    );
}

/// C38: a coordinator that ends is replaced by its fellow within a heartbeat; nobody stops working.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_coordinator_that_goes_away_costs_no_membership_while_another_is_there() {
    let mut world = World::new(2).await;
    let clients = [world.process("a", "a"), world.process("b", "b")];
    world.wait_for_stable(2).await;
    world.publish(120).await;
    world.servers[0].terminate().await;
    // Long enough for leases to end, if nobody renewed them.
    let until = Instant::now() + Duration::from_millis(1_500);
    while Instant::now() < until {
        world.publish(20).await;
        world.wait_for_everything().await;
    }
    world.wait_for_everything().await;
    world.check().await;
    for client in clients {
        assert_eq!(client.metrics().abandonments, 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_group_that_does_not_exist_yet_is_waited_for() {
    let world = World::new(1).await;
    let mut connection = world.redis.connection().await.unwrap();
    redis::cmd("XGROUP")
        .arg(&["CREATE", "later:0", "later", "0", "MKSTREAM"])
        .exec_async(&mut connection)
        .await
        .unwrap();
    let client = member_client::MemberClient::builder(crate::world::Idle)
        .coordinator(world.coordinator())
        .redis_urls([world.redis.url()])
        .stream_prefix("later")
        .member_base("a")
        .build()
        .unwrap()
        .start();
    wait_until(LIMIT, || client.health()[0].1 == Health::Failing)
        .await
        .unwrap();
    let request = protocol::CreateStreamRequest {
        initial_shard_count: Some(1),
        requested_by: "test".into(),
        reason: None,
    };
    world
        .coordinator()
        .create_stream("later", &request)
        .await
        .unwrap();
    wait_until(LIMIT, || client.health()[0].1 == Health::Healthy)
        .await
        .unwrap();
}
