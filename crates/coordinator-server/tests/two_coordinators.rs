//! Two coordinators on one store: what one of them changes, the other knows.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use coordinator_server::Deps;
use protocol::{DeleteGroupRequest, HeartbeatStatus};
use support::{Server, config, heartbeat, memory, obey, shards};

async fn both() -> (Server, Server) {
    let deps = memory();
    let same = Deps { ..deps.clone() };
    (
        Server::with(deps, config()).await,
        Server::with(same, config()).await,
    )
}

#[tokio::test]
async fn a_watch_at_one_is_woken_by_a_change_through_the_other() {
    let (one, other) = both().await;
    one.create("orders", 2).await;
    let a = other.beat("orders", &heartbeat("a", 0, 0)).await;
    let watching = other.client.clone();
    let watch = tokio::spawn(async move {
        watching
            .watch(
                "orders",
                "orders",
                a.metadata_version,
                Duration::from_secs(30),
            )
            .await
            .unwrap()
    });
    let joined = one.beat("orders", &heartbeat("b", 0, 0)).await;
    let seen = tokio::time::timeout(Duration::from_secs(5), watch).await;
    assert_eq!(
        seen.unwrap().unwrap().metadata_version,
        joined.metadata_version
    );
}

#[tokio::test]
async fn a_group_that_was_made_anew_under_a_remembered_record_is_another_group() {
    let (one, other) = both().await;
    one.create("orders", 2).await;
    let a = other.beat("orders", &heartbeat("a", 0, 0)).await;
    let a = other.beat("orders", &obey(&a)).await;
    let by_force = DeleteGroupRequest {
        requested_by: "test".to_owned(),
        reason: "anew".to_owned(),
        force: true,
    };
    one.client
        .delete_group("orders", "orders", &by_force)
        .await
        .unwrap();
    // What the other one remembers is not believed: the record is confirmed with every answer (rule H3).
    assert_eq!(
        other.beat("orders", &obey(&a)).await.status,
        HeartbeatStatus::UnknownMemberId
    );
    one.create("orders", 3).await;
    assert_eq!(
        other.beat("orders", &obey(&a)).await.status,
        HeartbeatStatus::UnknownMemberId
    );
    let again = other.beat("orders", &heartbeat("a", 0, 0)).await;
    assert_eq!(again.assignment.assigned_shards, shards(&[0, 1, 2]));
}
