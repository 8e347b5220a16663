//! A Redis that fails: groups that vanish, servers that die, pause, change their role or refuse.

use std::time::Duration;

use testkit::{RedisServer, wait_until};

use crate::scene::{GROUP, LIMIT, Log, Scene, create_group, key, numbers};

/// C01: the group is created anew, once, and consumption goes on. C02: at the beginning, so that nothing is skipped.
#[tokio::test]
async fn a_vanished_group_is_repaired_at_the_beginning_of_the_stream() {
    let (scene, log) = (Scene::new(1).await, Log::new());
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene.start("a", &log);
    scene.publish(0, 0..10).await;
    log.wait_for(10).await;
    let mut connection = scene.connection().await;
    let mut at_once = redis::pipe();
    at_once
        .atomic()
        .cmd("XGROUP")
        .arg("DESTROY")
        .arg(key(0))
        .arg(GROUP);
    at_once
        .cmd("XADD")
        .arg(key(0))
        .arg("*")
        .arg("body")
        .arg("10");
    at_once.exec_async(&mut connection).await.unwrap();
    scene.publish(0, 11..20).await;
    log.wait_for(20).await;
    scene.wait_for_nothing_pending(1).await;
    let metrics = client.metrics();
    assert_eq!(metrics.group_repairs, 1);
    assert!(metrics.reconnects < 20, "{} attempts", metrics.reconnects);
}

/// C01: several shards, each repaired by its owner.
#[tokio::test]
async fn groups_that_are_missing_from_the_start_are_created_by_the_owner() {
    let (scene, log) = (Scene::new(0).await, Log::new());
    for shard in 0..3 {
        scene.publish(shard, 0..5).await;
    }
    scene.coordinator.assign("a-m0", &[0, 1]);
    scene.coordinator.assign("b-m0", &[2]);
    let clients = [scene.start("a", &log), scene.start("b", &log)];
    log.wait_for(15).await;
    let repairs: Vec<u64> = clients
        .iter()
        .map(|client| client.metrics().group_repairs)
        .collect();
    assert_eq!(repairs, [2, 1]);
}

/// C01: a stream that is not there is none of the member's business; it asks now and then, and creates nothing.
#[tokio::test]
async fn a_missing_stream_is_not_created_and_asked_for_with_growing_pauses() {
    let (scene, log) = (Scene::new(0).await, Log::new());
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene.start("a", &log);
    wait_until(LIMIT, || client.metrics().reconnects >= 4)
        .await
        .unwrap();
    let mut connection = scene.connection().await;
    let exists: u32 = redis::cmd("EXISTS")
        .arg(key(0))
        .query_async(&mut connection)
        .await
        .unwrap();
    assert_eq!((exists, client.metrics().group_repairs), (0, 0));
    create_group(&mut connection, 0).await;
    scene.publish(0, ["x"]).await;
    log.wait_for(1).await;
}

/// C03: a stream that is deleted under a waiting reader ends its wait with UNBLOCKED; that alone creates no group.
#[tokio::test]
async fn a_stream_deleted_under_the_reader_is_read_again_once_it_is_back() {
    let (scene, log) = (Scene::new(1).await, Log::new());
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene.start("a", &log);
    scene.publish(0, ["x"]).await;
    log.wait_for(1).await;
    let mut connection = scene.connection().await;
    redis::cmd("DEL")
        .arg(key(0))
        .exec_async(&mut connection)
        .await
        .unwrap();
    wait_until(LIMIT, || client.metrics().reconnects > 0)
        .await
        .unwrap();
    create_group(&mut connection, 0).await;
    scene.publish(0, ["y"]).await;
    log.wait_for(2).await;
    assert_eq!(log.bodies(), ["x", "y"]);
}

#[tokio::test]
async fn nothing_is_lost_when_redis_is_killed_and_restarted() {
    let server = RedisServer::builder().append_only().start().unwrap();
    let (mut scene, log) = (Scene::with(server, 2).await, Log::new());
    scene.coordinator.assign("a-m0", &[0, 1]);
    let _client = scene.start("a", &log);
    let mut published = 0;
    for _ in 0..4 {
        for shard in 0..2 {
            scene.publish(shard, published..published + 25).await;
        }
        published += 25;
        scene.redis.restart().unwrap();
    }
    log.wait_for(200).await;
    scene.wait_for_nothing_pending(2).await;
}

/// C05: a server that became a replica refuses for ever on the old connection; the member comes back by itself.
#[tokio::test]
async fn a_server_that_was_read_only_for_a_while_is_read_again() {
    let (scene, log) = (Scene::new(1).await, Log::new());
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene.start("a", &log);
    scene.publish(0, ["x"]).await;
    log.wait_for(1).await;
    let mut connection = scene.connection().await;
    let nobody = testkit::free_port();
    redis::cmd("REPLICAOF")
        .arg("127.0.0.1")
        .arg(nobody)
        .exec_async(&mut connection)
        .await
        .unwrap();
    wait_until(LIMIT, || client.metrics().reconnects >= 3)
        .await
        .unwrap();
    redis::cmd("REPLICAOF")
        .arg("NO")
        .arg("ONE")
        .exec_async(&mut connection)
        .await
        .unwrap();
    scene.publish(0, ["y"]).await;
    log.wait_for(2).await;
    assert_eq!(
        (log.bodies(), client.metrics().group_repairs),
        (vec!["x".to_owned(), "y".to_owned()], 0)
    );
}

/// C23: reads that were given up because the server stopped answering took entries with them.
#[tokio::test]
async fn a_server_that_pauses_for_longer_than_any_read_loses_nothing() {
    let (scene, log) = (Scene::new(1).await, Log::new());
    scene.coordinator.change(|script| script.lease_ms = 60_000);
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene
        .builder("a", &log)
        .block(Duration::from_millis(100))
        .build()
        .unwrap()
        .start();
    scene.publish(0, 0..10).await;
    log.wait_for(10).await;
    scene.redis.pause();
    wait_until(LIMIT, || client.metrics().reconnects > 0)
        .await
        .unwrap();
    scene.redis.resume();
    scene.publish(0, 10..50).await;
    log.wait_for(50).await;
    scene.wait_for_nothing_pending(1).await;
    assert_eq!(log.bodies(), numbers(0..50));
}

/// C04: one broken shard does not disturb the others.
#[tokio::test]
async fn a_shard_of_the_wrong_type_fails_alone() {
    let (scene, log) = (Scene::new(1).await, Log::new());
    let mut connection = scene.connection().await;
    redis::cmd("SET")
        .arg(key(1))
        .arg("no stream")
        .exec_async(&mut connection)
        .await
        .unwrap();
    scene.coordinator.assign("a-m0", &[0, 1]);
    let _client = scene.start("a", &log);
    scene.publish(0, 0..20).await;
    log.wait_for(20).await;
    redis::cmd("DEL")
        .arg(key(1))
        .exec_async(&mut connection)
        .await
        .unwrap();
    create_group(&mut connection, 1).await;
    scene.publish(1, ["x"]).await;
    log.wait_for(21).await;
}

/// C09: with its memory full Redis still lets members read and acknowledge.
#[tokio::test]
async fn members_go_on_acknowledging_while_redis_refuses_writes_for_lack_of_memory() {
    let (scene, log) = (Scene::new(1).await, Log::held());
    scene.publish(0, 0..20).await;
    let mut connection = scene.connection().await;
    redis::cmd("CONFIG")
        .arg("SET")
        .arg("maxmemory")
        .arg("1")
        .exec_async(&mut connection)
        .await
        .unwrap();
    scene.coordinator.assign("a-m0", &[0]);
    let _client = scene.start("a", &log);
    log.let_through(20);
    log.wait_for(20).await;
    scene.wait_for_nothing_pending(1).await;
}

/// Without the rights to end waits or connections a member works all the same; giving up a shard takes a wait.
#[tokio::test]
async fn a_user_with_few_rights_can_consume_and_let_go() {
    let (scene, log) = (Scene::new(1).await, Log::new());
    let mut connection = scene.connection().await;
    redis::cmd("ACL")
        .arg(&[
            "SETUSER",
            "member",
            "on",
            ">secret",
            "~orders:*",
            "+@stream",
            "+ping",
        ])
        .exec_async(&mut connection)
        .await
        .unwrap();
    scene.coordinator.assign("a-m0", &[0]);
    let url = format!("redis://member:secret@{}/", scene.redis.address());
    let client = scene
        .builder("a", &log)
        .redis_urls([url])
        .block(Duration::from_millis(300))
        .build()
        .unwrap()
        .start();
    scene.publish(0, 0..5).await;
    log.wait_for(5).await;
    let stopped = client.shutdown().await;
    assert_eq!(stopped[0].reason, member_client::StopReason::Left);
}
