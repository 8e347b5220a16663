//! The directory of all groups.

use std::collections::BTreeSet;

use coordinator_core::names::GroupId;

use crate::conformance::samples::{group_id, plain_record};
use crate::conformance::scene::Scene;
use crate::conformance::world::{TestedStore, World};
use crate::{PageCursor, Snapshot};

/// Names with everything in them that means something to somebody.
const ODD: [(&str, &str); 10] = [
    ("a", "b:c"),
    ("a:b", "c"),
    ("a%3Ab", "c"),
    ("a", "b%3Ac"),
    ("100%", "*?[x]"),
    ("with space", "tab-free"),
    ("grüße", "\u{1f980}"),
    ("/", "\\\"'"),
    ("*", "x"),
    ("[a]\\", "x"),
];

async fn list(store: &dyn TestedStore) -> BTreeSet<GroupId> {
    let mut groups = BTreeSet::new();
    let mut cursor = PageCursor::default();
    loop {
        let page = store.groups(&cursor).await.unwrap();
        groups.extend(page.groups);
        match page.next {
            Some(next) => cursor = next,
            None => return groups,
        }
    }
}

/// Every stream is asked for, and one that has no groups.
async fn assert_told_by_stream(store: &dyn TestedStore, all: &BTreeSet<GroupId>) {
    let none = group_id("stream-", "none");
    for stream in all.iter().chain([&none]).map(|group| &group.stream) {
        let of_stream = all.iter().filter(|group| group.stream == *stream);
        let expected: BTreeSet<GroupId> = of_stream.cloned().collect();
        assert_eq!(store.groups_of(stream).await.unwrap(), expected, "{stream}");
    }
}

async fn create(scene: &Scene, id: &GroupId, member: &str) -> Snapshot {
    let begun = scene.store.begin(id, None).await.unwrap();
    let record = plain_record(id, &[member], None);
    scene.store.create(&begun.lock, &record).await.unwrap();
    scene.store.release(begun.lock).await;
    scene.store.load(id, None).await.unwrap().unwrap()
}

/// More of them than a page has; those that are removed are listed no more.
pub async fn every_group_is_listed_whatever_it_is_called(world: &dyn World) {
    let scene = Scene::empty(world).await;
    assert!(list(&*scene.store).await.is_empty());
    let many = (0..240).map(|number| {
        group_id(
            &format!("stream-{}", number % 7),
            &format!("group-{number}"),
        )
    });
    let odd = ODD.map(|(stream, group)| group_id(stream, group));
    let mut expected: BTreeSet<GroupId> = many.chain(odd).collect();
    for id in &expected {
        create(&scene, id, "a").await;
    }
    assert_eq!(list(&*scene.store).await, expected);
    assert_told_by_stream(&*scene.store, &expected).await;

    let removed: Vec<GroupId> = expected.iter().step_by(3).cloned().collect();
    for id in removed {
        let begun = scene.store.begin(&id, None).await.unwrap();
        let stamp = begun.snapshot.unwrap().stamp;
        scene.store.remove(begun.lock, &stamp).await.unwrap();
        expected.remove(&id);
    }
    assert_eq!(list(&*scene.store).await, expected);
    assert_told_by_stream(&*scene.store, &expected).await;
}

/// Where a separator stands in a name must not matter.
pub async fn names_that_look_alike_are_different_groups(world: &dyn World) {
    let scene = Scene::empty(world).await;
    for (number, (stream, group)) in ODD.into_iter().enumerate() {
        let id = group_id(stream, group);
        assert_eq!(scene.store.load(&id, None).await.unwrap(), None, "{id}");
        create(&scene, &id, &format!("member-{number}")).await;
    }
    for (number, (stream, group)) in ODD.into_iter().enumerate() {
        let id = group_id(stream, group);
        let found = scene.store.load(&id, None).await.unwrap().unwrap();
        let expected = plain_record(&id, &[&format!("member-{number}")], None);
        assert_eq!(*found.record, expected, "{id}");
    }
}

/// A creation that was cut off names a group first: it is no group yet, and it can be created.
pub async fn a_named_group_without_a_record_is_listed_and_is_none(world: &dyn World) {
    let scene = Scene::empty(world).await;
    world.name_in_directory(&scene.id).await;
    assert_eq!(
        list(&*scene.store).await,
        BTreeSet::from([scene.id.clone()])
    );
    assert_eq!(scene.load().await, None);
    let id = scene.id.clone();
    create(&scene, &id, "a").await;
    assert_eq!(list(&*scene.store).await, BTreeSet::from([id]));
}
