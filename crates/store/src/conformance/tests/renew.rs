//! Renewals: the whole cost of a steady heartbeat, and no way around the record.

use coordinator_core::numbers::MetadataVersion;
use coordinator_core::time::Millis;
use coordinator_core::write::Write;

use crate::Renewed;
use crate::conformance::samples::{full_record, member_id};
use crate::conformance::scene::{LEASE, Scene, lease_in};
use crate::conformance::world::World;

const LONGER: Millis = Millis::new(20_000);

/// Rule T1.
pub async fn a_batch_is_renewed_until_now_and_one_lease_t1(world: &dyn World) {
    let scene = Scene::empty(world).await;
    let known = scene.create_members(None).await;
    let Renewed::Ok { now, deadline } = scene.renew(&known, &["a", "c"], LEASE).await else {
        panic!("the record did not change");
    };
    assert_eq!(deadline, now.plus(LEASE));
    assert!(now >= known.now);
    let found = scene.begin().await.snapshot.unwrap();
    assert_eq!(
        ["a", "b", "c"].map(|name| lease_in(&found, name)),
        [Some(deadline), None, Some(deadline)]
    );
    assert_eq!(found.stamp, known.stamp);
}

/// It was promised to the member, by a coordinator with another setting.
pub async fn a_longer_lease_is_not_shortened(world: &dyn World) {
    let (scene, known) = Scene::with_members(world).await;
    let renewed = scene.renew(&known, &["a"], Millis::new(1)).await;
    assert!(matches!(renewed, Renewed::Ok { .. }), "{renewed:?}");
    assert_eq!(scene.lease("a").await, lease_in(&known, "a"));
}

/// The caller decides anew, on what is returned.
pub async fn a_changed_group_is_returned_and_nothing_renewed(world: &dyn World) {
    let (scene, known) = Scene::with_members(world).await;
    let to = MetadataVersion::new(8);
    let current = scene.change(&[Write::MetadataVersionRaised { to }]).await;
    let Renewed::Stale(found) = scene.renew(&known, &["a"], LONGER).await else {
        panic!("the record changed");
    };
    assert_eq!(
        (&found.record, &found.stamp),
        (&current.record, &current.stamp)
    );
    assert_eq!(scene.lease("a").await, lease_in(&known, "a"));
}

/// Rules E1 and E7: an equal revision proves nothing.
pub async fn another_lineage_of_equal_revision_is_returned_e1_e7(world: &dyn World) {
    let (scene, known) = Scene::with_members(world).await;
    scene.remove().await;
    let current = scene.create_members(None).await;
    assert_eq!(current.stamp.revision, known.stamp.revision);
    let Renewed::Stale(found) = scene.renew(&known, &["a"], LONGER).await else {
        panic!("the record is another one");
    };
    assert_eq!(found.stamp, current.stamp);
    assert_eq!(scene.lease("a").await, None);
}

/// For answers that renew nothing and must still be current.
pub async fn an_empty_batch_confirms_the_record(world: &dyn World) {
    let (scene, known) = Scene::with_members(world).await;
    let renewed = scene.renew(&known, &[], LONGER).await;
    assert!(matches!(renewed, Renewed::Ok { .. }), "{renewed:?}");
    assert_eq!(scene.load().await.unwrap().record, known.record);
    let to = MetadataVersion::new(8);
    scene.change(&[Write::MetadataVersionRaised { to }]).await;
    let renewed = scene.renew(&known, &[], LONGER).await;
    assert!(matches!(renewed, Renewed::Stale(_)), "{renewed:?}");
}

/// A renewal that comes late leaves nothing behind for a group created under the same name.
pub async fn a_removed_group_is_gone_and_stays_gone(world: &dyn World) {
    let (scene, known) = Scene::with_members(world).await;
    scene.remove().await;
    let renewed = scene.renew(&known, &["a"], LONGER).await;
    assert!(matches!(renewed, Renewed::Gone), "{renewed:?}");
    assert_eq!(scene.load().await, None);
    assert!(scene.store.progress(&scene.id).await.unwrap().is_empty());
    let recreated = scene.create_members(None).await;
    assert_eq!(lease_in(&recreated, "a"), None);
}

/// Neither an ended member nor one that is not in the record.
pub async fn a_member_that_is_not_live_gets_no_lease(world: &dyn World) {
    let scene = Scene::empty(world).await;
    let known = scene.create(&full_record(&scene.id)).await;
    let batch = ["fenced/ü", "nobody", "active"];
    let renewed = scene.renew(&known, &batch, LEASE).await;
    assert!(matches!(renewed, Renewed::Ok { .. }), "{renewed:?}");
    let found = scene.load().await.unwrap();
    assert_eq!(lease_in(&found, "fenced/ü"), None);
    assert!(!found.record.members.contains_key(&member_id("nobody")));
    assert!(lease_in(&found, "active") > lease_in(&known, "active"));
}
