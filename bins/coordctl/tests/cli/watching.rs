//! Watching without a terminal: a line for each change, until Ctrl-C.

use protocol::{Group, GroupChanged, decode};

use testkit::wait_until;

use crate::support::{Coordinator, Ctl, Fake, Member, PATIENCE};

#[tokio::test]
async fn a_group_is_told_at_once_and_with_each_change_until_ctrl_c() {
    let coordinator = Coordinator::in_memory().await;
    let ctl = Ctl::of(&coordinator);
    ctl.run("stream create orders --shards 2").await.printed();
    let mut watching = ctl.begin("watch orders");
    assert_eq!(
        watching.line().await,
        "TIME  orders/orders  EMPTY  version 1, 2 shards, 0 members\n"
    );
    let _member = Member::start(&coordinator, "orders", "orders", "m-1");
    let mut line = watching.line().await;
    while !line.contains("STABLE") {
        line = watching.line().await;
    }
    assert!(line.ends_with("2 shards, 1 member\n"), "{line}");
    watching.interrupt();
    let done = watching.ended().await;
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{done:?}");
}

#[tokio::test]
async fn all_groups_are_watched_and_those_that_go_are_told() {
    let coordinator = Coordinator::in_memory().await;
    let ctl = Ctl::of(&coordinator);
    ctl.run("stream create orders --shards 2").await.printed();
    let mut watching = ctl.begin("watch --interval 50ms -o json");
    let group: Group = decode(watching.line().await.as_bytes()).unwrap();
    assert_eq!(group.stream_prefix, "orders");
    ctl.run("stream create letters --shards 1").await.printed();
    let group: Group = decode(watching.line().await.as_bytes()).unwrap();
    assert_eq!(group.stream_prefix, "letters");
    ctl.run("stream delete letters --execute --reason done")
        .await
        .printed();
    let gone: GroupChanged = decode(watching.line().await.as_bytes()).unwrap();
    assert_eq!((gone.stream_prefix.as_str(), gone.state), ("letters", None));
    watching.interrupt();
    assert_eq!(watching.ended().await.code, 0);
}

#[tokio::test]
async fn the_watch_of_one_group_ends_with_the_group() {
    let coordinator = Coordinator::in_memory().await;
    let ctl = Ctl::of(&coordinator);
    ctl.run("stream create orders --shards 2").await.printed();
    let mut watching = ctl.begin("watch orders");
    watching.line().await;
    ctl.run("group delete orders orders --execute --reason done")
        .await
        .printed();
    let done = watching.ended().await;
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    assert_eq!(done.out, "TIME  orders/orders  gone\n");
    let said = ctl.run("watch orders").await.failed(3);
    assert!(said.starts_with("coordctl: GROUP_NOT_FOUND: "), "{said}");
}

#[tokio::test]
async fn a_coordinator_that_goes_away_is_said_once_and_asked_again() {
    let coordinator = Coordinator::in_memory().await;
    let ctl = Ctl::of(&coordinator);
    ctl.run("stream create orders --shards 2").await.printed();
    let mut watching = ctl.begin("watch orders --interval 50ms");
    watching.line().await;
    coordinator.kill();
    let said = watching.says("no answer, asking again").await;
    assert_eq!(said.len(), 1, "{said:?}");
    watching.interrupt();
    let done = watching.ended().await;
    assert_eq!(done.code, 0);
    assert!(done.err.lines().count() <= 1, "{}", done.err);
}

/// Where members must prove who they are, an operator may look and may not watch.
#[tokio::test]
async fn who_may_not_watch_looks_at_intervals() {
    let (_, body) = Fake::fixture("group.full").await;
    let fake = Fake::forbidding(body, "/watch").await;
    let ctl = Ctl::at(&fake.url);
    let mut watching = ctl.begin("watch p g --interval 50ms");
    let line = watching.line().await;
    assert_eq!(
        line,
        "TIME  orders/billing  RECONCILING  version 34, 8 shards, 2 members, PREPARING 8 → 16\n"
    );
    let looks = || {
        let asked = fake.asked();
        asked
            .iter()
            .filter(|line| line.ends_with("/groups/g"))
            .count()
            >= 3
    };
    wait_until(PATIENCE, looks).await.unwrap();
    watching.interrupt();
    let done = watching.ended().await;
    assert_eq!(
        (done.code, done.out.as_str(), done.err.as_str()),
        (0, "", "")
    );
}
