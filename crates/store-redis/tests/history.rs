//! Rule C8: a server that was restarted, or another one in its place, may have lost writes, and says so with what it returns.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use coordinator_core::time::Millis;
use store::{CommitError, Renewed};
use store_redis::RedisConfig;
use support::{ask, raised, scene, server};
use testkit::{RedisServer, wait_until_async};

const LEASE: Millis = Millis::new(15_000);
const PATIENCE: Duration = Duration::from_secs(20);

#[tokio::test]
async fn c8_a_record_from_before_a_restart_is_doubted_until_the_next_commit() {
    let mut server = RedisServer::builder().append_only().start().unwrap();
    let scene = scene(RedisConfig::new([server.url()])).await;
    let known = scene.create_members(None).await;
    assert_eq!(known.doubted_at, None);
    server.restart().unwrap();
    let ready = || async { scene.store.check_ready().await.is_ok() };
    wait_until_async(PATIENCE, ready).await.unwrap();

    let found = scene.load().await.unwrap();
    assert_eq!(
        (found.stamp.clone(), found.doubted_at),
        (known.stamp.clone(), Some(found.now))
    );
    let begun = scene.begin().await;
    assert!(begun.snapshot.as_ref().unwrap().doubted_at.is_some());
    scene.store.release(begun.lock).await;
    let renewed = scene.renew(&known, &["a"], LEASE).await;
    assert!(
        matches!(&renewed, Renewed::Stale(snapshot) if snapshot.doubted_at.is_some()),
        "no lease is renewed on it: {renewed:?}"
    );

    let changed = scene.change(&raised(8)).await;
    assert_eq!(changed.doubted_at, None);
    let renewed = scene.renew(&changed, &["a"], LEASE).await;
    assert!(matches!(renewed, Renewed::Ok { .. }), "{renewed:?}");
}

/// What was read under the right may be gone, a renewed lease above all.
#[tokio::test]
async fn c8_a_right_ends_with_the_history_in_which_it_was_taken() {
    let mut server = RedisServer::builder().append_only().start().unwrap();
    let scene = scene(RedisConfig::new([server.url()])).await;
    let known = scene.create_members(None).await;
    let begun = scene.begin().await;
    server.restart().unwrap();
    let ready = || async { scene.store.check_ready().await.is_ok() };
    wait_until_async(PATIENCE, ready).await.unwrap();
    let refused = scene.commit(begun.lock, &known, &raised(8)).await;
    assert!(matches!(refused, Err(CommitError::LockLost)), "{refused:?}");
    // It is in nobody's way either.
    scene.change(&raised(8)).await;
}

#[tokio::test]
async fn c8_a_promoted_replica_begins_another_history() {
    let first = server();
    let replica = server();
    let before = scene(RedisConfig::new([first.url()])).await;
    let known = before.create_members(None).await;
    before.store.watch_over(LEASE, None).await.unwrap();
    let mut connection = replica.connection().await.unwrap();
    let port = first.port().to_string();
    let _: () = ask(&mut connection, &["REPLICAOF", "127.0.0.1", &port]).await;
    let copied = || {
        let mut connection = connection.clone();
        async move {
            let keys: u64 = ask(&mut connection, &["DBSIZE"]).await;
            keys > 2
        }
    };
    wait_until_async(PATIENCE, copied).await.unwrap();
    let _: () = ask(&mut connection, &["REPLICAOF", "NO", "ONE"]).await;

    let after = scene(RedisConfig::new([replica.url()])).await;
    let found = after.load().await.unwrap();
    assert_eq!(
        (found.stamp, found.doubted_at),
        (known.stamp, Some(found.now))
    );
    let watch = after.store.watch_over(LEASE, None).await.unwrap();
    let doubt = watch.doubt.unwrap();
    assert_eq!(doubt.at, watch.now, "and so does the watch");
    assert!(
        doubt.lost_from <= found.now,
        "a group that was doubted since has been doubted for it"
    );
    let again = after
        .store
        .watch_over(LEASE, Some(watch.now))
        .await
        .unwrap();
    assert_eq!(again.doubt, watch.doubt, "once");
}
