//! The whole life of a stream, as an operator sees it: every output, compared with the session that is kept.

use testkit::{RedisServer, wait_until_async};

use crate::support::{Coordinator, Ctl, Member, PATIENCE, Session, Streams};

#[tokio::test]
async fn a_stream_is_created_looked_at_scaled_and_deleted() {
    let redis = RedisServer::builder().start().unwrap();
    let coordinator = Coordinator::on(&redis).await;
    let mut streams = Streams::of(&redis).await;
    let ctl = Ctl::of(&coordinator);
    let mut session = Session::default();

    let has_worked = || async { ctl.run("health").await.out.contains("last ran") };
    wait_until_async(PATIENCE, has_worked).await.unwrap();
    session.run(&ctl, "health").await;
    session.run(&ctl, "group list").await;
    session.run(&ctl, "stream create orders --shards 3").await;
    session.run(&ctl, "group create orders billing").await;
    session.meanwhile("m-1 joins orders, b-1 joins billing");
    let _members = [
        Member::start(&coordinator, "orders", "orders", "m-1"),
        Member::start(&coordinator, "orders", "billing", "b-1"),
    ];
    coordinator.settled("orders", "orders", 1).await;
    coordinator.settled("orders", "billing", 1).await;
    for line in ["group list", "group show orders", "members orders billing"] {
        session.run(&ctl, line).await;
    }
    for line in [
        "assignments orders",
        "shards orders",
        "shards orders -o wide",
        "migrations orders",
    ] {
        session.run(&ctl, line).await;
    }
    session.meanwhile("two records are added to shard 2; orders has read them and acknowledged none, billing has read none");
    streams.add("orders:2", &["12.50", "7\u{1b}[2J"]).await;
    let read = streams.read("orders:2", "orders").await;
    session.run(&ctl, "lag orders").await;
    session.run(&ctl, "lag orders billing -o wide").await;
    let messages = "messages orders --shard 2";
    session
        .run(&ctl, &format!("{messages} --limit 1 -o wide"))
        .await;
    session
        .run(
            &ctl,
            &format!("{messages} --forward --cursor 1700000000000-1"),
        )
        .await;
    planned(&mut session, &ctl, &coordinator).await;

    let scale = "stream scale orders 2 --execute --reason less";
    session.run(&ctl, scale).await;
    let is_looked_at = || async {
        let shown = ctl.run("migration show orders").await.out;
        shown.contains("orders: 2 pending") && shown.contains("billing: 2 unread")
    };
    wait_until_async(PATIENCE, is_looked_at).await.unwrap();
    session.run(&ctl, "migration show orders").await;
    session.meanwhile("orders acknowledges, billing reads and acknowledges");
    streams.acknowledge("orders:2", "orders", &read).await;
    streams.finish("orders:2", "billing").await;
    let through = || async { ctl.run("migration show orders").await.code == 3 };
    wait_until_async(PATIENCE, through).await.unwrap();
    session.run(&ctl, "migrations orders").await;
    session.run(&ctl, "migration show orders").await;
    session.run(&ctl, scale).await;

    deleted(&mut session, &ctl).await;
    session.run(&ctl, "group list").await;
    let mut audit = ctl.run("audit").await;
    let (heading, rows) = audit.out.split_once('\n').unwrap();
    // How wide the first column is depends on how long ago that was.
    let heading: Vec<&str> = heading.split_whitespace().collect();
    audit.out = format!("{}\n{rows}", heading.join("  "));
    session.note(&ctl, "audit", &audit);
    session.compare("life");
}

/// A plan says what would happen, and nothing happens.
async fn planned(session: &mut Session, ctl: &Ctl, coordinator: &Coordinator) {
    let before = coordinator.seen().await;
    for line in [
        "stream scale orders 2",
        "stream scale orders 5 --plan",
        "stream scale orders 3",
        "group delete orders billing",
        "stream delete orders --force",
    ] {
        assert_eq!(session.run(ctl, line).await.code, 0, "{line}");
    }
    assert_eq!(coordinator.seen().await, before);
}

/// Group by group, and what stands against it is said of each.
async fn deleted(session: &mut Session, ctl: &Ctl) {
    session.meanwhile("a group without a member goes, the others do not");
    for line in [
        "group delete orders billing --execute --reason done",
        "group create orders archive",
        "stream delete orders --execute --reason done",
        "stream delete orders --execute --reason done -o json",
        "group delete orders billing --execute --reason done --force",
        "stream delete orders --execute --reason done",
        "stream delete orders --execute --reason done --force",
    ] {
        session.run(ctl, line).await;
    }
}
