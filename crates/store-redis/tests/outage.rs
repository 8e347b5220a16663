//! Redis goes away and comes back: transient answers are told to be transient, nothing is assumed to be empty, and the store mends its own
//! connection. Cases C05 and C08.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::{Duration, Instant};

use store::conformance::Scene;
use store::{CommitError, GroupStore, StoreError};
use store_redis::{RedisConfig, RedisStore};
use support::{ask, raised, scene, server};
use testkit::{RedisServer, wait_until_async};

const PATIENCE: Duration = Duration::from_secs(20);

fn reason<T: std::fmt::Debug>(outcome: Result<T, StoreError>) -> String {
    match outcome {
        Err(StoreError::Unavailable { reason, .. }) => reason,
        other => panic!("it is not told to be unavailable: {other:?}"),
    }
}

async fn wait_for_readiness(scene: &Scene) {
    let is_ready = || async { scene.store.check_ready().await.is_ok() };
    wait_until_async(PATIENCE, is_ready).await.unwrap();
}

/// Case C08: a name that leads nowhere is told from a connection that broke.
#[tokio::test]
async fn a_host_that_can_not_be_resolved_is_named_c08() {
    let url = "redis://:secret@no-such-host.invalid:6379/";
    let store = RedisStore::connect(RedisConfig::new([url])).await.unwrap();
    let reason = reason(store.check_ready().await);
    let expected = "the host of no-such-host.invalid:6379 can't be resolved";
    assert!(reason.starts_with(expected), "{reason}");
    assert!(!reason.contains("secret"), "{reason}");
}

/// Case C08: away is not empty, and nothing has to be done when it is back.
#[tokio::test]
async fn a_redis_that_was_killed_is_found_again_with_what_it_kept_c08() {
    let mut server = RedisServer::builder().append_only().start().unwrap();
    let scene = scene(RedisConfig::new([server.url()])).await;
    let known = scene.create_members(None).await;
    for _ in 0..2 {
        server.kill();
        assert_eq!(
            reason(scene.store.check_ready().await),
            "Redis refuses connections"
        );
        assert_eq!(
            reason(scene.store.begin(&scene.id, None).await),
            "Redis refuses connections"
        );
        assert_eq!(
            reason(scene.store.load(&scene.id, None).await),
            "Redis refuses connections"
        );
        let renewed = scene
            .store
            .renew(&scene.id, &known, &[], known.now.since(known.now))
            .await;
        assert_eq!(reason(renewed), "Redis refuses connections");
        assert_eq!(
            reason(
                scene
                    .store
                    .watch_over(known.now.since(known.now), None)
                    .await
            ),
            "Redis refuses connections"
        );
        server.restart().unwrap();
        wait_for_readiness(&scene).await;
        let found = scene.load().await.unwrap();
        assert_eq!((&found.record, &found.stamp), (&known.record, &known.stamp));
    }
    scene.change(&raised(8)).await;
}

/// Case C08: a Redis that hangs is given up in time, by everybody who waits for it.
#[tokio::test]
async fn a_redis_that_hangs_is_given_up_in_time_c08() {
    let server = server();
    let config = RedisConfig::new([server.url()])
        .with_connect_timeout(Duration::from_millis(300))
        .with_response_timeout(Duration::from_millis(300));
    let scene = scene(config).await;
    scene.create_members(None).await;
    server.pause();
    let started = Instant::now();
    let all = (0..50).map(|_| scene.store.load(&scene.id, None));
    for outcome in futures_util::future::join_all(all).await {
        assert_eq!(reason(outcome), "Redis did not answer in time");
    }
    assert!(
        started.elapsed() < Duration::from_secs(3),
        "{:?}",
        started.elapsed()
    );
    // The connection is made anew from here on, and whoever waits for that shares one attempt.
    let started = Instant::now();
    let all = (0..50).map(|_| scene.store.load(&scene.id, None));
    for outcome in futures_util::future::join_all(all).await {
        reason(outcome);
    }
    assert!(
        started.elapsed() < Duration::from_secs(3),
        "{:?}",
        started.elapsed()
    );
    server.resume();
    wait_for_readiness(&scene).await;
    scene.change(&raised(8)).await;
}

/// Case C08: LOADING is a state of its own; an empty answer would be a lie.
#[tokio::test]
async fn a_redis_that_is_loading_is_waited_for_c08() {
    let builder = RedisServer::builder().append_only();
    let mut server = builder.setting("key-load-delay", "50").start().unwrap();
    let scene = scene(RedisConfig::new([server.url()])).await;
    let known = scene.create_members(None).await;
    let mut connection = server.connection().await.unwrap();
    let mut pipeline = redis::pipe();
    for number in 0..30_000 {
        pipeline
            .cmd("SET")
            .arg(format!("filler-{number}"))
            .arg(number)
            .ignore();
    }
    pipeline.exec_async(&mut connection).await.unwrap();
    server.kill();
    let restarting = tokio::task::spawn_blocking(move || {
        server.restart().unwrap();
        server
    });
    let loading = "Redis is loading its data (LOADING)";
    let is_loading = || async {
        // Away or loading, and never empty.
        reason(scene.store.load(&scene.id, None).await) == loading
    };
    wait_until_async(PATIENCE, is_loading).await.unwrap();
    assert_eq!(reason(scene.store.check_ready().await), loading);
    let _server = restarting.await.unwrap();
    wait_for_readiness(&scene).await;
    let found = scene.load().await.unwrap();
    assert_eq!((found.record, found.stamp), (known.record, known.stamp));
}

async fn make_replica_of_nobody(server: &RedisServer) {
    let mut connection = server.connection().await.unwrap();
    // Nothing listens there, so that the data stays what it is.
    let _: () = ask(&mut connection, &["REPLICAOF", "127.0.0.1", "1"]).await;
}

async fn make_master(server: &RedisServer) {
    let mut connection = server.connection().await.unwrap();
    let _: () = ask(&mut connection, &["REPLICAOF", "NO", "ONE"]).await;
}

async fn newest_client_id(server: &RedisServer) -> u64 {
    let mut connection = server.connection().await.unwrap();
    ask(&mut connection, &["CLIENT", "ID"]).await
}

/// Case C05: the idle connection stays open and would answer READONLY for ever. It is dropped and made anew, so that the next step can find
/// the new master; nothing that a replica has is taken for current, not even by what only reads.
#[tokio::test]
async fn a_master_that_became_a_replica_is_left_and_used_again_as_master_c05() {
    let server = server();
    let scene = scene(RedisConfig::new([server.url()])).await;
    let known = scene.create_members(None).await;
    let begun = scene.begin().await;
    make_replica_of_nobody(&server).await;

    let read_only = "Redis is a replica and can't be written (READONLY); if no failover is under way, give the address of its master";
    let committed = scene.commit(begun.lock, &known, &raised(8)).await;
    assert!(
        matches!(
            &committed,
            Err(CommitError::Store(StoreError::Unavailable { .. }))
        ),
        "{committed:?}"
    );
    assert_eq!(reason(scene.store.begin(&scene.id, None).await), read_only);
    assert_eq!(reason(scene.store.load(&scene.id, None).await), read_only);
    let renewed = scene
        .store
        .renew(&scene.id, &known, &[], known.now.since(known.now))
        .await;
    assert_eq!(reason(renewed), read_only);
    assert_eq!(reason(scene.store.check_ready().await), read_only);
    assert_eq!(
        reason(
            scene
                .store
                .watch_over(known.now.since(known.now), None)
                .await
        ),
        read_only
    );

    let before = newest_client_id(&server).await;
    assert_eq!(reason(scene.store.check_ready().await), read_only);
    let after = newest_client_id(&server).await;
    assert!(
        after > before + 1,
        "connections were made in between: {before} {after}"
    );

    make_master(&server).await;
    wait_for_readiness(&scene).await;
    let found = scene.load().await.unwrap();
    assert_eq!((&found.record, &found.stamp), (&known.record, &known.stamp));
    // The right that the failed commit had could not be given back; it runs out.
    let mut connection = server.connection().await.unwrap();
    let mutex = format!("{}:mutex", support::GROUP);
    assert!(ask::<i64>(&mut connection, &["PTTL", &mutex]).await > 0);
    let _: u64 = ask(&mut connection, &["DEL", &mutex]).await;
    scene.change(&raised(8)).await;
}

/// Case C08: too few replicas is transient as well.
#[tokio::test]
async fn a_master_with_too_few_replicas_is_waited_for_c08() {
    let server = server();
    let scene = scene(RedisConfig::new([server.url()])).await;
    scene.create_members(None).await;
    let mut connection = server.connection().await.unwrap();
    let _: () = ask(
        &mut connection,
        &["CONFIG", "SET", "min-replicas-to-write", "1"],
    )
    .await;
    let few = "Redis has too few replicas to write (NOREPLICAS); bring them back, or lower min-replicas-to-write";
    assert_eq!(reason(scene.store.begin(&scene.id, None).await), few);
    assert_eq!(reason(scene.store.check_ready().await), few);
    let _: () = ask(
        &mut connection,
        &["CONFIG", "SET", "min-replicas-to-write", "0"],
    )
    .await;
    scene.change(&raised(8)).await;
}

/// Case C08: the process is up before its Redis is.
#[tokio::test]
async fn a_redis_that_is_not_there_yet_does_not_keep_the_store_from_opening_c08() {
    let mut server = server();
    server.kill();
    let store = RedisStore::connect(RedisConfig::new([server.url()]))
        .await
        .unwrap();
    assert_eq!(
        reason(store.check_ready().await),
        "Redis refuses connections"
    );
    server.restart().unwrap();
    store.check_ready().await.unwrap();
}

/// Case C08: one node of a cluster dies. What it has is away; the rest goes on, and so does it when it is back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_node_of_a_cluster_takes_only_its_own_groups_away_c08_c13() {
    use store::conformance::{group_id, plain_record};

    let mut cluster = testkit::RedisCluster::start(3).unwrap();
    for node in cluster.nodes() {
        let mut connection = node.connection().await.unwrap();
        let _: () = ask(
            &mut connection,
            &["CONFIG", "SET", "cluster-require-full-coverage", "no"],
        )
        .await;
    }
    let config = RedisConfig::new(cluster.urls()).with_response_timeout(Duration::from_secs(1));
    let store = RedisStore::connect(config).await.unwrap();
    let groups: Vec<_> = (0..24)
        .map(|number| group_id("orders", &format!("group-{number}")))
        .collect();
    for id in &groups {
        let begun = store.begin(id, None).await.unwrap();
        store
            .create(&begun.lock, &plain_record(id, &["a"], None))
            .await
            .unwrap();
        store.release(begun.lock).await;
    }
    cluster.node_mut(1).kill();
    let (mut there, mut away) = (0, 0);
    for id in &groups {
        let slot =
            coordinator_core::routing::redis_slot(id.to_string().replace('/', ":").as_bytes());
        let is_away = (16_384 / 3..2 * 16_384 / 3).contains(&slot.get());
        match store.load(id, None).await {
            Ok(found) => {
                assert!(found.is_some() && !is_away, "{id}");
                there += 1;
            }
            Err(StoreError::Unavailable { .. }) => {
                assert!(is_away, "{id}");
                away += 1;
            }
            Err(error) => panic!("{error:?}"),
        }
    }
    assert!(there > 0 && away > 0, "{there} {away}");
    cluster.node_mut(1).restart().unwrap();
    // It kept nothing but its place, so that what it had is none now; that is its data's loss and not the store's word.
    let answers = || async {
        let mut all = true;
        for id in &groups {
            all &= store.load(id, None).await.is_ok();
        }
        all
    };
    wait_until_async(PATIENCE, answers).await.unwrap();
}
