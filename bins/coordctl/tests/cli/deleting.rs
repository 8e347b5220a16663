//! What a deletion leaves behind, and what is said of it.

use redis::aio::MultiplexedConnection;
use testkit::RedisServer;

use crate::support::{Coordinator, Ctl};

async fn keys(connection: &mut MultiplexedConnection, pattern: &str) -> Vec<String> {
    let mut command = redis::cmd("KEYS");
    command.arg(pattern).query_async(connection).await.unwrap()
}

async fn drop_all(connection: &mut MultiplexedConnection, keys: &[String]) {
    let mut command = redis::cmd("DEL");
    command.arg(keys).exec_async(connection).await.unwrap();
}

/// The name is free once the streams and what is beside them are gone, and not before.
#[tokio::test]
async fn what_is_said_to_stay_is_what_keeps_the_name_from_being_used() {
    let redis = RedisServer::builder().start().unwrap();
    let coordinator = Coordinator::on(&redis).await;
    let ctl = Ctl::of(&coordinator);
    ctl.run("stream create orders --shards 2").await.printed();
    let plan = ctl.run("stream delete orders").await.printed();
    let done = ctl
        .run("stream delete orders --execute --reason done")
        .await
        .printed();
    for told in [plan, done] {
        assert!(
            told.contains("what is in Redis stays: orders:0 … orders:1, and beside them {orders:0}:* … {orders:1}:*; "),
            "{told}"
        );
        assert!(told.contains("docs/operations.md#deleting"), "{told}");
    }
    let mut connection = redis.connection().await.unwrap();
    let streams = ["orders:0".to_owned(), "orders:1".to_owned()];
    drop_all(&mut connection, &streams).await;
    let said = ctl.run("stream create orders --shards 2").await.failed(4);
    assert!(said.contains("{orders:0}:lc"), "{said}");
    assert!(said.contains("docs/operations.md#deleting"), "{said}");
    for shard in streams {
        let beside = keys(&mut connection, &format!("{{{shard}}}:*")).await;
        drop_all(&mut connection, &beside).await;
    }
    ctl.run("stream create orders --shards 2").await.printed();
}

/// Who deletes one group is told the same afterwards as before.
#[tokio::test]
async fn what_stays_of_a_single_group_is_said_when_it_is_deleted() {
    let redis = RedisServer::builder().start().unwrap();
    let coordinator = Coordinator::on(&redis).await;
    let ctl = Ctl::of(&coordinator);
    ctl.run("stream create orders --shards 2").await.printed();
    ctl.run("group create orders billing").await.printed();
    for (group, stays) in [
        (
            "billing",
            "the consumer group stays on orders:0 … orders:1, and holds up every later scale-in until redis-cli XGROUP DESTROY drops it on each",
        ),
        ("orders", "what is in Redis stays: orders:0 … orders:1, "),
    ] {
        let line = format!("group delete orders {group}");
        let plan = ctl.run(&line).await.printed();
        assert!(plan.contains(&format!("note: {stays}")), "{plan}");
        let done = ctl
            .run(&format!("{line} --execute --reason done"))
            .await
            .printed();
        assert!(
            done.starts_with(&format!("orders/{group}: deleted\n{stays}")),
            "{done}"
        );
    }
}

/// Shards that are on their way out still have their keys.
#[tokio::test]
async fn shards_that_are_still_leaving_are_among_what_stays() {
    let redis = RedisServer::builder().start().unwrap();
    let coordinator = Coordinator::on(&redis).await;
    let ctl = Ctl::of(&coordinator);
    ctl.run("stream create orders --shards 3").await.printed();
    let mut connection = redis.connection().await.unwrap();
    let mut add = redis::cmd("XADD");
    add.arg("orders:2").arg("*").arg("total").arg("1");
    let _id: String = add.query_async(&mut connection).await.unwrap();
    ctl.run("stream scale orders 1 --execute --reason less")
        .await
        .printed();
    let plan = ctl.run("stream delete orders").await.printed();
    assert!(plan.contains("orders:0 … orders:2"), "{plan}");
    assert_eq!(keys(&mut connection, "orders:2").await.len(), 1);
    let of_one = ctl.run("group delete orders orders").await.printed();
    assert!(of_one.contains("orders:0 … orders:2"), "{of_one}");
}

/// Where there are no streams nothing is said of them.
#[tokio::test]
async fn a_coordinator_without_streams_leaves_nothing_behind() {
    let coordinator = Coordinator::in_memory().await;
    let ctl = Ctl::of(&coordinator);
    ctl.run("stream create orders --shards 2").await.printed();
    let plan = ctl.run("stream delete orders").await.printed();
    assert!(!plan.contains("stays"), "{plan}");
    let done = ctl
        .run("stream delete orders --execute --reason done")
        .await
        .printed();
    assert_eq!(done, "orders/orders: deleted\n");
    ctl.run("stream create orders --shards 2").await.printed();
}
