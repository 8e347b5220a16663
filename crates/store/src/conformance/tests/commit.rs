//! Commits: all or nothing, on the version that was read and on no other.

use std::sync::Arc;

use coordinator_core::numbers::{MetadataVersion, StoreRevision};
use coordinator_core::write::Write;

use crate::conformance::samples::full_record;
use crate::conformance::scene::{Scene, applied};
use crate::conformance::world::World;
use crate::{Commit, CommitError, LockLimits};

fn raised(to: u64) -> [Write; 1] {
    let to = MetadataVersion::new(to);
    [Write::MetadataVersionRaised { to }]
}

/// Rule E1.
pub async fn a_commit_raises_the_revision_by_one_and_gives_a_fresh_etag_e1(world: &dyn World) {
    let (scene, before) = Scene::with_members(world).await;
    let mut etags = vec![before.stamp.etag.clone()];
    for to in 8..12 {
        let begun = scene.begin().await;
        let expected = begun.snapshot.unwrap();
        let stamp = scene
            .commit(begun.lock, &expected, &raised(to))
            .await
            .unwrap();
        assert_eq!(stamp.revision.get(), expected.stamp.revision.get() + 1);
        assert!(!etags.contains(&stamp.etag));
        etags.push(stamp.etag.clone());

        let found = scene.load().await.unwrap();
        assert_eq!(found.stamp, stamp);
        assert_eq!(*found.record, applied(&expected, &raised(to)));
    }
}

/// Rule E1: the right alone is not enough.
pub async fn a_commit_on_an_older_version_writes_nothing_e1(world: &dyn World) {
    let (scene, old) = Scene::with_members(world).await;
    let current = scene.change(&raised(8)).await;
    let begun = scene.begin().await;
    let refused = scene.commit(begun.lock, &old, &raised(9)).await;
    let (expected, found) = (StoreRevision::new(1), Some(StoreRevision::new(2)));
    assert!(
        matches!(refused, Err(CommitError::Conflict { expected: e, found: f }) if e == expected && f == found),
        "{refused:?}"
    );
    let found = scene.load().await.unwrap();
    assert_eq!((found.record, found.stamp), (current.record, current.stamp));
}

/// Rules E1 and E7: after lost writes the same revision number can name other contents; the etag tells them apart.
pub async fn a_commit_on_another_lineage_writes_nothing_e1_e7(world: &dyn World) {
    let (scene, old) = Scene::with_members(world).await;
    scene.remove().await;
    let current = scene.create_members(None).await;
    assert_eq!(current.stamp.revision, old.stamp.revision);
    let begun = scene.begin().await;
    let refused = scene.commit(begun.lock, &old, &raised(9)).await;
    assert!(
        matches!(refused, Err(CommitError::Conflict { found: Some(found), .. }) if found == old.stamp.revision),
        "{refused:?}"
    );
    let found = scene.load().await.unwrap();
    assert_eq!((found.record, found.stamp), (current.record, current.stamp));
}

/// A commit never brings a group back.
pub async fn a_commit_on_a_removed_group_writes_nothing(world: &dyn World) {
    let (scene, old) = Scene::with_members(world).await;
    scene.remove().await;
    let begun = scene.begin().await;
    let refused = scene.commit(begun.lock, &old, &raised(9)).await;
    assert!(
        matches!(refused, Err(CommitError::Conflict { found: None, .. })),
        "{refused:?}"
    );
    assert_eq!(scene.load().await, None);
}

/// Two coordinators with five writers each; every change of every one is there in the end.
pub async fn concurrent_commits_lose_no_change_e1(world: &dyn World) {
    const WRITERS: u64 = 10;
    const CHANGES: u64 = 5;
    let limits = LockLimits {
        wait: std::time::Duration::from_secs(60),
        ..LockLimits::default()
    };
    let scenes = [
        Arc::new(Scene::under(world, limits).await),
        Arc::new(Scene::under(world, limits).await),
    ];
    let before = scenes[0].create_members(None).await;
    let writers: Vec<_> = scenes
        .iter()
        .cycle()
        .take(usize::try_from(WRITERS).unwrap())
        .map(|scene| tokio::spawn(write_often(Arc::clone(scene), CHANGES)))
        .collect();
    for writer in writers {
        writer.await.unwrap();
    }
    let found = scenes[0].load().await.unwrap();
    let (version, revision) = (found.record.metadata_version, found.stamp.revision);
    assert_eq!(
        version.get(),
        before.record.metadata_version.get() + WRITERS * CHANGES
    );
    assert_eq!(
        revision.get(),
        before.stamp.revision.get() + WRITERS * CHANGES
    );
}

async fn write_often(scene: Arc<Scene>, changes: u64) {
    for _ in 0..changes {
        let begun = scene.begin().await;
        let expected = begun.snapshot.unwrap();
        let to = expected.record.metadata_version.get() + 1;
        scene
            .commit(begun.lock, &expected, &raised(to))
            .await
            .unwrap();
    }
}

/// Every field survives, in every state a member can be in. Leases are changed by writes, and not by the record.
pub async fn a_full_record_comes_back_as_it_was_committed(world: &dyn World) {
    let scene = Scene::empty(world).await;
    let record = full_record(&scene.id);
    scene.create(&record).await;
    let begun = scene.begin().await;
    let mut changed = record.clone();
    changed.metadata_version = record.metadata_version.next();
    let commit = Commit {
        expected: begun.snapshot.as_ref().unwrap(),
        record: &changed,
        writes: &[],
        progress: &[],
    };
    scene.store.commit(begun.lock, commit).await.unwrap();
    assert_eq!(*scene.load().await.unwrap().record, changed);
}
