//! Audit events: bounded, newest first, apart for each group that exists, and apart for whoever did not prove who it is.

use coordinator_core::names::GroupId;

use crate::conformance::samples::group_id;
use crate::conformance::scene::Scene;
use crate::conformance::world::World;
use crate::{AUDIT_CAP, AuditEntry, AuditFilter};

async fn record(scene: &Scene, group: &GroupId, is_proved: bool, event: &str) {
    let entry = AuditEntry {
        group: Some(group.clone()),
        is_proved,
        event: event.to_owned(),
    };
    scene.store.record(&entry).await.unwrap();
}

async fn latest(scene: &Scene, filter: AuditFilter) -> Vec<String> {
    scene.store.latest(&filter, AUDIT_CAP).await.unwrap()
}

fn of(scene: &Scene) -> AuditFilter {
    AuditFilter::Group(scene.id.clone())
}

/// What one asks for is bounded, too.
pub async fn events_are_told_newest_first_by_group_and_by_fleet(world: &dyn World) {
    let (scene, _) = Scene::with_members(world).await;
    assert_eq!(latest(&scene, AuditFilter::Fleet).await, [""; 0]);
    for event in ["{\"a\":1}", "b", "ü \u{1F600}"] {
        record(&scene, &scene.id, true, event).await;
    }
    record(&scene, &group_id("orders", "none"), true, "d").await;
    assert_eq!(
        latest(&scene, of(&scene)).await,
        ["ü \u{1F600}", "b", "{\"a\":1}"]
    );
    let fleet = latest(&scene, AuditFilter::Fleet).await;
    assert_eq!(fleet, ["d", "ü \u{1F600}", "b", "{\"a\":1}"]);
    let two = scene.store.latest(&AuditFilter::Fleet, 2).await.unwrap();
    assert_eq!(two, fleet[..2]);
    assert_eq!(scene.store.latest(&of(&scene), 0).await.unwrap(), [""; 0]);
}

/// Anybody may send any name.
pub async fn a_name_that_is_no_group_gets_no_place_of_its_own(world: &dyn World) {
    let scene = Scene::empty(world).await;
    record(&scene, &scene.id, true, "too early").await;
    assert_eq!(latest(&scene, of(&scene)).await, [""; 0]);
    assert_eq!(latest(&scene, AuditFilter::Fleet).await, ["too early"]);
    scene.create_members(None).await;
    record(&scene, &scene.id, true, "created").await;
    assert_eq!(latest(&scene, of(&scene)).await, ["created"]);
}

/// That it was deleted is the most interesting of all.
pub async fn events_outlive_their_group(world: &dyn World) {
    let (scene, _) = Scene::with_members(world).await;
    record(&scene, &scene.id, true, "created").await;
    scene.remove().await;
    record(&scene, &scene.id, true, "deleted").await;
    assert_eq!(latest(&scene, of(&scene)).await, ["deleted", "created"]);
}

/// Requests without credentials cost nothing.
pub async fn whoever_proves_nothing_pushes_nothing_out(world: &dyn World) {
    let (scene, _) = Scene::with_members(world).await;
    record(&scene, &scene.id, true, "scaled").await;
    record(&scene, &scene.id, false, "nobody").await;
    assert_eq!(latest(&scene, of(&scene)).await, ["scaled"]);
    assert_eq!(latest(&scene, AuditFilter::Fleet).await, ["scaled"]);
    assert_eq!(latest(&scene, AuditFilter::Unproved).await, ["nobody"]);
}

/// Each place is capped by itself.
pub async fn the_oldest_events_go(world: &dyn World) {
    let (scene, _) = Scene::with_members(world).await;
    for number in 0..=AUDIT_CAP {
        record(&scene, &scene.id, true, &number.to_string()).await;
    }
    for filter in [of(&scene), AuditFilter::Fleet] {
        let events = scene.store.latest(&filter, AUDIT_CAP * 2).await.unwrap();
        assert_eq!(events.len(), AUDIT_CAP);
        assert_eq!(events.first().unwrap(), &AUDIT_CAP.to_string());
        assert_eq!(events.last().unwrap(), "1");
    }
}
