//! Reading: one moment, and no decoding of what is known already.

use std::sync::Arc;

use crate::conformance::samples::member_id;
use crate::conformance::scene::{LEASE, Scene, lease_in};
use crate::conformance::world::World;

/// What is not there is no error.
pub async fn a_group_that_does_not_exist_is_begun_and_loaded_as_none(world: &dyn World) {
    let scene = Scene::empty(world).await;
    assert_eq!(scene.load().await, None);
    let begun = scene.begin().await;
    assert_eq!(begun.snapshot, None);
    assert!(begun.now.as_ms() > 0);
}

/// Rule T4: one now for the whole decision.
pub async fn leases_and_time_are_of_the_same_moment(world: &dyn World) {
    let (scene, known) = Scene::with_members(world).await;
    scene.renew(&known, &["a", "b"], LEASE).await;
    let begun = scene.begin().await;
    let snapshot = begun.snapshot.unwrap();
    assert_eq!(begun.now, snapshot.now);
    let (a, b) = (lease_in(&snapshot, "a"), lease_in(&snapshot, "b"));
    assert_eq!(a, b);
    assert!(a <= Some(begun.now.plus(LEASE)));
    assert!(begun.now >= known.now);
}

/// Only the leases that differ are put in; the rest is the very same data.
pub async fn a_known_record_is_shared_while_it_is_current(world: &dyn World) {
    let scene = Scene::empty(world).await;
    let known = scene.create_members(None).await;
    let begun = scene.store.begin(&scene.id, Some(&known)).await.unwrap();
    let snapshot = begun.snapshot.unwrap();
    assert!(Arc::ptr_eq(&snapshot.record, &known.record));
    let loaded = scene.store.load(&scene.id, Some(&known)).await.unwrap();
    assert!(Arc::ptr_eq(&loaded.unwrap().record, &known.record));

    scene.renew(&known, &["a"], LEASE).await;
    let loaded = scene.store.load(&scene.id, Some(&known)).await.unwrap();
    let record = loaded.unwrap().record;
    let shared = |name| {
        let id = member_id(name);
        Arc::ptr_eq(&record.members[&id], &known.record.members[&id])
    };
    assert_eq!(["a", "b", "c"].map(shared), [false, true, true]);
}

/// Rules E1 and E7: only the etag shows that what is known is current.
pub async fn a_known_record_of_another_lineage_is_not_used_e1_e7(world: &dyn World) {
    let (scene, known) = Scene::with_members(world).await;
    scene.remove().await;
    let current = scene.create_members(None).await;
    assert_eq!(current.stamp.revision, known.stamp.revision);
    let loaded = scene.store.load(&scene.id, Some(&known)).await.unwrap();
    assert_eq!(loaded.unwrap().stamp, current.stamp);
    let begun = scene.store.begin(&scene.id, Some(&known)).await.unwrap();
    let snapshot = begun.snapshot.unwrap();
    assert_eq!(snapshot.record, current.record);
    assert_eq!(snapshot.stamp, current.stamp);
}
