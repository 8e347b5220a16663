//! Members over HTTP: joining, sharing, handing over, leaving, expiring.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use protocol::{GroupState, HeartbeatStatus, MemberState};
use support::{Server, heartbeat, obey, shards};

#[tokio::test]
async fn a_shard_moves_only_after_its_owner_let_go() {
    let server = Server::start().await;
    server.create("orders", 4).await;
    let joined = server.beat("orders", &heartbeat("a", 0, 0)).await;
    assert_eq!(joined.status, HeartbeatStatus::Ok);
    assert_eq!(joined.assignment.assigned_shards, shards(&[0, 1, 2, 3]));
    let a = server.beat("orders", &obey(&joined)).await;

    // Rule O4: the second member's shards are pending for as long as the first holds them.
    let b = server.beat("orders", &heartbeat("b", 0, 0)).await;
    assert_eq!(b.assignment.assigned_shards, shards(&[]));
    assert_eq!(b.assignment.pending_shards, shards(&[2, 3]));
    let told = server.beat("orders", &obey(&a)).await;
    assert_eq!(told.assignment.assigned_shards, shards(&[0, 1]));
    assert_eq!(
        server.client.group("orders", "orders").await.unwrap().state,
        GroupState::Reconciling
    );

    // Rule O5: the absence of a shard from a report is its release.
    let a = server.beat("orders", &obey(&told)).await;
    assert_eq!(a.assignment.assigned_shards, shards(&[0, 1]));
    let b = server.beat("orders", &obey(&b)).await;
    assert_eq!(b.assignment.assigned_shards, shards(&[2, 3]));
    server.beat("orders", &obey(&a)).await;
    server.beat("orders", &obey(&b)).await;
    assert_eq!(
        server.client.group("orders", "orders").await.unwrap().state,
        GroupState::Stable
    );
}

#[tokio::test]
async fn h17_a_steady_heartbeat_changes_no_version() {
    let server = Server::start().await;
    server.create("orders", 2).await;
    let joined = server.beat("orders", &heartbeat("a", 0, 0)).await;
    let settled = server.beat("orders", &obey(&joined)).await;
    for _ in 0..5 {
        let answer = server.beat("orders", &obey(&settled)).await;
        assert_eq!(
            (answer.metadata_version, answer.member_epoch),
            (settled.metadata_version, settled.member_epoch)
        );
    }
}

#[tokio::test]
async fn m1_a_silent_member_expires_and_its_shards_go_to_the_others() {
    let server = Server::start().await;
    server.create("orders", 2).await;
    let a = server.beat("orders", &heartbeat("a", 0, 0)).await;
    server.beat("orders", &obey(&a)).await;
    let mut b = server.beat("orders", &heartbeat("b", 0, 0)).await;
    assert_eq!(b.assignment.assigned_shards, shards(&[]));
    let deadline = std::time::Instant::now() + Duration::from_secs(10);
    while b.assignment.assigned_shards != shards(&[0, 1]) {
        assert!(std::time::Instant::now() < deadline, "{b:?}");
        tokio::task::yield_now().await;
        b = server.beat("orders", &obey(&b)).await;
    }
    let members = server
        .client
        .members("orders", "orders")
        .await
        .unwrap()
        .members;
    let states: Vec<_> = members
        .iter()
        .map(|member| (member.member_id.as_str(), member.state))
        .collect();
    assert_eq!(
        states,
        [("a", MemberState::Expired), ("b", MemberState::Active)]
    );
}

#[tokio::test]
async fn h13_a_member_that_leaves_with_nothing_in_hand_is_out_at_once() {
    let server = Server::start().await;
    server.create("orders", 2).await;
    let a = server.beat("orders", &heartbeat("a", 0, 0)).await;
    let a = server.beat("orders", &obey(&a)).await;
    server.beat("orders", &heartbeat("b", 0, 0)).await;
    let left = server
        .beat("orders", &heartbeat("a", -1, a.metadata_version + 1))
        .await;
    assert_eq!(left.status, HeartbeatStatus::Ok);
    assert_eq!(left.assignment.assigned_shards, shards(&[]));
    let b = server.beat("orders", &heartbeat("b", 0, 0)).await;
    assert_eq!(b.assignment.assigned_shards, shards(&[0, 1]));
}

#[tokio::test]
async fn the_watch_answers_as_soon_as_the_version_is_higher() {
    let server = Server::start().await;
    server.create("orders", 2).await;
    let version = server
        .client
        .group("orders", "orders")
        .await
        .unwrap()
        .metadata_version;
    let unchanged = server
        .client
        .watch("orders", "orders", version, Duration::from_millis(50))
        .await
        .unwrap();
    assert!(!unchanged.changed);
    let watching = server.client.clone();
    let watch = tokio::spawn(async move {
        watching
            .watch("orders", "orders", version, Duration::from_secs(30))
            .await
            .unwrap()
    });
    let joined = server.beat("orders", &heartbeat("a", 0, 0)).await;
    let seen = tokio::time::timeout(Duration::from_secs(5), watch)
        .await
        .unwrap()
        .unwrap();
    assert!(seen.changed);
    assert_eq!(seen.metadata_version, joined.metadata_version);
}

#[tokio::test]
async fn members_are_unknown_where_there_is_no_group() {
    let server = Server::start().await;
    // Rule H3.
    let answer = server.beat("nothing", &heartbeat("a", 0, 0)).await;
    assert_eq!(
        (answer.status, answer.member_epoch),
        (HeartbeatStatus::UnknownMemberId, 0)
    );
    assert!(server.client.is_ready().await.unwrap());
}
