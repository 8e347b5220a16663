//! News of commits.

use std::time::Duration;

use coordinator_core::numbers::MetadataVersion;
use coordinator_core::write::Write;
use futures_util::StreamExt;
use tokio::time::timeout;

use crate::conformance::samples::group_id;
use crate::conformance::scene::Scene;
use crate::conformance::world::World;
use crate::{Change, ChangeStream, LockLimits};

const PATIENCE: Duration = Duration::from_secs(10);

fn raised(to: u64) -> [Write; 1] {
    let to = MetadataVersion::new(to);
    [Write::MetadataVersionRaised { to }]
}

async fn next(stream: &mut ChangeStream) -> Change {
    timeout(PATIENCE, stream.next())
        .await
        .expect("news come within the deadline")
        .expect("the feed goes on")
}

/// Skips news that may have been left over from before.
async fn await_version(stream: &mut ChangeStream, scene: &Scene, version: u64) {
    loop {
        let change = next(stream).await;
        assert_eq!(change.group, scene.id);
        if change.version == Some(MetadataVersion::new(version)) {
            return;
        }
    }
}

/// The version is that after the commit.
pub async fn a_commit_is_told_to_subscribers(world: &dyn World) {
    let (scene, _) = Scene::with_members(world).await;
    let mut one = scene.store.subscribe(&scene.id).await.unwrap();
    let mut two = scene.store.subscribe(&scene.id).await.unwrap();
    for version in [8, 9] {
        scene.change(&raised(version)).await;
        await_version(&mut one, &scene, version).await;
        await_version(&mut two, &scene, version).await;
    }
}

/// That is what the feed is for.
pub async fn a_commit_of_another_coordinator_is_told_too(world: &dyn World) {
    let (scene, _) = Scene::with_members(world).await;
    let other = Scene::under(world, LockLimits::default()).await;
    let mut stream = other.store.subscribe(&other.id).await.unwrap();
    scene.change(&raised(8)).await;
    await_version(&mut stream, &scene, 8).await;
}

/// Whoever waits for a group to come or go need not ask again and again.
pub async fn creation_and_removal_wake_subscribers(world: &dyn World) {
    let scene = Scene::empty(world).await;
    let mut stream = scene.store.subscribe(&scene.id).await.unwrap();
    scene.create_members(None).await;
    await_version(&mut stream, &scene, 7).await;
    scene.remove().await;
    let change = next(&mut stream).await;
    assert_eq!((change.group, change.version), (scene.id.clone(), None));
}

/// The group of the news is the one that was asked for.
pub async fn changes_of_other_groups_are_not_told(world: &dyn World) {
    let (scene, _) = Scene::with_members(world).await;
    let other = Scene {
        id: group_id("orders", "audit"),
        ..Scene::empty(world).await
    };
    let mut stream = scene.store.subscribe(&scene.id).await.unwrap();
    other.create_members(None).await;
    other.change(&raised(100)).await;
    scene.change(&raised(8)).await;
    await_version(&mut stream, &scene, 8).await;
}

/// Case C07: the check is one that a working store passes.
pub async fn a_store_in_order_says_that_it_is_ready(world: &dyn World) {
    let scene = Scene::empty(world).await;
    let ready = scene.store.check_ready().await.unwrap();
    assert_eq!(ready, crate::Readiness::Ready);
}
