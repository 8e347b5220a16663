//! The feed of changes over losses of its connection.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use coordinator_core::numbers::MetadataVersion;
use futures_util::StreamExt;
use store::conformance::{Scene, group_id};
use store::{Change, ChangeFeed, ChangeStream, StoreError};
use store_redis::{RedisConfig, RedisStore};
use support::{ask, raised, scene, server};
use testkit::{RedisServer, TcpProxy, wait_until_async};
use tokio::time::timeout;

const PATIENCE: Duration = Duration::from_secs(15);

async fn next(stream: &mut ChangeStream) -> Change {
    timeout(PATIENCE, stream.next()).await.unwrap().unwrap()
}

/// Reads on until news of this version come, and says whether a gap was told before.
async fn read_to(stream: &mut ChangeStream, version: u64) -> bool {
    let mut told_of_a_gap = false;
    loop {
        match next(stream).await.version {
            None => told_of_a_gap = true,
            Some(found) if found == MetadataVersion::new(version) => return told_of_a_gap,
            Some(_) => {}
        }
    }
}

/// A group on a server, and a store whose connections go through a proxy.
async fn behind_proxy(server: &RedisServer) -> (Scene, TcpProxy, RedisStore) {
    let direct = scene(RedisConfig::new([server.url()])).await;
    direct.create_members(None).await;
    let proxy = TcpProxy::start(server.address()).await.unwrap();
    let config = RedisConfig::new([format!("redis://{}/", proxy.address())])
        .with_response_timeout(Duration::from_millis(500));
    let store = RedisStore::connect(config).await.unwrap();
    (direct, proxy, store)
}

/// What was published meanwhile is lost; that something may be is told, and then the news go on.
#[tokio::test]
async fn a_gap_is_told_after_the_connection_was_lost() {
    let server = server();
    let (direct, proxy, store) = behind_proxy(&server).await;
    let mut one = store.subscribe(&direct.id).await.unwrap();
    let mut two = store.subscribe(&direct.id).await.unwrap();
    let other = group_id("orders", "audit");
    let mut third = store.subscribe(&other).await.unwrap();
    direct.change(&raised(8)).await;
    assert!(!read_to(&mut one, 8).await);

    proxy.refuse().await;
    proxy.cut();
    direct.change(&raised(9)).await;
    proxy.heal().await.unwrap();
    for stream in [&mut one, &mut third] {
        let change = next(stream).await;
        assert_eq!(change.version, None, "something may have been missed");
    }
    direct.change(&raised(10)).await;
    read_to(&mut one, 10).await;
    assert!(read_to(&mut two, 10).await);
}

/// The other end is gone without a word: an idle connection is tried from time to time.
#[tokio::test]
async fn a_connection_that_hangs_is_noticed() {
    let server = server();
    let (direct, proxy, store) = behind_proxy(&server).await;
    let mut stream = store.subscribe(&direct.id).await.unwrap();
    proxy.stall();
    direct.change(&raised(8)).await;
    // Heals once the old connection was given up and a new one was tried.
    let mut connection = server.connection().await.unwrap();
    let channel = format!("{}:changed", support::GROUP);
    let subscribers = |found: (String, u64)| found.1;
    assert_eq!(
        subscribers(ask(&mut connection, &["PUBSUB", "NUMSUB", &channel]).await),
        1
    );
    // waits: longer than the pause between two looks at the connection and the time allowed for the answer
    tokio::time::sleep(Duration::from_secs(6)).await;
    proxy.cut();
    proxy.heal().await.unwrap();
    let change = next(&mut stream).await;
    assert_eq!(change.version, None);
    direct.change(&raised(9)).await;
    read_to(&mut stream, 9).await;
}

#[tokio::test]
async fn a_killed_redis_is_subscribed_to_again() {
    let mut server = RedisServer::builder().append_only().start().unwrap();
    let scene = scene(RedisConfig::new([server.url()])).await;
    scene.create_members(None).await;
    let mut stream = scene.store.subscribe(&scene.id).await.unwrap();
    server.kill();
    // One that asks now is told at once that there are no news to be had.
    let other = group_id("orders", "audit");
    let away = || async {
        matches!(
            scene.store.subscribe(&other).await,
            Err(StoreError::Unavailable { .. })
        )
    };
    wait_until_async(PATIENCE, away).await.unwrap();
    server.restart().unwrap();
    assert_eq!(next(&mut stream).await.version, None);
    let is_ready = || async { scene.store.check_ready().await.is_ok() };
    wait_until_async(PATIENCE, is_ready).await.unwrap();
    scene.change(&raised(8)).await;
    read_to(&mut stream, 8).await;
    drop(scene.store.subscribe(&other).await.unwrap());
}

/// Channels that nobody listens to any more are given up.
#[tokio::test]
async fn a_channel_without_listeners_is_given_up() {
    let server = server();
    let scene = scene(RedisConfig::new([server.url()])).await;
    let mut connection = server.connection().await.unwrap();
    let channel = format!("{}:changed", support::GROUP);
    let stream = scene.store.subscribe(&scene.id).await.unwrap();
    let other = group_id("orders", "audit");
    let _kept = scene.store.subscribe(&other).await.unwrap();
    let count: (String, u64) = ask(&mut connection, &["PUBSUB", "NUMSUB", &channel]).await;
    assert_eq!(count.1, 1);
    drop(stream);
    let is_given_up = || {
        let (mut connection, channel) = (connection.clone(), channel.clone());
        async move {
            let count: (String, u64) = ask(&mut connection, &["PUBSUB", "NUMSUB", &channel]).await;
            count.1 == 0
        }
    };
    wait_until_async(PATIENCE, is_given_up).await.unwrap();
    // And taken up again.
    let mut stream = scene.store.subscribe(&scene.id).await.unwrap();
    scene.create_members(None).await;
    read_to(&mut stream, 7).await;
}

/// The feed ends with its store.
#[tokio::test]
async fn the_news_end_with_the_store() {
    let server = server();
    let store = support::open(&server).await;
    let mut stream = store
        .subscribe(&group_id("orders", "billing"))
        .await
        .unwrap();
    drop(store);
    assert_eq!(timeout(PATIENCE, stream.next()).await.unwrap(), None);
}

/// Case C11: a channel that the user may not listen to is a refusal, and no reason to try again and again.
#[tokio::test]
async fn a_channel_out_of_reach_is_refused_c11() {
    let server = server();
    let mut connection = server.connection().await.unwrap();
    let words = [
        "ACL",
        "SETUSER",
        "carol",
        "on",
        ">pw",
        "~*",
        "&redis-stream:coord:{-:-}:changed",
        "+@all",
    ];
    let _: () = ask(&mut connection, &words).await;
    let config = RedisConfig::new([format!("redis://carol:pw@{}/", server.address())]);
    let store = RedisStore::connect(config).await.unwrap();
    let refused = store.subscribe(&group_id("orders", "billing")).await;
    assert!(
        matches!(refused, Err(StoreError::Refused { .. })),
        "it is out of reach"
    );
}
