//! On a terminal: colours, drawing in place, and a bar that names what is waited for.

use testkit::RedisServer;

use crate::support::{Coordinator, Ctl, Member, Streams, Terminal, heartbeat};

/// What makes a terminal go up a line, and forget what is below.
const UP: &str = "\u{1b}[4A";
const FORGET: &str = "\u{1b}[0J";

#[tokio::test]
async fn a_watch_is_drawn_in_place_and_ctrl_c_ends_it() {
    let coordinator = Coordinator::in_memory().await;
    let ctl = Ctl::of(&coordinator);
    ctl.run("stream create orders --shards 2").await.printed();
    let mut terminal = Terminal::begin(&ctl, "watch orders --interval 50ms");
    terminal
        .shows(&["the group has no member", UP, FORGET])
        .await;
    let _member = Member::start(&coordinator, "orders", "orders", "m-1");
    terminal.shows(&["STABLE", "m-1", "0-1"]).await;
    terminal.interrupt();
    assert_eq!(terminal.ended().await, Some(0));
}

#[tokio::test]
async fn colours_are_for_terminals_that_want_them() {
    let coordinator = Coordinator::in_memory().await;
    let ctl = Ctl::of(&coordinator);
    ctl.run("stream create orders --shards 2").await.printed();
    let mut terminal = Terminal::begin(&ctl, "group list");
    terminal.shows(&["orders", "\u{1b}["]).await;
    assert_eq!(terminal.ended().await, Some(0));
    let plain = ctl.with("NO_COLOR", "1");
    let mut terminal = Terminal::begin(&plain, "group list");
    terminal.shows(&["orders"]).await;
    assert_eq!(terminal.ended().await, Some(0));
    assert!(
        !terminal.written().contains('\u{1b}'),
        "{}",
        terminal.written()
    );
    let mut terminal = Terminal::begin(&plain, "group list -o json");
    terminal.shows(&["  \"groups\": ["]).await;
    assert_eq!(terminal.ended().await, Some(0));
}

#[tokio::test]
async fn a_change_is_followed_without_being_told_to_and_the_bar_names_what_it_waits_for() {
    let redis = RedisServer::builder().start().unwrap();
    let coordinator = Coordinator::on(&redis).await;
    let ctl = Ctl::of(&coordinator);
    ctl.run("stream create orders --shards 3").await.printed();
    let _member = Member::start(&coordinator, "orders", "orders", "m-1");
    coordinator.settled("orders", "orders", 1).await;
    let mut streams = Streams::of(&redis).await;
    streams.add("orders:2", &["1", "2", "3"]).await;
    let scale = "stream scale orders 1 --execute --reason less";
    let mut terminal = Terminal::begin(&ctl, scale);
    terminal
        .shows(&["DRAINING [", "/2 shards", "shard 2: 3 unread, owner m-1"])
        .await;
    streams.finish("orders:2", "orders").await;
    terminal.shows(&["orders: has 1 shard now, after "]).await;
    assert_eq!(terminal.ended().await, Some(0));
}

/// Nothing happens meanwhile, so that it is said why.
#[tokio::test]
async fn what_the_doctor_waits_for_is_said_on_a_terminal() {
    let coordinator = Coordinator::in_memory().await;
    let ctl = Ctl::of(&coordinator);
    ctl.run("stream create orders --shards 1").await.printed();
    let beat = heartbeat("m-1", 0, 0);
    let client = &coordinator.client;
    client.heartbeat("lost", "lost", &beat).await.unwrap();
    let counting = "heartbeats were refused before: counting for ";
    let mut terminal = Terminal::begin(&ctl, "doctor");
    terminal
        .shows(&[counting, " s whether they still are (--count-for)"])
        .await;
    // As long as members may be silent between two tries, unless it is said how long.
    let written = terminal.written();
    assert!(written.contains("counting for 35 s"), "{written}");
    terminal.interrupt();
    terminal.ended().await;
    let mut terminal = Terminal::begin(&ctl, "doctor --count-for 900ms");
    terminal
        .shows(&["counting for 1 s", "looked at: 1 coordinator and 1 group"])
        .await;
    assert_eq!(terminal.ended().await, Some(0));
    let done = ctl.run("doctor --count-for 1ms").await;
    assert_eq!(done.err, "");
}
