//! Rule C6 on a real Redis: what can't be trusted is not used, not changed and not made anew, and says what is wrong with it.
#![allow(clippy::unwrap_used)]

mod support;

use redis::aio::MultiplexedConnection;
use store::conformance::{Scene, plain_record};
use store::{CreateError, Renewed, Snapshot, StoreError};
use store_redis::RedisConfig;
use support::{GROUP, ask, history, raised, scene, server, stored};
use testkit::RedisServer;

async fn group_on(server: &RedisServer) -> (Scene, Snapshot, MultiplexedConnection) {
    let scene = scene(RedisConfig::new([server.url()])).await;
    let snapshot = scene.create_members(None).await;
    (scene, snapshot, server.connection().await.unwrap())
}

async fn field(connection: &mut MultiplexedConnection, name: &str) -> String {
    ask(connection, &["HGET", &format!("{GROUP}:metadata"), name]).await
}

async fn set(connection: &mut MultiplexedConnection, name: &str, value: &str) {
    let key = format!("{GROUP}:metadata");
    let _: u64 = ask(connection, &["HSET", &key, name, value]).await;
}

fn assert_corrupt<T: std::fmt::Debug>(outcome: Result<T, StoreError>, expected: &str) {
    match outcome {
        Err(StoreError::Corrupt { reason, .. }) => {
            assert!(reason.contains(expected), "{reason} | {expected}");
        }
        other => panic!("it is not told to be corrupt: {other:?}"),
    }
}

/// Nothing that a coordinator does touches the record, and the right to it is free afterwards.
async fn assert_fails_closed(
    scene: &Scene,
    known: &Snapshot,
    connection: &mut MultiplexedConnection,
    expected: &str,
) {
    let before = stored(connection).await;
    assert_corrupt(scene.store.load(&scene.id, None).await, expected);
    assert_corrupt(scene.store.begin(&scene.id, None).await, expected);
    let mutex = format!("{GROUP}:mutex");
    assert_eq!(
        ask::<u64>(connection, &["EXISTS", &mutex]).await,
        0,
        "the right was given back"
    );

    // A right that was taken before the record was spoilt.
    let right = format!("token {}", history(connection).await);
    let _: () = ask(connection, &["SET", &mutex, &right]).await;
    let lock = store::GroupLock {
        group: scene.id.clone(),
        token: store::Etag::from_stored("token"),
    };
    let created = scene
        .store
        .create(&lock, &plain_record(&scene.id, &["x"], None))
        .await;
    assert!(
        matches!(created, Err(CreateError::AlreadyExists)),
        "{created:?}"
    );
    let committed = scene.commit(lock.clone(), known, &raised(100)).await;
    assert!(committed.is_err(), "{committed:?}");
    let _: () = ask(connection, &["SET", &mutex, &right]).await;
    let removed = scene.store.remove(lock, &known.stamp).await;
    assert!(removed.is_err(), "{removed:?}");
    assert_corrupt(
        scene
            .store
            .renew(&scene.id, known, &[], known.now.since(known.now))
            .await,
        expected,
    );
    assert_eq!(stored(connection).await, before, "not a byte has changed");
}

/// Written by a newer program, whose etag is another one.
#[tokio::test]
async fn a_newer_record_is_left_as_it_is_c6() {
    let server = server();
    let (scene, known, mut connection) = group_on(&server).await;
    let aggregate = field(&mut connection, "aggregate").await;
    let newer = aggregate.replace("\"schemaVersion\":1", "\"schemaVersion\":2");
    set(&mut connection, "etag", "of-a-newer-program").await;

    set(&mut connection, "aggregate", &newer).await;
    let inside = "its schema version is 2, this program reads 1";
    assert_fails_closed(&scene, &known, &mut connection, inside).await;
    set(&mut connection, "schemaVersion", "2").await;
    let beside = "its schemaVersion is 2, this program reads 1";
    assert_fails_closed(&scene, &known, &mut connection, beside).await;
    set(&mut connection, "schemaVersion", "1").await;
    set(&mut connection, "layoutVersion", "7").await;
    let layout = "its layoutVersion is 7, this program reads 1";
    assert_fails_closed(&scene, &known, &mut connection, layout).await;
}

#[tokio::test]
async fn a_record_that_can_not_be_read_is_left_as_it_is_c6() {
    let server = server();
    let (scene, known, mut connection) = group_on(&server).await;
    let good = field(&mut connection, "aggregate").await;
    set(&mut connection, "etag", "another").await;
    let table = [
        ("", "it is not JSON"),
        ("{\"schemaVersion\":1", "it is not JSON"),
        ("{}", "it is not JSON of the known form"),
        (
            &good.replace("\"revision\":1", "\"revision\":2"),
            "it says revision 2, and 1 is stored",
        ),
        (
            &good.replace("\"group\":\"billing\"", "\"group\":\"audit\""),
            "it is of group orders/audit",
        ),
        (
            &good.replace("\"groupEpoch\":3", "\"groupEpoch\":2"),
            "no decision could have led to it",
        ),
        (
            &good.replace("\"members\"", "\"membres\""),
            "it is not JSON of the known form",
        ),
    ];
    for (aggregate, expected) in table {
        set(&mut connection, "aggregate", aggregate).await;
        assert_fails_closed(&scene, &known, &mut connection, expected).await;
    }
    let _: u64 = ask(
        &mut connection,
        &["HDEL", &format!("{GROUP}:metadata"), "aggregate"],
    )
    .await;
    assert_fails_closed(
        &scene,
        &known,
        &mut connection,
        "its field aggregate is missing",
    )
    .await;
}

#[tokio::test]
async fn a_record_with_missing_or_odd_fields_is_left_as_it_is_c6() {
    for name in ["etag", "revision", "schemaVersion", "layoutVersion"] {
        let server = server();
        let (scene, known, mut connection) = group_on(&server).await;
        set(&mut connection, "etag", "another").await;
        if name != "etag" {
            set(&mut connection, name, "many").await;
            let odd = format!("its field {name} is \"many\", which is no number");
            assert_fails_closed(&scene, &known, &mut connection, &odd).await;
        }
        let _: u64 = ask(
            &mut connection,
            &["HDEL", &format!("{GROUP}:metadata"), name],
        )
        .await;
        let missing = format!("its field {name} is missing");
        assert_fails_closed(&scene, &known, &mut connection, &missing).await;
    }
}

/// What is known by its etag is not decoded again, and still must agree with what is stored beside the record.
#[tokio::test]
async fn a_known_etag_with_another_revision_is_not_trusted_e1_c6() {
    let server = server();
    let (scene, known, mut connection) = group_on(&server).await;
    set(&mut connection, "revision", "9").await;
    let expected = "its etag is known of revision 1, and revision 9 is stored beside it";
    assert_corrupt(scene.store.load(&scene.id, Some(&known)).await, expected);
    assert_corrupt(scene.store.begin(&scene.id, Some(&known)).await, expected);
    let renewed = scene
        .store
        .renew(&scene.id, &known, &[], known.now.since(known.now))
        .await;
    assert_corrupt(renewed, "it says revision 1, and 9 is stored beside it");
}

#[tokio::test]
async fn a_key_of_another_type_is_left_as_it_is_c6() {
    let server = server();
    let (scene, _, mut connection) = group_on(&server).await;
    let key = format!("{GROUP}:metadata");
    let _: u64 = ask(&mut connection, &["DEL", &key]).await;
    let _: u64 = ask(&mut connection, &["RPUSH", &key, "a list"]).await;
    assert_corrupt(scene.store.load(&scene.id, None).await, "another type");
    assert_corrupt(scene.store.begin(&scene.id, None).await, "another type");
    let mutex = format!("{GROUP}:mutex");
    assert_eq!(ask::<u64>(&mut connection, &["EXISTS", &mutex]).await, 0);
    assert_eq!(
        ask::<String>(&mut connection, &["LINDEX", &key, "0"]).await,
        "a list"
    );
}

/// What nobody can read may be written over by somebody who was told to; nothing of it is left, and the right is free afterwards.
#[tokio::test]
async fn a_record_that_can_not_be_read_is_replaced_c6() {
    let server = server();
    let (scene, known, mut connection) = group_on(&server).await;
    scene
        .renew(&known, &["a"], known.now.since(known.now))
        .await;
    for (field, value) in [
        ("aggregate", "nonsense"),
        ("revision", "x"),
        ("schemaVersion", "99"),
    ] {
        set(&mut connection, field, value).await;
        assert!(scene.store.begin(&scene.id, None).await.is_err());
        let record = plain_record(&scene.id, &["fresh"], None);
        let stamp = scene.store.replace_unreadable(&scene.id, &record).await;
        let found = scene.begin().await.snapshot.unwrap();
        assert_eq!(
            (&*found.record, found.stamp),
            (&record, stamp.unwrap()),
            "{field}"
        );
        let lock = format!("{GROUP}:mutex");
        let _: u64 = ask(&mut connection, &["DEL", &lock]).await;
    }
    let leases: u64 = ask(&mut connection, &["ZCARD", &format!("{GROUP}:leases")]).await;
    assert_eq!(leases, 0, "nothing is inherited");
}

/// A missing record is no record, whatever is left beside it: nothing is rebuilt from leases or progress.
#[tokio::test]
async fn a_lost_record_is_not_rebuilt_from_what_is_left_c6() {
    let server = server();
    let (scene, known, mut connection) = group_on(&server).await;
    scene
        .renew(&known, &["a"], known.now.since(known.now))
        .await;
    let _: u64 = ask(&mut connection, &["DEL", &format!("{GROUP}:metadata")]).await;
    assert_eq!(scene.load().await, None);
    let renewed = scene
        .renew(&known, &["a"], known.now.since(known.now))
        .await;
    assert!(matches!(renewed, Renewed::Gone), "{renewed:?}");
    let recreated = scene.create_members(None).await;
    let leases = recreated
        .record
        .members
        .values()
        .filter_map(|it| it.lease_deadline);
    assert_eq!(leases.count(), 0, "nothing is inherited");
}

/// Progress is for monitoring only: a row that can't be read is left out.
#[tokio::test]
async fn progress_that_can_not_be_read_is_left_out() {
    let server = server();
    let (scene, _, mut connection) = group_on(&server).await;
    let key = format!("{GROUP}:progress");
    let rows = [
        "HSET",
        &key,
        "a",
        "{\"availableConcurrency\":3}",
        "b",
        "nonsense",
        "",
        "{}",
    ];
    let _: u64 = ask(&mut connection, &rows).await;
    let found = scene.store.progress(&scene.id).await.unwrap();
    let found: Vec<_> = found
        .iter()
        .map(|(id, it)| (id.as_str(), it.available_concurrency))
        .collect();
    assert_eq!(found, [("a", 3)]);
}

/// Rule M6: marks that can't be read, or lie in the future, prove no watch.
#[tokio::test]
async fn marks_that_prove_nothing_begin_a_new_watch_m6() {
    let server = server();
    let scene = scene(RedisConfig::new([server.url()])).await;
    let mut connection = server.connection().await.unwrap();
    let gap = coordinator_core::time::Millis::new(600_000);
    let watch = scene.store.watch_over(gap, None).await.unwrap();
    let ahead = (watch.now.as_ms() + 3_600_000).to_string();
    for (field, value) in [
        ("seen", ahead.as_str()),
        ("seen", "soon"),
        ("since", "long ago"),
        ("since", ahead.as_str()),
    ] {
        let before = scene.store.watch_over(gap, None).await.unwrap();
        let key = "redis-stream:coord:coordination";
        let _: u64 = ask(&mut connection, &["HSET", key, field, value]).await;
        let after = scene.store.watch_over(gap, None).await.unwrap();
        assert_eq!(after.since, after.now, "{field} {value}");
        assert!(after.now >= before.now);
    }
}
