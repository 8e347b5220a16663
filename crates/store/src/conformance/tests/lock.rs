//! The right to change a group: one at a time, bounded waiting, bounded keeping.

use std::time::{Duration, Instant};

use coordinator_core::numbers::MetadataVersion;
use coordinator_core::write::Write;

use crate::conformance::samples::{group_id, plain_record};
use crate::conformance::scene::{IMPATIENT, SHORT_RIGHT, Scene};
use crate::conformance::world::World;
use crate::{CommitError, CreateError, StoreError};

const RAISED: [Write; 1] = [Write::MetadataVersionRaised {
    to: MetadataVersion::new(8),
}];

/// Whoever waits longer than allowed is told so, after no less and not much more than that.
pub async fn a_group_that_somebody_changes_is_locked_to_others(world: &dyn World) {
    let first = Scene::under(world, IMPATIENT).await;
    let second = Scene::under(world, IMPATIENT).await;
    let begun = first.begin().await;
    let started = Instant::now();
    let refused = second.store.begin(&second.id, None).await;
    let elapsed = started.elapsed();
    assert!(
        matches!(refused, Err(StoreError::Locked { waited_ms }) if waited_ms >= 300),
        "{refused:?}"
    );
    assert!(elapsed >= IMPATIENT.wait, "{elapsed:?}");
    assert!(elapsed < Duration::from_secs(5), "{elapsed:?}");
    first.store.release(begun.lock).await;
    second.begin().await;
}

/// The second begin is under way while the first still has the right.
pub async fn a_released_right_goes_to_the_one_who_waits(world: &dyn World) {
    let first = Scene::empty(world).await;
    let second = Scene::empty(world).await;
    let begun = first.begin().await;
    let waiting = tokio::spawn(async move { second.begin().await });
    // waits: so that the other is already waiting in most runs; it gets the right in any case
    tokio::time::sleep(Duration::from_millis(30)).await;
    assert!(!waiting.is_finished(), "the right is taken");
    first.store.release(begun.lock).await;
    waiting.await.unwrap();
}

/// A commit ends the right together with what it writes.
pub async fn a_commit_gives_the_right_back(world: &dyn World) {
    let scene = Scene::under(world, IMPATIENT).await;
    scene.create_members(None).await;
    scene.change(&RAISED).await;
    scene.begin().await;
}

/// Nothing was written, and the next may try.
pub async fn a_failed_commit_gives_the_right_back(world: &dyn World) {
    let scene = Scene::under(world, IMPATIENT).await;
    let old = scene.create_members(None).await;
    scene.change(&RAISED).await;
    let begun = scene.begin().await;
    let refused = scene.commit(begun.lock, &old, &RAISED).await;
    assert!(
        matches!(refused, Err(CommitError::Conflict { .. })),
        "{refused:?}"
    );
    scene.begin().await;
}

/// The group is gone and so is the right to it.
pub async fn a_removal_gives_the_right_back(world: &dyn World) {
    let scene = Scene::under(world, IMPATIENT).await;
    scene.create_members(None).await;
    scene.remove().await;
    scene.begin().await;
}

/// A coordinator that died with a right holds up the others no longer than that.
pub async fn a_right_that_is_not_given_back_runs_out(world: &dyn World) {
    let scene = Scene::under(world, SHORT_RIGHT).await;
    let started = Instant::now();
    scene.begin().await;
    scene.begin().await;
    assert!(started.elapsed() >= Duration::from_millis(200));
}

/// Neither the stream nor the group alone is what is locked.
pub async fn rights_to_different_groups_are_independent(world: &dyn World) {
    let scene = Scene::under(world, IMPATIENT).await;
    scene.begin().await;
    for id in [group_id("orders", "audit"), group_id("returns", "billing")] {
        scene.store.begin(&id, None).await.unwrap();
    }
}

/// The token tells a late holder from its successor.
pub async fn a_late_holder_commits_nothing(world: &dyn World) {
    let scene = Scene::under(world, SHORT_RIGHT).await;
    let before = scene.create_members(None).await;
    let late = scene.begin().await;
    let successor = scene.begin().await;
    let refused = scene.commit(late.lock, &before, &RAISED).await;
    assert!(matches!(refused, Err(CommitError::LockLost)), "{refused:?}");
    let found = scene.load().await.unwrap();
    assert_eq!(
        (&found.record, &found.stamp),
        (&before.record, &before.stamp)
    );
    scene.store.release(successor.lock).await;
}

/// What is true of commits is true of every change.
pub async fn a_late_holder_creates_and_removes_nothing(world: &dyn World) {
    let scene = Scene::under(world, SHORT_RIGHT).await;
    let late = scene.begin().await;
    let successor = scene.begin().await;
    let record = plain_record(&scene.id, &["a"], None);
    let refused = scene.store.create(&late.lock, &record).await;
    assert!(matches!(refused, Err(CreateError::LockLost)), "{refused:?}");
    assert_eq!(scene.load().await, None);
    scene.store.release(successor.lock).await;

    let before = scene.create(&record).await;
    let late = scene.begin().await;
    let successor = scene.begin().await;
    let refused = scene.store.remove(late.lock, &before.stamp).await;
    assert!(matches!(refused, Err(CommitError::LockLost)), "{refused:?}");
    assert_eq!(scene.load().await.unwrap().stamp, before.stamp);
    scene.store.release(successor.lock).await;
}

/// Otherwise two would have the right at once.
pub async fn a_late_release_leaves_the_successor_alone(world: &dyn World) {
    let short = Scene::under(world, SHORT_RIGHT).await;
    let lasting = Scene::under(world, IMPATIENT).await;
    let late = short.begin().await;
    // Waits longer than the right lasts, in steps.
    let successor = loop {
        if let Ok(begun) = lasting.store.begin(&lasting.id, None).await {
            break begun;
        }
    };
    short.store.release(late.lock).await;
    let refused = lasting.store.begin(&lasting.id, None).await;
    assert!(
        matches!(refused, Err(StoreError::Locked { .. })),
        "{refused:?}"
    );
    lasting.store.release(successor.lock).await;
}
