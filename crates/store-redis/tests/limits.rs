//! A Redis that is full, and users that may not do everything. Cases C09 and C11.
#![allow(clippy::unwrap_used)]

mod support;

use coordinator_core::time::Millis;
use redis::aio::MultiplexedConnection;
use store::conformance::{Scene, plain_record};
use store::{
    CommitError, CreateError, Eviction, GroupStore, Readiness, Renewed, ShardPlane, StoreError,
};
use store_redis::{ConnectError, RedisConfig, RedisPlane, RedisStore};
use support::{ask, raised, scene, server, stored};
use testkit::RedisServer;

const FULL: &str = "Redis has reached its memory limit (OOM); give it more memory, or make room";

/// Makes a server as full as one can be, or gives it room again.
async fn set_full(connection: &mut MultiplexedConnection, full: bool) {
    let limit = if full { "1" } else { "0" };
    let _: () = ask(connection, &["CONFIG", "SET", "maxmemory", limit]).await;
}

fn is_full(error: &StoreError) -> bool {
    matches!(error, StoreError::Unavailable { reason, .. } if reason == FULL)
}

/// Case C09: writes are refused with a reason of their own and nothing is half written; members keep their leases, and what frees memory
/// works.
#[tokio::test]
async fn a_full_redis_refuses_writes_as_a_whole_and_renews_leases_c09() {
    let server = server();
    let scene = scene(RedisConfig::new([server.url()])).await;
    let deadline = scene.now().await.plus(Millis::new(1_000));
    scene.create_members(Some(deadline)).await;
    let begun = scene.begin().await;
    let known = begun.snapshot.clone().unwrap();
    let mut connection = server.connection().await.unwrap();
    set_full(&mut connection, true).await;
    let before = stored(&mut connection).await;

    let refused = scene.commit(begun.lock, &known, &raised(8)).await;
    assert!(
        matches!(&refused, Err(CommitError::Store(error)) if is_full(error)),
        "{refused:?}"
    );
    assert_eq!(
        stored(&mut connection).await,
        before,
        "not a byte has changed"
    );
    let mutex = format!("{}:mutex", support::GROUP);
    assert_eq!(
        ask::<u64>(&mut connection, &["EXISTS", &mutex]).await,
        0,
        "the right was given back"
    );
    let refused = scene.store.begin(&scene.id, None).await;
    assert!(
        matches!(&refused, Err(error) if is_full(error)),
        "{refused:?}"
    );

    assert_eq!(scene.load().await.unwrap().stamp, known.stamp);
    let renewed = scene.renew(&known, &["a", "b"], Millis::new(15_000)).await;
    assert!(matches!(renewed, Renewed::Ok { .. }), "{renewed:?}");
    scene
        .store
        .watch_over(Millis::new(1_000), None)
        .await
        .unwrap();
    let plane = RedisPlane::open(RedisConfig::new([server.url()])).unwrap();
    for (full, expected) in [(true, Readiness::Full), (false, Readiness::Ready)] {
        set_full(&mut connection, full).await;
        assert_eq!(scene.store.check_ready().await.unwrap(), expected);
        assert_eq!(plane.check_ready().await.unwrap(), expected);
    }
    scene.change(&raised(8)).await;
}

/// Case C09: a creation is refused as a whole, too; what is left in the directory names no group and does no harm.
#[tokio::test]
async fn a_full_redis_creates_no_half_group_c09() {
    let server = server();
    let scene = scene(RedisConfig::new([server.url()])).await;
    let begun = scene.begin().await;
    let mut connection = server.connection().await.unwrap();
    set_full(&mut connection, true).await;
    let record = plain_record(&scene.id, &["a"], None);
    let refused = scene.store.create(&begun.lock, &record).await;
    assert!(
        matches!(&refused, Err(CreateError::Store(error)) if is_full(error)),
        "{refused:?}"
    );
    assert_eq!(scene.load().await, None);
    set_full(&mut connection, false).await;
    scene.store.release(begun.lock).await;
    scene.create(&record).await;
}

/// Case C09: anything but noeviction is told, for it loses groups and streams.
#[tokio::test]
async fn an_eviction_policy_that_loses_keys_is_told_c09() {
    for (policy, loses) in [
        ("noeviction", false),
        ("allkeys-lru", true),
        ("volatile-ttl", true),
    ] {
        let server = RedisServer::builder()
            .max_memory("100mb", policy)
            .start()
            .unwrap();
        let store = support::open(&server).await;
        let plane = RedisPlane::open(RedisConfig::new([server.url()])).unwrap();
        assert_eq!(plane.eviction(), Some(Eviction::Unknown));
        plane.check_ready().await.unwrap();
        for eviction in [store.eviction(), plane.eviction()] {
            let eviction = eviction.unwrap();
            assert_eq!((eviction.policy(), eviction.loses_keys()), (policy, loses));
        }
        // Whoever mends it sees that without a new connection.
        let mut connection = server.connection().await.unwrap();
        let mend = ["CONFIG", "SET", "maxmemory-policy", "noeviction"];
        let _: () = ask(&mut connection, &mend).await;
        store.check_ready().await.unwrap();
        plane.check_ready().await.unwrap();
        for eviction in [store.eviction(), plane.eviction()] {
            assert_eq!(eviction.unwrap().policy(), "noeviction");
        }
    }
}

/// A user that may do everything but `minus`, on the keys of the store.
async fn url_of_user(server: &RedisServer, minus: &str) -> String {
    let mut connection = server.connection().await.unwrap();
    let all = [
        "ACL",
        "SETUSER",
        "carol",
        "reset",
        "on",
        ">pw",
        "~redis-stream:coord:*",
        "&redis-stream:coord:*",
        "+@all",
    ];
    let words: Vec<&str> = all.into_iter().chain(minus.split(' ')).collect();
    let _: () = ask(&mut connection, &words).await;
    format!("redis://carol:pw@{}/", server.address())
}

fn refusal(error: ConnectError) -> String {
    match error {
        ConnectError::Refused(error) => error.to_string(),
        ConnectError::Config(error) => panic!("{error}"),
    }
}

/// Case C11: whatever is missing is named when the store is opened, by a script that asks before anything is written.
#[tokio::test]
async fn a_missing_permission_is_named_at_the_start_c11() {
    let server = server();
    let commands = [
        "GET", "SET", "DEL", "EXISTS", "HGET", "HMGET", "HSET", "HDEL", "HSCAN", "ZADD", "ZREM",
        "ZRANGE", "ZSCORE", "SADD", "SREM", "SSCAN", "PUBLISH",
    ];
    for command in commands {
        let url = url_of_user(&server, &format!("-{}", command.to_lowercase())).await;
        let error = RedisStore::connect(RedisConfig::new([url]))
            .await
            .unwrap_err();
        let message = refusal(error);
        assert!(
            message.contains(&format!("may not run {command} on redis-stream:coord:")),
            "{message}"
        );
        assert!(!message.contains("pw"));
    }
    let url = url_of_user(&server, "-evalsha").await;
    let message = refusal(
        RedisStore::connect(RedisConfig::new([url]))
            .await
            .unwrap_err(),
    );
    assert!(message.contains("evalsha"), "{message}");
}

/// Case C11: a key or a channel out of reach is named as well.
#[tokio::test]
async fn a_missing_key_permission_is_named_c11() {
    let server = server();
    let url = url_of_user(
        &server,
        "resetkeys ~redis-stream:coord:coordination ~*metadata",
    )
    .await;
    let message = refusal(
        RedisStore::connect(RedisConfig::new([url]))
            .await
            .unwrap_err(),
    );
    assert!(
        message.contains("ZRANGE on redis-stream:coord:{-:-}:leases"),
        "{message}"
    );
    let url = url_of_user(&server, "resetchannels").await;
    let message = refusal(
        RedisStore::connect(RedisConfig::new([url]))
            .await
            .unwrap_err(),
    );
    assert!(
        message.contains("PUBLISH on redis-stream:coord:{-:-}:changed"),
        "{message}"
    );
}

/// Case C11: permissions that go away while the store runs; a commit that lacks one of them writes nothing at all.
#[tokio::test]
async fn a_permission_that_goes_away_stops_a_commit_as_a_whole_c11() {
    let server = server();
    let url = url_of_user(&server, "-@dangerous +info").await;
    let scene: Scene = scene(RedisConfig::new([url])).await;
    let known = scene.create_members(None).await;
    let mut connection = server.connection().await.unwrap();
    for (command, change) in [
        ("ZADD", "-zadd"),
        ("HSET", "-hset"),
        ("PUBLISH", "-publish"),
    ] {
        let begun = scene.begin().await;
        let before = stored(&mut connection).await;
        let _: () = ask(&mut connection, &["ACL", "SETUSER", "carol", change]).await;
        let refused = scene.commit(begun.lock, &known, &raised(8)).await;
        let named = matches!(
            &refused,
            Err(CommitError::Store(StoreError::Refused { reason, .. })) if reason.contains(command)
        );
        assert!(named, "{refused:?}");
        assert_eq!(
            stored(&mut connection).await,
            before,
            "not a byte has changed"
        );
        let back = change.replace('-', "+");
        let _: () = ask(&mut connection, &["ACL", "SETUSER", "carol", &back]).await;
    }
    scene.change(&raised(8)).await;
}

/// Case C11: who is not let in is told so at once, and never with the password.
#[tokio::test]
async fn a_wrong_password_is_refused_at_the_start_c11() {
    let server = server();
    let mut connection = server.connection().await.unwrap();
    let _: () = ask(&mut connection, &["CONFIG", "SET", "requirepass", "right"]).await;
    let address = server.address();
    for url in [
        format!("redis://:wr0ng@{address}/"),
        format!("redis://nobody:wr0ng@{address}/"),
        format!("redis://{address}/"),
    ] {
        let config = RedisConfig::new([url]);
        let message = refusal(RedisStore::connect(config.clone()).await.unwrap_err());
        assert!(
            message.contains("password") && !message.contains("wr0ng"),
            "{message}"
        );
        assert!(matches!(
            RedisPlane::connect(config).await,
            Err(ConnectError::Refused(_))
        ));
    }
    let store = RedisStore::connect(RedisConfig::new([format!("redis://:right@{address}/")]))
        .await
        .unwrap();
    store.check_ready().await.unwrap();
}
