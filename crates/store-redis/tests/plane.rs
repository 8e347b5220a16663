//! The shard streams on a real Redis and a real cluster: made once, finished if half made, and never taken from anybody else.
#![allow(clippy::unwrap_used)]

mod support;

use coordinator_core::names::{ConsumerGroup, StreamPrefix};
use coordinator_core::numbers::ShardCount;
use coordinator_core::shard_set::ShardSet;
use redis::aio::MultiplexedConnection;
use store::{PlaneError, Provision, Provisioned, ShardPlane};
use store_redis::{RedisConfig, RedisPlane};
use support::{ask, server};
use testkit::{RedisCluster, RedisServer};

fn orders() -> StreamPrefix {
    StreamPrefix::parse("orders").unwrap()
}

fn groups(names: &[&str]) -> Vec<ConsumerGroup> {
    names
        .iter()
        .map(|name| ConsumerGroup::parse(name).unwrap())
        .collect()
}

/// Whether a failure may pass by itself.
fn retryable<T: std::fmt::Debug>(outcome: Result<T, PlaneError>) -> bool {
    match outcome {
        Err(PlaneError::Failed { retryable, .. }) => retryable,
        other => panic!("it did not fail: {other:?}"),
    }
}

/// Makes shards as they are seen now.
async fn provision(
    plane: &RedisPlane,
    shards: u32,
    names: &[&str],
) -> Result<Provisioned, PlaneError> {
    let shards: ShardSet = ShardCount::new(shards).shards().collect();
    let order = Provision {
        seen: plane.lives(&orders(), &shards).await?,
        stream: orders(),
        shards,
        groups: groups(names),
        new_group: None,
        origin: "test".to_owned(),
    };
    plane.provision(&order).await
}

async fn plane(server: &RedisServer) -> (RedisPlane, MultiplexedConnection) {
    let plane = RedisPlane::connect(RedisConfig::new([server.url()]))
        .await
        .unwrap();
    (plane, server.connection().await.unwrap())
}

/// The names of the groups of a stream, and from where each reads.
async fn groups_of(connection: &mut MultiplexedConnection, key: &str) -> Vec<(String, String)> {
    use std::collections::HashMap;
    let rows: Vec<HashMap<String, redis::Value>> = ask(connection, &["XINFO", "GROUPS", key]).await;
    let text = |row: &HashMap<String, redis::Value>, name: &str| {
        redis::from_redis_value::<String>(row[name].clone()).unwrap()
    };
    rows.iter()
        .map(|row| (text(row, "name"), text(row, "last-delivered-id")))
        .collect()
}

/// Case C02: from the first entry on, so that nothing published early is skipped.
#[tokio::test]
async fn every_shard_is_made_with_every_group_from_the_first_entry_c02() {
    let server = server();
    let (plane, mut connection) = plane(&server).await;
    let shards = ShardCount::new(130);
    plane.check_ready().await.unwrap();
    plane.check_vacant(&orders(), shards).await.unwrap();
    let names = ["billing", "a b:c%ü"];
    provision(&plane, shards.get(), &names).await.unwrap();
    for shard in 0..130 {
        let found = groups_of(&mut connection, &format!("orders:{shard}")).await;
        let expected = ["a b:c%ü", "billing"].map(|name| (name.to_owned(), "0-0".to_owned()));
        assert_eq!(found, expected);
    }
    assert_eq!(ask::<u64>(&mut connection, &["DBSIZE"]).await, 5 * 130);
    provision(&plane, 0, &names).await.unwrap();
    assert_eq!(ask::<u64>(&mut connection, &["DBSIZE"]).await, 5 * 130);
}

/// What is there already stays as it is, entries and positions included.
#[tokio::test]
async fn a_half_done_provisioning_is_finished_by_repeating_it() {
    let server = server();
    let (plane, mut connection) = plane(&server).await;
    let shards = ShardCount::new(5);
    provision(&plane, 2, &["billing"]).await.unwrap();
    let _: String = ask(
        &mut connection,
        &["XADD", "orders:0", "5-1", "key", "value"],
    )
    .await;
    let _: () = ask(
        &mut connection,
        &["XGROUP", "SETID", "orders:0", "billing", "5-1"],
    )
    .await;
    for _ in 0..2 {
        provision(&plane, shards.get(), &["billing", "audit"])
            .await
            .unwrap();
    }
    let found = groups_of(&mut connection, "orders:0").await;
    assert_eq!(
        found,
        [("audit", "0-0"), ("billing", "5-1")].map(|(name, id)| (name.to_owned(), id.to_owned()))
    );
    assert_eq!(ask::<u64>(&mut connection, &["XLEN", "orders:0"]).await, 1);
    for shard in 1..5 {
        assert_eq!(
            groups_of(&mut connection, &format!("orders:{shard}"))
                .await
                .len(),
            2
        );
    }
}

/// Keys of others are named, and nothing is written.
#[tokio::test]
async fn keys_of_somebody_else_are_named_and_nothing_is_written() {
    let server = server();
    let (plane, mut connection) = plane(&server).await;
    let _: () = ask(&mut connection, &["SET", "orders:3", "mine"]).await;
    let _: String = ask(
        &mut connection,
        &["XADD", "orders:199", "*", "key", "value"],
    )
    .await;
    let _: () = ask(
        &mut connection,
        &["SET", "orders:300", "beyond the last shard"],
    )
    .await;
    let refused = plane.check_vacant(&orders(), ShardCount::new(300)).await;
    let named = matches!(&refused, Err(PlaneError::ForeignKeys { keys }) if *keys == ["orders:3", "orders:199"]);
    assert!(named, "{refused:?}");
    assert_eq!(ask::<u64>(&mut connection, &["DBSIZE"]).await, 3);
    plane
        .check_vacant(&orders(), ShardCount::new(3))
        .await
        .unwrap();
}

/// Many keys of others are told by a few of them.
#[tokio::test]
async fn of_many_foreign_keys_a_few_are_named() {
    let server = server();
    let (plane, mut connection) = plane(&server).await;
    for shard in 0..150 {
        let _: () = ask(
            &mut connection,
            &["SET", &format!("orders:{shard}"), "mine"],
        )
        .await;
    }
    let refused = plane.check_vacant(&orders(), ShardCount::new(150)).await;
    let named = matches!(&refused, Err(PlaneError::ForeignKeys { keys }) if keys.len() == 10 && keys[0] == "orders:0");
    assert!(named, "{refused:?}");
}

/// A key that is no stream, found while the streams are made, stays what it is.
#[tokio::test]
async fn a_key_that_is_no_stream_is_named_and_left_alone() {
    let server = server();
    let (plane, mut connection) = plane(&server).await;
    let _: () = ask(&mut connection, &["SET", "orders:2", "mine"]).await;
    let refused = provision(&plane, 4, &["billing"]).await;
    let named = matches!(&refused, Err(PlaneError::ForeignKeys { keys }) if *keys == ["orders:2"]);
    assert!(named, "{refused:?}");
    assert_eq!(
        ask::<String>(&mut connection, &["GET", "orders:2"]).await,
        "mine"
    );
}

/// The shards lie on all nodes, so that every command is sent to the right one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_shards_of_a_cluster_lie_on_all_its_nodes_c13() {
    let cluster = RedisCluster::start(3).unwrap();
    let plane = RedisPlane::connect(RedisConfig::new(cluster.urls()))
        .await
        .unwrap();
    let shards = ShardCount::new(250);
    plane.check_ready().await.unwrap();
    plane.check_vacant(&orders(), shards).await.unwrap();
    for _ in 0..2 {
        provision(&plane, shards.get(), &["billing"]).await.unwrap();
    }
    let mut all = 0;
    for node in cluster.nodes() {
        let mut connection = node.connection().await.unwrap();
        let count: u64 = ask(&mut connection, &["DBSIZE"]).await;
        assert!(count > 0);
        all += count;
    }
    assert_eq!(all, 5 * 250);
    let refused = plane.check_vacant(&orders(), shards).await;
    assert!(
        matches!(refused, Err(PlaneError::ForeignKeys { .. })),
        "{refused:?}"
    );
}

/// Cases C08 and C11: what may succeed later is told from what will not.
#[tokio::test]
async fn failures_say_whether_to_try_again_c08_c11() {
    let mut server = server();
    let (plane, mut connection) = plane(&server).await;
    let words = [
        "ACL", "SETUSER", "carol", "on", ">pw", "~*", "+@all", "-xgroup",
    ];
    let _: () = ask(&mut connection, &words).await;
    let config = RedisConfig::new([format!("redis://carol:pw@{}/", server.address())]);
    let denied = RedisPlane::connect(config).await.unwrap();
    let outcome = provision(&denied, 1, &["billing"]).await;
    assert!(
        outcome.as_ref().unwrap_err().to_string().contains("XGROUP"),
        "{outcome:?}"
    );
    assert!(!retryable(outcome));

    let _: () = ask(&mut connection, &["REPLICAOF", "127.0.0.1", "1"]).await;
    assert!(retryable(plane.check_ready().await));
    let _: () = ask(&mut connection, &["REPLICAOF", "NO", "ONE"]).await;
    plane.check_ready().await.unwrap();

    server.kill();
    assert!(retryable(plane.check_ready().await));
    assert!(retryable(
        plane.check_vacant(&orders(), ShardCount::new(1)).await
    ));
    let outcome = provision(&plane, 1, &["billing"]).await;
    assert!(retryable(outcome));
    server.restart().unwrap();
    provision(&plane, 1, &["billing"]).await.unwrap();
}

/// Case C11: a user that has the keys of the shards and not those beside them is told which keys it lacks, and how they are given.
#[tokio::test]
async fn the_keys_that_a_user_lacks_for_a_new_stream_are_named_as_on_the_page_c11() {
    let server = server();
    let mut connection = server.connection().await.unwrap();
    let words = [
        "ACL",
        "SETUSER",
        "u",
        "on",
        ">p",
        "~orders:*",
        "~ready",
        "+@all",
    ];
    let _: String = ask(&mut connection, &words).await;
    let url = format!("redis://u:p@{}/", server.address());
    let plane = RedisPlane::connect(RedisConfig::new([url])).await.unwrap();
    let Err(PlaneError::Failed {
        reason,
        retryable: false,
        ..
    }) = provision(&plane, 1, &["orders"]).await
    else {
        panic!("it lacks keys");
    };
    for part in [
        "EVALSHA (open) on orders:0 or {orders:0}:*",
        "ACL SETUSER USER '~orders:*' '~{orders:*'",
        "docs/operations.md#permissions",
    ] {
        assert!(reason.contains(part), "{reason}");
    }
    // What the message says helps.
    let words = ["ACL", "SETUSER", "u", "~orders:*", "~{orders:*"];
    let _: String = ask(&mut connection, &words).await;
    provision(&plane, 1, &["orders"]).await.unwrap();
}
