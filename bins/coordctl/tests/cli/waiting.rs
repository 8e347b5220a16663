//! Waiting for the end of a change, without a terminal: a line on standard error whenever something changed.

use std::time::Duration;

use protocol::MigrationState;
use testkit::RedisServer;

use crate::support::{Coordinator, Ctl, Member, Session, Streams};

/// A stream with three shards, a member that owns them, and records in the last shard that nobody has read.
struct World {
    coordinator: Coordinator,
    streams: Streams,
    ctl: Ctl,
    _member: Member,
    _redis: RedisServer,
}

async fn world() -> World {
    let redis = RedisServer::builder().start().unwrap();
    let coordinator = Coordinator::on(&redis).await;
    let ctl = Ctl::of(&coordinator);
    ctl.run("stream create orders --shards 3").await.printed();
    let member = Member::start(&coordinator, "orders", "orders", "m-1");
    coordinator.settled("orders", "orders", 1).await;
    let mut streams = Streams::of(&redis).await;
    streams.add("orders:2", &["1", "2", "3"]).await;
    World {
        coordinator,
        streams,
        ctl,
        _member: member,
        _redis: redis,
    }
}

const SCALE: &str = "stream scale orders 2 --execute --reason less --wait";
const LOOK: &str =
    "  look at it: coordctl migration show orders reshard-ID, or coordctl watch orders\n";

#[tokio::test]
async fn waiting_names_each_shard_that_is_waited_for_and_ends_with_the_change() {
    let mut world = world().await;
    let mut waiting = world.ctl.begin(SCALE);
    let line = waiting.line().await;
    assert_eq!(line, "orders: 3 → 2 shards, reshard-ID (orders)\n");
    let said = waiting.says("3 unread").await;
    let last = said.last().unwrap();
    assert_eq!(last, "orders: DRAINING: shard 2: 3 unread, owner m-1");
    let read = world.streams.read("orders:2", "orders").await;
    let said = waiting.says("pending").await;
    assert_eq!(said, ["orders: DRAINING: shard 2: 3 pending, owner m-1"]);
    world.streams.acknowledge("orders:2", "orders", &read).await;
    let done = waiting.ended().await;
    assert_eq!(
        (done.code, done.out.as_str()),
        (0, "orders: has 2 shards now, after N s\n")
    );
    assert!(done.err.ends_with("orders: DEPRECATED\n"), "{}", done.err);
}

#[tokio::test]
async fn with_json_the_answer_is_the_wire_shape_with_the_changes_as_they_ended() {
    let mut world = world().await;
    world.streams.finish("orders:2", "orders").await;
    let done = world.ctl.run(&format!("{SCALE} -o json")).await;
    assert_eq!(done.code, 0, "{done:?}");
    let scaled: protocol::StreamScaled = protocol::decode(done.out.as_bytes()).unwrap();
    assert_eq!(scaled.affected_consumer_groups, ["orders"]);
    assert_eq!(scaled.migrations[0].state, MigrationState::Deprecated);
}

#[tokio::test]
async fn ctrl_c_while_waiting_says_that_the_change_goes_on() {
    let world = world().await;
    let mut waiting = world.ctl.begin(SCALE);
    waiting.says("3 unread").await;
    waiting.interrupt();
    let done = waiting.ended().await;
    assert_eq!(done.code, 130, "{done:?}");
    assert_eq!(
        done.err,
        format!("coordctl: interrupted: the change goes on\n{LOOK}")
    );
    let change = world
        .coordinator
        .client
        .migrations("orders", "orders")
        .await;
    assert!(change.unwrap().active_resharding_id.is_some());
}

#[tokio::test]
async fn a_wait_that_was_limited_ends_with_a_code_of_its_own() {
    let world = world().await;
    let done = world
        .ctl
        .run(&format!("{SCALE} --wait-timeout 1s -o json"))
        .await;
    assert_eq!(done.code, 7, "{done:?}");
    let begun: protocol::StreamScaled = protocol::decode(done.out.as_bytes()).unwrap();
    assert_eq!(begun.migrations[0].to_shard_count, 2);
    let last = done.err.lines().last().unwrap();
    let told: serde_json::Value = serde_json::from_str(last).unwrap();
    assert_eq!(told["errorCode"], "TIMED_OUT");
    assert_eq!(told["exitCode"], 7);
    assert_eq!(
        told["message"],
        "waited for 1s, and the change is not through; it goes on"
    );
}

/// Without a terminal nobody waits unless told to, and `--no-wait` is the word for it.
#[tokio::test]
async fn without_a_terminal_nothing_is_waited_for() {
    let world = world().await;
    let printed = world
        .ctl
        .run("stream scale orders 2 --execute --reason less")
        .await
        .printed();
    assert_eq!(
        printed,
        "orders: 3 → 2 shards, reshard-ID (orders)\nlook at it: coordctl migration show orders\n"
    );
}

/// A member that is silent has not seen the new count yet: until then the change is ACTIVE, and can be taken back (rule G8).
#[tokio::test]
async fn g8_a_change_that_is_taken_back_meanwhile_is_told_as_that() {
    let World {
        coordinator,
        ctl,
        _member,
        _redis,
        ..
    } = world().await;
    drop(_member);
    let mut waiting = ctl.begin(SCALE);
    let said = waiting.says("ACTIVE").await;
    assert_eq!(
        said.last().unwrap(),
        "orders: ACTIVE: producers and members are taking it over"
    );
    let mut session = Session::default();
    session
        .run(&ctl, "stream scale orders 4 --execute --reason more")
        .await;
    session.run(&ctl, "stream scale orders 4").await;
    session.run(&ctl, "migration rollback orders").await;
    let back = "migration rollback orders --execute --reason mistaken --wait";
    let done = ctl.run(back).await;
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(
        done.out,
        "orders: back to 3 shards, reshard-ID\norders: has 3 shards again, after N s\n"
    );
    let done = waiting.ended().await;
    assert_eq!(done.code, 1, "{done:?}");
    let last = done.err.lines().last().unwrap();
    assert_eq!(
        last,
        "coordctl: the change was taken back: orders has 3 shards again"
    );
    session.run(&ctl, back).await;
    session.run(&ctl, "migration rollback orders other").await;
    session.compare("rollback");
    let group = coordinator.client.group("orders", "orders").await.unwrap();
    assert_eq!((group.shard_count, group.active_migration), (3, None));
}

/// What is through cannot be taken back (rule G8).
#[tokio::test]
async fn g8_a_change_that_went_too_far_is_not_taken_back() {
    let world = world().await;
    let mut waiting = world.ctl.begin(SCALE);
    waiting.says("3 unread").await;
    let plan = world.ctl.run("migration rollback orders").await.printed();
    let obstacle = "refused as it stands: it is DRAINING in orders, and only what is PREPARING or ACTIVE in every group can be taken back\n";
    assert!(plan.contains(obstacle), "{plan}");
    let back = "migration rollback orders --execute --reason mistaken";
    let said = world.ctl.run(back).await.failed(1);
    assert!(
        said.starts_with("coordctl: ROLLBACK_NOT_ALLOWED: "),
        "{said}"
    );
    assert!(
        said.ends_with("coordctl stream scale orders COUNT\n"),
        "{said}"
    );
}

/// While no coordinator answers, the wait says so and goes on.
#[tokio::test]
async fn a_coordinator_that_is_away_is_waited_for() {
    let world = world().await;
    let mut waiting = world.ctl.begin(SCALE);
    waiting.says("3 unread").await;
    world.coordinator.kill();
    let said = waiting.says("no answer, asking again").await;
    assert!(
        said.last()
            .unwrap()
            .starts_with("orders: DRAINING: no answer"),
        "{said:?}"
    );
    tokio::time::timeout(Duration::from_secs(1), waiting.ended())
        .await
        .unwrap_err();
}
