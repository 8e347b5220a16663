//! Creating and removing groups.

use coordinator_core::numbers::MetadataVersion;
use coordinator_core::write::Write;

use crate::conformance::samples::{full_record, plain_record};
use crate::conformance::scene::{Scene, applied};
use crate::conformance::world::World;
use crate::{CommitError, CreateError, Etag, PageCursor, Renewed, Stamp};

const RAISED: [Write; 1] = [Write::MetadataVersionRaised {
    to: MetadataVersion::new(8),
}];

/// Rule E1: the first commit of a lineage.
pub async fn a_created_group_starts_at_revision_1(world: &dyn World) {
    let scene = Scene::empty(world).await;
    let begun = scene.begin().await;
    assert_eq!(begun.snapshot, None);
    let record = plain_record(&scene.id, &["a"], None);
    let stamp = scene.store.create(&begun.lock, &record).await.unwrap();
    assert_eq!(stamp.revision.get(), 1);
    let found = scene.load().await.unwrap();
    assert_eq!((&*found.record, found.stamp), (&record, stamp));
}

/// Every field survives, the leases of live members among them.
pub async fn a_full_record_comes_back_as_it_was_created(world: &dyn World) {
    let scene = Scene::empty(world).await;
    let record = full_record(&scene.id);
    assert_eq!(*scene.create(&record).await.record, record);
    assert_eq!(*scene.begin().await.snapshot.unwrap().record, record);
}

/// Rule C6, the other half: what can be read needs nobody to write over it, and the right is free afterwards.
pub async fn a_group_that_can_be_read_is_not_replaced_c6(world: &dyn World) {
    let scene = Scene::empty(world).await;
    let record = plain_record(&scene.id, &["a"], None);
    let replaced = scene.store.replace_unreadable(&scene.id, &record).await;
    assert_eq!(replaced.unwrap().revision.get(), 1, "nothing was there");
    let before = scene.load().await.unwrap();
    assert_eq!(*before.record, record);
    let other = plain_record(&scene.id, &["other"], None);
    let refused = scene.store.replace_unreadable(&scene.id, &other).await;
    assert!(
        matches!(refused, Err(CreateError::AlreadyExists)),
        "{refused:?}"
    );
    let found = scene.begin().await.snapshot.unwrap();
    assert_eq!((found.record, found.stamp), (before.record, before.stamp));
}

/// What is there is left as it is.
pub async fn a_group_is_created_once(world: &dyn World) {
    let (scene, before) = Scene::with_members(world).await;
    let begun = scene.begin().await;
    let record = plain_record(&scene.id, &["other"], None);
    let refused = scene.store.create(&begun.lock, &record).await;
    assert!(
        matches!(refused, Err(CreateError::AlreadyExists)),
        "{refused:?}"
    );
    let found = scene.load().await.unwrap();
    assert_eq!((found.record, found.stamp), (before.record, before.stamp));
}

/// The right stays with whoever created the group, for what follows the creation.
pub async fn a_created_group_can_be_committed_under_the_same_right(world: &dyn World) {
    let scene = Scene::empty(world).await;
    let begun = scene.begin().await;
    let record = plain_record(&scene.id, &["a"], None);
    let created = scene.store.create(&begun.lock, &record).await.unwrap();
    let expected = scene.load().await.unwrap();
    assert_eq!(expected.stamp, created);
    let stamp = scene.commit(begun.lock, &expected, &RAISED).await.unwrap();
    assert_eq!(stamp.revision.get(), 2);
    assert_eq!(
        *scene.load().await.unwrap().record,
        applied(&expected, &RAISED)
    );
}

/// A group created later under the same name inherits nothing.
pub async fn a_removed_group_is_gone_with_all_it_had(world: &dyn World) {
    let (scene, before) = Scene::with_members(world).await;
    let renewals = [crate::Renewal {
        member: crate::conformance::member_id("a"),
        progress: Some(crate::MemberProgress::default()),
    }];
    let lease = crate::conformance::scene::LEASE;
    let renewed = scene.store.renew(&scene.id, &before, &renewals, lease);
    assert!(matches!(renewed.await, Ok(Renewed::Ok { .. })));
    assert_eq!(scene.store.progress(&scene.id).await.unwrap().len(), 1);

    scene.remove().await;
    assert_eq!(scene.load().await, None);
    assert_eq!(scene.begin().await.snapshot, None);
    assert!(scene.store.progress(&scene.id).await.unwrap().is_empty());
    let page = scene.store.groups(&PageCursor::default()).await.unwrap();
    assert!(!page.groups.contains(&scene.id));
}

/// Rule E1 holds for removals as well.
pub async fn a_group_that_changed_is_not_removed(world: &dyn World) {
    let (scene, old) = Scene::with_members(world).await;
    let current = scene.change(&RAISED).await;
    let unknown = Stamp {
        etag: Etag::fresh(),
        ..current.stamp.clone()
    };
    for expected in [&old.stamp, &unknown] {
        let begun = scene.begin().await;
        let refused = scene.store.remove(begun.lock, expected).await;
        assert!(
            matches!(refused, Err(CommitError::Conflict { .. })),
            "{refused:?}"
        );
        let found = scene.load().await.unwrap();
        assert_eq!(
            (&found.record, &found.stamp),
            (&current.record, &current.stamp)
        );
    }
    scene.remove().await;
    let begun = scene.begin().await;
    let refused = scene.store.remove(begun.lock, &current.stamp).await;
    assert!(
        matches!(refused, Err(CommitError::Conflict { found: None, .. })),
        "{refused:?}"
    );
}
