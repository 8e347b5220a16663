//! What the doctor finds: each kind on a coordinator that has it. What no coordinator has on demand is tested beside the code.

mod members;
mod scene;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use coordinator_core::time::{Millis, Timestamp};
use protocol::ScaleRequest;
use serde_json::Value;
use store::{StoreClock, SystemClock};
use testkit::wait_until_async;

use crate::support::{Coordinator, Ctl, Fake, Member, PATIENCE};
use scene::{Found, Scene};

#[tokio::test]
async fn of_what_is_well_nothing_is_found() {
    let scene = Scene::new().await;
    let _member = Member::start(&scene.coordinator, "orders", "orders", "m-1");
    scene.coordinator.settled("orders", "orders", 1).await;
    let found = scene.doctor().await;
    assert_eq!((found.code, found.findings), (0, vec![]));
    assert_eq!(found.not_checked, Vec::<Value>::new());
    let told = scene.ctl.run("doctor").await.printed();
    assert_eq!(
        told,
        "looked at: 1 coordinator and 1 group; nothing was found\n"
    );
}

#[tokio::test]
async fn a_coordinator_that_is_not_there_and_one_whose_redis_is_gone() {
    let mut scene = Scene::new().await;
    let nowhere = "http://127.0.0.1:1";
    let both = format!("--server {nowhere},{}", scene.coordinator.url);
    let found = Found::by(&scene.ctl, &both).await;
    assert_eq!(
        (found.code, found.one("COORDINATOR_UNREACHABLE").0),
        (1, nowhere)
    );
    scene.redis.kill();
    let found = scene.doctor().await;
    assert_eq!(found.code, 1);
    assert_eq!(
        found.kinds(),
        BTreeSet::from(["COORDINATOR_NOT_READY", "STORE_DOWN"])
    );
    let (_, why) = found.one("COORDINATOR_NOT_READY");
    assert!(
        why.starts_with("/readyz answers 503: STORE_UNAVAILABLE: "),
        "{why}"
    );
    assert!(
        found
            .one("STORE_DOWN")
            .1
            .contains("Redis refuses connections")
    );
    assert_eq!(found.not_checked.len(), 2, "{:?}", found.not_checked);
    let told = scene.ctl.run("doctor").await;
    assert!(
        told.out.starts_with("ERROR COORDINATOR_NOT_READY"),
        "{}",
        told.out
    );
    assert!(
        told.out
            .contains("\n  see: docs/operations.md#coordinator-unreachable\n"),
        "{}",
        told.out
    );
}

/// A coordinator listens on loopback with that password, and can be reached from elsewhere all the same: by a proxy.
#[tokio::test]
async fn the_default_password_where_others_can_use_it() {
    let scene = Scene::new().await;
    let port = scene.coordinator.url.rsplit(':').next().unwrap();
    // Leads to this machine, and is not a name of its loopback.
    let outside = format!("http://0.0.0.0:{port}");
    let found = Found::by(&scene.ctl, &format!("--server {outside}")).await;
    assert_eq!(
        (found.code, found.one("DEFAULT_PASSWORD").0),
        (1, outside.as_str())
    );
}

struct Ahead;

impl StoreClock for Ahead {
    fn now(&self) -> Timestamp {
        SystemClock.now().plus(Millis::new(60_000))
    }
}

#[tokio::test]
async fn clocks_that_are_apart() {
    let coordinator = Coordinator::with_clock(Arc::new(Ahead)).await;
    let ctl = Ctl::of(&coordinator);
    let has_ticked = || async {
        coordinator
            .client
            .health()
            .await
            .unwrap()
            .last_tick_at
            .is_some()
    };
    wait_until_async(PATIENCE, has_ticked).await.unwrap();
    let found = Found::by(&ctl, "").await;
    assert_eq!(found.code, 0, "a warning");
    let (_, what) = found.one("CLOCKS_DIFFER");
    // How far is left out by the tests.
    assert_eq!(what, "the store's clock and this machine's are N s apart");
}

#[tokio::test]
async fn who_may_not_look_is_told_so() {
    let scene = Scene::new().await;
    let url = &scene.coordinator.url;
    // Its address is not known to the test's program, and is told as it is.
    let nobody = Ctl::bare("nowhere").with("COORDCTL_SERVER", url);
    let said = nobody.run("doctor").await.failed(5);
    let advice = format!("\n  log in: coordctl login --server {url} --user NAME");
    assert!(said.contains(&advice), "{said}");
}

/// What was found without being let in is not thrown away.
#[tokio::test]
async fn who_may_not_look_at_groups_still_hears_what_was_found() {
    let scene = Scene::new().await;
    let nowhere = "http://127.0.0.1:1";
    let both = format!("--server {nowhere},{}", scene.coordinator.url);
    let found = Found::by(&Ctl::at(&scene.coordinator.url), &both).await;
    assert_eq!(
        (found.code, found.one("COORDINATOR_UNREACHABLE").0),
        (1, nowhere)
    );
    let unseen = found.not_checked[0].as_str().unwrap();
    assert!(unseen.starts_with("groups, and whether "), "{unseen}");
    assert!(unseen.contains("UNAUTHORIZED"), "{unseen}");
}

/// Another answer than 503 is no readiness either.
#[tokio::test]
async fn readiness_that_can_not_be_asked_for_is_told() {
    let fake = Fake::forbidding("{}", "readyz").await;
    let found = Found::by(&Ctl::at(&fake.url), "").await;
    assert_eq!(found.code, 1);
    let (_, what) = found.one("COORDINATOR_NOT_READY");
    assert!(what.starts_with("/readyz: refused with 403 "), "{what}");
}

/// Case C28: what is not known is not nothing.
#[tokio::test]
async fn c28_a_backlog_that_is_not_known_is_not_taken_for_none() {
    let mut scene = Scene::new().await;
    scene
        .say(&["XGROUP", "DESTROY", "orders:1", "orders"])
        .await;
    let found = scene.doctor().await;
    assert_eq!(
        found.one("NOBODY_READS"),
        (
            "orders/orders",
            "no member lives, and how much is unread or pending is unknown (shard 1)"
        )
    );
    scene
        .say(&["XADD", "orders:0", "*", "field", "value"])
        .await;
    let found = scene.doctor().await;
    let (_, what) = found.one("NOBODY_READS");
    let told =
        "no member lives, and 1 entry is unread or pending; how much more is unknown (shard 1)";
    assert_eq!(what, told);
}

#[tokio::test]
async fn records_that_contradict_the_rules_or_can_not_be_read() {
    let mut scene = Scene::new().await;
    scene.ctl.run("group create orders billing").await.printed();
    scene.ctl.run("group create orders audit").await.printed();
    let _member = Member::start(&scene.coordinator, "orders", "orders", "m-1");
    scene.coordinator.settled("orders", "orders", 1).await;
    scene
        .tamper("orders", |record| {
            record["target"][0]["shards"] = serde_json::json!([0])
        })
        .await;
    scene
        .tamper("billing", |record| record["shardCount"] = 5.into())
        .await;
    scene
        .tamper("audit", |record| record["schemaVersion"] = 9.into())
        .await;
    let found = scene.doctor().await;
    assert_eq!(found.code, 1);
    let (place, what) = found.one("INVARIANT_VIOLATED");
    assert_eq!(place, "orders/orders");
    assert!(what.contains("shard 1"), "{what}");
    let (place, what) = found.one("SHARD_COUNTS_DIFFER");
    assert_eq!(
        (place, what),
        (
            "orders",
            "its groups differ in their shard count (2: orders; 5: billing)"
        )
    );
    let (place, what) = found.one("METADATA_CORRUPT");
    assert_eq!(place, "orders/audit");
    assert!(what.contains("schema version is 9"), "{what}");
}

#[tokio::test]
async fn a_group_that_is_half_made() {
    let mut scene = Scene::new().await;
    scene.say(&["SET", "orders:1", "somebody's"]).await;
    scene.ctl.run("group create orders billing").await;
    let found = scene.doctor().await;
    assert_eq!(
        (found.code, found.one("GROUP_HALF_MADE").0),
        (1, "orders/billing")
    );
}

#[tokio::test]
async fn streams_and_consumer_groups_that_are_missing_or_can_not_be_read() {
    let mut scene = Scene::new().await;
    scene
        .ctl
        .run("stream create bills --shards 1")
        .await
        .printed();
    scene.say(&["DEL", "orders:0"]).await;
    scene
        .say(&["XGROUP", "DESTROY", "orders:1", "orders"])
        .await;
    scene.say(&["SET", "bills:0", "somebody's"]).await;
    let found = scene.doctor().await;
    assert_eq!(found.code, 1);
    assert_eq!(found.one("STREAM_MISSING").0, "orders/orders orders:0");
    assert_eq!(
        found.one("CONSUMER_GROUP_MISSING").0,
        "orders/orders orders:1"
    );
    let (place, what) = found.one("SHARD_UNREADABLE");
    assert_eq!(place, "bills/bills bills:0");
    assert!(what.contains("WRONGTYPE"), "{what}");
}

/// Cases C25 and C30, and records that wait for somebody.
#[tokio::test]
async fn entries_that_are_lost_not_counted_or_not_read() {
    let mut scene = Scene::new().await;
    for id in ["1-1", "1-2", "1-3"] {
        scene.say(&["XADD", "orders:0", id, "field", "value"]).await;
    }
    scene.say(&["XDEL", "orders:0", "1-2"]).await;
    let mut keys = redis::cmd("KEYS");
    keys.arg("{orders:1}:*:md");
    let keys: Vec<String> = keys.query_async(&mut scene.connection).await.unwrap();
    // As the group's reader notes it.
    scene.say(&["HSET", &keys[0], "u\u{1f}orders", "7"]).await;
    scene
        .say(&["XADD", "orders:1", "1-1", "field", "value"])
        .await;
    let found = scene.doctor().await;
    assert_eq!(found.code, 0, "{:?}", found.findings);
    assert_eq!(found.one("LAG_UNKNOWN").0, "orders/orders orders:0");
    let (place, what) = found.one("TRIMMED_UNREAD");
    assert_eq!(
        (place, what),
        (
            "orders/orders orders:1",
            "7 entries were trimmed before this group had read them"
        )
    );
    let (place, what) = found.one("NOBODY_READS");
    assert_eq!(place, "orders/orders");
    assert!(what.starts_with("no member lives, and "), "{what}");
}

#[tokio::test]
async fn a_change_that_stands_still_and_why() {
    let mut scene = Scene::new().await;
    scene
        .say(&["XADD", "orders:1", "1-1", "field", "value"])
        .await;
    let request = ScaleRequest {
        target_shard_count: 1,
        requested_by: "test".to_owned(),
        reason: "to see".to_owned(),
        deprecated_after: None,
    };
    scene
        .coordinator
        .client
        .scale_stream("orders", &request)
        .await
        .unwrap();
    assert!(
        !scene.doctor().await.kinds().contains("CHANGE_STANDS_STILL"),
        "it has time"
    );
    let stands = || async {
        let found = Found::by(&scene.ctl, "--stuck-after 1ms").await;
        found
            .findings
            .iter()
            .any(|it| it["what"].as_str().unwrap().contains("UNREAD"))
    };
    wait_until_async(Duration::from_secs(20), stands)
        .await
        .unwrap();
    let found = Found::by(&scene.ctl, "--stuck-after 1ms").await;
    let (place, what) = found.one("CHANGE_STANDS_STILL");
    assert_eq!((found.code, place), (0, "orders/orders"));
    assert!(
        what.starts_with("2 → 1 shards is DRAINING since "),
        "{what}"
    );
    assert!(what.contains("shard 1 of orders: UNREAD"), "{what}");
}

/// A user of Redis from before there were indexes: all goes on, and costs more.
#[tokio::test]
async fn an_index_that_is_refused_is_found() {
    let mut scene = Scene::new().await;
    let rights = "ACL SETUSER default resetkeys ~redis-stream:* ~orders:* ~{orders:* ~ready";
    scene.say(&rights.split(' ').collect::<Vec<_>>()).await;
    let is_found = || async {
        let found = Found::by(&scene.ctl, "--count-for 1ms").await;
        found.kinds().contains("INDEX_NOT_ANSWERING")
    };
    wait_until_async(PATIENCE, is_found).await.unwrap();
    let found = Found::by(&scene.ctl, "--count-for 1ms").await;
    assert_eq!(found.code, 0);
    let told = found.findings.iter();
    let told = told.filter(|it| it["kind"] == "INDEX_NOT_ANSWERING");
    let what: Vec<&str> = told.map(|it| it["what"].as_str().unwrap()).collect();
    let wanted = "the index of due fails again and again, and is left alone";
    assert!(what.contains(&wanted), "{what:?}");
    scene.ctl.run("group list").await.printed();
}
