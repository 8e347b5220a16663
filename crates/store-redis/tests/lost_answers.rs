//! Case C41: a change whose answer is lost is read back. What is then said is what is so, now and later.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeSet;
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use store::conformance::{Scene, plain_record};
use store::{Begun, CommitError, CreateError, Snapshot, Stamp, StoreError};
use store_redis::RedisConfig;
use support::{ask, raised, scene, server};
use testkit::{RedisServer, TcpProxy, wait_until_async};

const PATIENCE: Duration = Duration::from_secs(10);

/// A group behind a proxy; every script has run once, so that the next answer of Redis is that to the change.
async fn behind_proxy() -> (RedisServer, TcpProxy, Scene) {
    let server = server();
    let proxy = TcpProxy::start(server.address()).await.unwrap();
    let config = RedisConfig::new([format!("redis://{}/", proxy.address())])
        .with_response_timeout(Duration::from_millis(500));
    let scene = scene(config).await;
    scene.create_members(None).await;
    scene.change(&raised(8)).await;
    scene.remove().await;
    scene.create_members(None).await;
    (server, proxy, scene)
}

async fn begun(scene: &Scene) -> (Begun, Snapshot) {
    let begun = scene.begin().await;
    let snapshot = begun.snapshot.clone().unwrap();
    (begun, snapshot)
}

/// Ends the connections through the stalled proxy together with what it holds back, and lets it go on.
async fn lose_what_is_on_its_way(server: &RedisServer, proxy: &TcpProxy) {
    let mut connection = server.connection().await.unwrap();
    let own: u64 = ask(&mut connection, &["CLIENT", "ID"]).await;
    let before = clients(&mut connection, own).await;
    // waits: the request is on its way into the stalled proxy
    tokio::time::sleep(Duration::from_millis(100)).await;
    proxy.cut();
    let are_gone = || {
        let (mut connection, before) = (connection.clone(), before.clone());
        async move { clients(&mut connection, own).await.is_disjoint(&before) }
    };
    wait_until_async(PATIENCE, are_gone).await.unwrap();
    proxy.heal().await.unwrap();
}

/// The ids of all clients of a server but one.
async fn clients(connection: &mut MultiplexedConnection, own: u64) -> BTreeSet<u64> {
    let list: String = ask(connection, &["CLIENT", "LIST"]).await;
    let ids = list.lines().filter_map(|line| {
        let (id, _) = line.strip_prefix("id=")?.split_once(' ')?;
        id.parse().ok()
    });
    ids.filter(|id| *id != own).collect()
}

async fn right_is_free(server: &RedisServer) -> bool {
    let mut connection = server.connection().await.unwrap();
    let key = format!("{}:mutex", support::GROUP);
    ask::<u64>(&mut connection, &["EXISTS", &key]).await == 0
}

/// It took place: that is the answer, with the stamp that is stored.
#[tokio::test]
async fn a_commit_that_took_place_is_found_c41() {
    let (server, proxy, scene) = behind_proxy().await;
    let (begun, expected) = begun(&scene).await;
    proxy.drop_replies(1);
    let stamp = scene
        .commit(begun.lock, &expected, &raised(9))
        .await
        .unwrap();
    assert_eq!(proxy.replies_left_to_drop(), 0, "an answer was lost");
    let found = scene.load().await.unwrap();
    assert_eq!(found.stamp, stamp);
    assert_eq!(found.record.metadata_version.get(), 9);
    assert!(right_is_free(&server).await);
}

/// It was cut off on its way: that is said, nothing is written, and the right is free.
#[tokio::test]
async fn a_commit_that_did_not_take_place_is_told_c41() {
    let (server, proxy, scene) = behind_proxy().await;
    let (begun, expected) = begun(&scene).await;
    proxy.stall();
    let healing = lose_what_is_on_its_way(&server, &proxy);
    let change = raised(9);
    let changing = scene.commit(begun.lock, &expected, &change);
    let (refused, ()) = tokio::join!(changing, healing);
    let unavailable = matches!(
        &refused,
        Err(CommitError::Store(StoreError::Unavailable { reason, .. })) if !reason.contains("not known")
    );
    assert!(unavailable, "{refused:?}");
    let found = scene.load().await.unwrap();
    assert_eq!(
        (found.record, found.stamp),
        (expected.record, expected.stamp)
    );
    assert!(right_is_free(&server).await);
    scene.change(&raised(10)).await;
}

/// A request that was held up and is delivered after all finds its right lost, unless it was there before it was asked for.
#[tokio::test]
async fn a_commit_that_is_delivered_late_changes_nothing_that_was_said_c41() {
    let (server, proxy, scene) = behind_proxy().await;
    let (begun, expected) = begun(&scene).await;
    proxy.stall();
    let healing = async {
        // waits: longer than the answer may take, so that it is given up while the request is still on its way
        tokio::time::sleep(Duration::from_millis(800)).await;
        proxy.heal().await.unwrap();
    };
    let change = raised(9);
    let changing = scene.commit(begun.lock, &expected, &change);
    let (outcome, ()) = tokio::join!(changing, healing);
    let is_settled = || right_is_free(&server);
    wait_until_async(PATIENCE, is_settled).await.unwrap();
    let found = scene.load().await.unwrap();
    match outcome {
        Ok(stamp) => assert_eq!(found.stamp, stamp),
        Err(CommitError::Store(StoreError::Unavailable { .. })) => {
            assert_eq!(found.stamp, expected.stamp);
        }
        Err(error) => panic!("{error:?}"),
    }
}

/// Redis went away with the answer: nobody knows, and that is what is said.
#[tokio::test]
async fn a_commit_that_can_not_be_read_back_is_told_to_be_unknown_c41() {
    let (_server, proxy, scene) = behind_proxy().await;
    let (begun, expected) = begun(&scene).await;
    proxy.refuse().await;
    proxy.drop_replies(1);
    let outcome = scene.commit(begun.lock, &expected, &raised(9)).await;
    let unknown = matches!(
        &outcome,
        Err(CommitError::Store(StoreError::Unavailable { reason, .. })) if reason.contains("not known")
    );
    assert!(unknown, "{outcome:?}");
    proxy.heal().await.unwrap();
    assert_eq!(scene.load().await.unwrap().record.metadata_version.get(), 9);
}

#[tokio::test]
async fn a_removal_that_took_place_is_found_c41() {
    let (server, proxy, scene) = behind_proxy().await;
    let (begun, expected) = begun(&scene).await;
    proxy.drop_replies(1);
    scene
        .store
        .remove(begun.lock, &expected.stamp)
        .await
        .unwrap();
    assert_eq!(proxy.replies_left_to_drop(), 0, "an answer was lost");
    assert_eq!(scene.load().await, None);
    let mut connection = server.connection().await.unwrap();
    let keys: Vec<String> = ask(&mut connection, &["KEYS", "*"]).await;
    assert_eq!(
        keys,
        ["redis-stream:coord:coordination"],
        "not even a right or an entry is left"
    );
}

#[tokio::test]
async fn a_removal_that_did_not_take_place_is_told_c41() {
    let (server, proxy, scene) = behind_proxy().await;
    let (begun, expected) = begun(&scene).await;
    proxy.stall();
    let healing = lose_what_is_on_its_way(&server, &proxy);
    let (refused, ()) = tokio::join!(scene.store.remove(begun.lock, &expected.stamp), healing);
    assert!(matches!(refused, Err(CommitError::Store(_))), "{refused:?}");
    assert_eq!(scene.load().await.unwrap().stamp, expected.stamp);
    assert!(right_is_free(&server).await);
    scene.remove().await;
}

/// The answers come late, so that the one to the creation can be told from the one to the entry in the directory before it.
async fn create_and_lose_the_answer(
    scene: &Scene,
    server: &RedisServer,
    proxy: &TcpProxy,
) -> Result<Stamp, CreateError> {
    let begun = scene.begin().await;
    let record = plain_record(&scene.id, &["a"], None);
    proxy.delay(200);
    let losing = async {
        let mut connection = server.connection().await.unwrap();
        let is_entered = || {
            let mut connection = connection.clone();
            async move {
                let key = "redis-stream:coord:directory:12";
                ask::<u64>(&mut connection, &["EXISTS", key]).await == 1
            }
        };
        wait_until_async(PATIENCE, is_entered).await.unwrap();
        // waits: until the proxy has the first answer, which it holds back for longer than that
        tokio::time::sleep(Duration::from_millis(50)).await;
        proxy.drop_replies(1);
        let _: String = ask(&mut connection, &["PING"]).await;
    };
    let (outcome, ()) = tokio::join!(scene.store.create(&begun.lock, &record), losing);
    assert_eq!(proxy.replies_left_to_drop(), 0, "an answer was lost");
    outcome
}

#[tokio::test]
async fn a_creation_that_took_place_is_found_c41() {
    let (server, proxy, scene) = behind_proxy().await;
    scene.remove().await;
    let stamp = create_and_lose_the_answer(&scene, &server, &proxy)
        .await
        .unwrap();
    proxy.heal().await.unwrap();
    assert_eq!(scene.load().await.unwrap().stamp, stamp);
}

/// A lease may have been renewed or not: nobody is told that it was.
#[tokio::test]
async fn a_renewal_whose_answer_is_late_is_not_taken_for_done_t3a() {
    let (_server, proxy, scene) = behind_proxy().await;
    let known = scene.load().await.unwrap();
    proxy.stall();
    let refused = scene
        .store
        .renew(&scene.id, &known, &[], known.now.since(known.now))
        .await;
    assert!(
        matches!(refused, Err(StoreError::Unavailable { .. })),
        "{refused:?}"
    );
    proxy.cut();
    proxy.heal().await.unwrap();
    scene
        .store
        .renew(&scene.id, &known, &[], known.now.since(known.now))
        .await
        .unwrap();
}

/// An idle connection that was cut is noticed with the next step, and the step succeeds.
#[tokio::test]
async fn a_cut_connection_is_made_anew_c05() {
    let (_server, proxy, scene) = behind_proxy().await;
    for _ in 0..3 {
        proxy.cut();
        scene.load().await.unwrap();
        proxy.cut();
        let (begun, expected) = begun(&scene).await;
        scene.commit(begun.lock, &expected, &[]).await.unwrap();
    }
}
