//! Members that are cut off, that do not begin, that fight for one name, or that nobody knows.

use protocol::ShardId;
use testkit::wait_until_async;

use super::scene::{Found, Scene};
use crate::support::{Member, PATIENCE, heartbeat};

#[tokio::test]
async fn members_that_were_fenced_expired_or_do_not_begin() {
    let scene = Scene::new().await;
    let joined = scene.beat(&heartbeat("greedy", 0, 0)).await;
    let found = scene.doctor().await;
    let (place, what) = found.one("SHARD_WITHOUT_OWNER");
    assert_eq!(
        (place, what),
        (
            "orders/orders",
            "1 live member, and nobody reports shards 0-1"
        )
    );
    let mut claim = heartbeat("greedy", joined.member_epoch, joined.metadata_version);
    claim.owned_shards = vec![ShardId::new(7)];
    scene.beat(&claim).await;
    for member in ["a", "b", "c"] {
        scene.beat(&heartbeat(member, 0, 0)).await;
    }
    let is_over = || async {
        let found = Found::by(&scene.ctl, "--count-for 1ms").await;
        found.kinds().contains("MEMBERS_EXPIRED")
    };
    wait_until_async(PATIENCE, is_over).await.unwrap();
    let found = Found::by(&scene.ctl, "--count-for 1ms").await;
    assert_eq!(found.code, 0);
    assert_eq!(
        found.one("MEMBER_FENCED"),
        ("orders/orders", "fenced: greedy")
    );
    let (place, what) = found.one("MEMBERS_EXPIRED");
    assert_eq!(
        (place, what),
        ("orders/orders", "3 leases ran out lately: a, b, c")
    );
}

/// Each pushes the other out, again and again, and the member looks live all the time.
#[tokio::test]
async fn two_processes_that_are_one_member_are_found() {
    let scene = Scene::new().await;
    let one = Member::start(&scene.coordinator, "orders", "orders", "m-1");
    scene.coordinator.settled("orders", "orders", 1).await;
    let other = Member::start(&scene.coordinator, "orders", "orders", "m-1");
    let is_found = || async {
        let found = Found::by(&scene.ctl, "--count-for 2s").await;
        found.kinds().contains("HEARTBEATS_FENCED")
    };
    wait_until_async(PATIENCE, is_found).await.unwrap();
    let found = Found::by(&scene.ctl, "--count-for 2s").await;
    let (place, what) = found.one("HEARTBEATS_FENCED");
    assert_eq!(place, "orders/orders");
    assert!(
        what.contains(" refused as of an older process within "),
        "{what}"
    );
    assert!(
        what.contains("; epochs that rose meanwhile: m-1 ("),
        "{what}"
    );
    let to_do = found
        .findings
        .iter()
        .find(|it| it["kind"] == "HEARTBEATS_FENCED");
    let to_do = to_do.unwrap()["toDo"].as_str().unwrap();
    assert!(
        to_do.ends_with(": coordctl members orders orders"),
        "{to_do}"
    );
    drop(other);
    // It was so, and is not so any more.
    let is_over = || async {
        let found = Found::by(&scene.ctl, "--count-for 1s").await;
        let kinds = found.kinds();
        !kinds.contains("HEARTBEATS_FENCED") && kinds.contains("HEARTBEATS_WERE_FENCED")
    };
    wait_until_async(PATIENCE, is_over).await.unwrap();
    drop(one);
}

/// Redis forgot everything, and works: nobody has a trouble but the members.
#[tokio::test]
async fn members_of_groups_that_are_lost_are_found() {
    let mut scene = Scene::new().await;
    let member = Member::start(&scene.coordinator, "orders", "orders", "m-1");
    scene.coordinator.settled("orders", "orders", 1).await;
    scene.say(&["FLUSHALL"]).await;
    let is_found = || async {
        let found = Found::by(&scene.ctl, "--count-for 1s").await;
        found.kinds().contains("MEMBERS_UNKNOWN")
    };
    wait_until_async(PATIENCE, is_found).await.unwrap();
    let found = Found::by(&scene.ctl, "--count-for 1s").await;
    let (place, what) = found.one("MEMBERS_UNKNOWN");
    // The place is the coordinator that counted. Anybody may have sent them, so that it is no error.
    assert_eq!((found.code, place), (0, "URL"));
    assert!(
        what.starts_with("members heartbeat into groups that are not recorded (orders/orders; "),
        "{what}"
    );
    assert!(!found.kinds().contains("STORE_DEGRADED"));
    drop(member);
    // Also when nobody asks any more, it is told that there is nothing.
    let found = Found::by(&scene.ctl, "--count-for 1ms").await;
    assert_eq!(found.one("NO_GROUP"), ("the store", "no group is recorded"));
}
