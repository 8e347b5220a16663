//! Rules C1 to C8 over HTTP: the store went back, with and without showing it.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use coordinator_server::Deps;
use protocol::HeartbeatStatus::{Ok as Good, RevokePending, SyncMetadata};
use protocol::{HeartbeatResponse, HeartbeatStatus};
use store::{MemoryStore, SavedState};
use support::{Server, config, heartbeat, obey, refusal};
use testkit::wait_until_async;

const PATIENCE: Duration = Duration::from_secs(20);

fn deps(store: &MemoryStore) -> Deps {
    Deps::new(Arc::new(store.clone()))
}

fn assigned(answer: &HeartbeatResponse) -> Vec<u32> {
    let shards = answer.assignment.assigned_shards.iter();
    shards.map(|shard| shard.shard_index).collect()
}

/// `a` had both shards when the state was saved. Since then `b` came and took one of them over.
struct Scene {
    server: Server,
    store: MemoryStore,
    saved: SavedState,
    a: HeartbeatResponse,
    b: HeartbeatResponse,
}

impl Scene {
    async fn new() -> Self {
        let store = MemoryStore::new();
        let server = Server::with(deps(&store), config()).await;
        server.create("orders", 2).await;
        let mut a = server.beat("orders", &heartbeat("a", 0, 0)).await;
        a = server.beat("orders", &obey(&a)).await;
        let mut b = server.beat("orders", &heartbeat("b", 0, 0)).await;
        let saved = store.save();
        for _ in 0..3 {
            a = server.beat("orders", &obey(&a)).await;
            b = server.beat("orders", &obey(&b)).await;
        }
        assert_eq!((assigned(&a), assigned(&b)), (vec![0], vec![1]));
        Self {
            server,
            store,
            saved,
            a,
            b,
        }
    }

    async fn round(&mut self) -> (HeartbeatStatus, HeartbeatStatus) {
        self.a = self.server.beat("orders", &obey(&self.a)).await;
        self.b = self.server.beat("orders", &obey(&self.b)).await;
        let owned: Vec<u32> = assigned(&self.a)
            .into_iter()
            .chain(assigned(&self.b))
            .collect();
        let once: std::collections::BTreeSet<u32> = owned.iter().copied().collect();
        assert_eq!(
            owned.len(),
            once.len(),
            "one owner at most throughout: {owned:?}"
        );
        (self.a.status, self.b.status)
    }

    async fn settle(&mut self) {
        let end = std::time::Instant::now() + PATIENCE;
        while self.round().await != (Good, Good) || assigned(&self.a) != [0] {
            assert!(std::time::Instant::now() < end, "{:?} {:?}", self.a, self.b);
            // waits: members heartbeat at an interval
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        assert_eq!((assigned(&self.a), assigned(&self.b)), (vec![0], vec![1]));
    }
}

#[tokio::test]
async fn c06_h5_c7_after_a_failover_a_round_brings_everybody_up_to_date() {
    let mut scene = Scene::new().await;
    let seen = scene.a.group_epoch.max(scene.b.group_epoch);
    scene.store.go_back_to(&scene.saved);
    let (a, b) = scene.round().await;
    assert!(matches!(a, SyncMetadata | RevokePending), "{a:?}");
    assert!(matches!(b, SyncMetadata | RevokePending), "{b:?}");
    assert!(
        scene.b.group_epoch > seen,
        "C7: no epoch is handed out twice"
    );
    scene.settle().await;
}

#[tokio::test]
async fn c5_nobody_changes_the_group_meanwhile() {
    let mut scene = Scene::new().await;
    scene.store.go_back_to(&scene.saved);
    scene.b = scene.server.beat("orders", &obey(&scene.b)).await;
    assert_eq!(scene.b.status, SyncMetadata);
    let deletion = scene
        .server
        .request("DELETE", "/coord/v1/streams/orders/groups/orders")
        .basic_auth("admin", Some("admin"))
        .json(&serde_json::json!({"requestedBy": "test", "reason": "test", "force": true}))
        .send()
        .await
        .unwrap();
    let (status, code, message) = refusal(deletion).await;
    assert_eq!((status, code.as_str()), (409, "METADATA_SYNC_IN_PROGRESS"));
    assert!(message.contains("try again"), "{message}");
    scene.settle().await;
}

#[tokio::test]
async fn c8_what_one_group_learns_holds_the_grants_of_all() {
    let store = MemoryStore::new();
    let server = Server::with(deps(&store), config()).await;
    server.create("orders", 2).await;
    server.create("other", 2).await;
    let a = server.beat("orders", &heartbeat("a", 0, 0)).await;
    let a = server.beat("orders", &obey(&a)).await;
    // Nothing shows that writes were lost but what a member says.
    let mut knows_more = obey(&a);
    knows_more.metadata_version += 5;
    assert_eq!(
        server.beat("orders", &knows_more).await.status,
        SyncMetadata
    );
    let held = server.beat("other", &heartbeat("x", 0, 0)).await;
    assert_eq!((held.status, assigned(&held)), (RevokePending, vec![]));
    let free = || async {
        let again = server.beat("other", &obey(&held)).await;
        again.status == Good && assigned(&again) == [0, 1]
    };
    wait_until_async(PATIENCE, free).await.unwrap();
}

/// Rule C7: every coordinator notices by itself, and what one has acted on is no news to the next.
#[tokio::test]
async fn c7_c8_one_loss_is_doubted_once_by_however_many_coordinators() {
    let store = MemoryStore::new();
    let mut servers = Vec::new();
    for _ in 0..3 {
        servers.push(Server::with(deps(&store), config()).await);
    }
    servers[0].create("orders", 2).await;
    let mut a = servers[0].beat("orders", &heartbeat("a", 0, 0)).await;
    let saved = store.save();
    for server in &servers {
        // Each knows of a later record than the one that will be there.
        server.beat("orders", &heartbeat("b", 0, 0)).await;
        a = server.beat("orders", &obey(&a)).await;
    }
    store.go_back_to(&saved);
    for server in servers.iter().chain(&servers) {
        a = server.beat("orders", &obey(&a)).await;
    }
    assert_eq!(a.group_epoch >> 20, 1, "one leap: {a:?}");
}
