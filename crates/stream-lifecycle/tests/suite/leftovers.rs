//! What is found where a generation was, or where one is made: whose it is decides whether it goes. Ordinary lives are tested elsewhere.

use std::time::Duration;

use stream_lifecycle::{
    Creation, Draining, Generation, Handle, LifecycleError, Naming, Published, Removal, Retention,
    ShardAdmin, ShardConsumer, ShardProducer,
};

use crate::support::{Link, World, creation, fields, group, once};

fn short() -> Retention {
    let life = Duration::from_millis(30);
    Retention::forever().fixed_ttl(life).unwrap()
}

fn flat(incarnation: u128, retention: Retention) -> Creation {
    let creation = creation(incarnation).naming(Naming::Flat);
    creation.retention(retention)
}

/// A generation whose time is over, and an entry that a plain client has put under its name since.
async fn expired_with_stray(world: &World) -> Handle<Link> {
    let old = world.shard().create(&flat(1, short())).await.unwrap();
    world.until(world.now_ms().await + 40).await;
    let () = world
        .query(&["XADD", "orders:3", "5-0", "v", "stray"])
        .await;
    old
}

#[tokio::test]
async fn what_others_put_under_the_name_of_an_expired_generation_is_not_removed() {
    let world = World::new().await;
    expired_with_stray(&world).await;
    let before = world.dump().await;
    let next = flat(2, Retention::forever());
    let error = world.shard().recreate(Generation::FIRST, &next).await;
    assert!(
        matches!(error, Err(LifecycleError::KeyConflict { .. })),
        "{error:?}"
    );
    assert_eq!(world.dump().await, before);
    // A generation with a key of its own does not mind.
    let own = creation(2).retention(Retention::forever());
    world
        .shard()
        .recreate(Generation::FIRST, &own)
        .await
        .unwrap();
    assert_eq!(world.query::<u64>(&["XLEN", "orders:3"]).await, 1);
}

/// Rule G4: that the time of a generation is over proves nothing about entries that are there.
#[tokio::test]
async fn an_expired_generation_is_not_drained_while_there_are_entries_g4() {
    let world = World::new().await;
    let old = expired_with_stray(&world).await;
    let refused = old.destroy_if_drained(&Draining::new()).await;
    assert!(
        matches!(refused, Err(LifecycleError::NotDrained { .. })),
        "{refused:?}"
    );
    assert_eq!(world.query::<u64>(&["XLEN", "orders:3"]).await, 1);
    let () = world.query(&["DEL", "orders:3"]).await;
    let removed = old.destroy_if_drained(&Draining::new()).await.unwrap();
    assert_eq!(removed, Removal::Destroyed);
}

/// Records that outlived their lifecycle are still known when it is taken over, and their windows go on turning at another pace.
#[tokio::test]
async fn windows_turn_at_the_new_pace_after_a_lost_lifecycle_was_taken_over() {
    let world = World::new().await;
    let window = |ms| {
        Retention::forever()
            .once_window(Duration::from_millis(ms))
            .unwrap()
    };
    let old = world.first_with(window(1)).await;
    old.add_once(&once("old"), &fields("a")).await.unwrap();
    let () = world.query(&["DEL", "{orders:3}:lc"]).await;
    let again = creation(1).retention(window(40)).adopt();
    let new = world.shard().create(&again).await.unwrap();
    let added = new.add_once(&once("k"), &fields("a")).await.unwrap();
    assert!(matches!(added, Published::Added(_)));
    let repeated = new.add_once(&once("k"), &fields("a")).await.unwrap();
    assert_eq!(repeated, Published::Duplicate(added.id()));
    world.until(world.now_ms().await + 100).await;
    let later = new.add_once(&once("k"), &fields("a")).await.unwrap();
    assert!(matches!(later, Published::Added(_)), "{later:?}");
}

/// A lifecycle whose retention this version can't read is no fault of the caller's.
#[tokio::test]
async fn a_retention_of_another_version_is_not_called_bad_input() {
    let world = World::new().await;
    let handle = world.first().await;
    let () = world
        .query(&["HSET", "{orders:3}:lc", "retention", "ttl=lunar"])
        .await;
    let opened = world.shard().open().await;
    assert!(
        matches!(opened, Err(LifecycleError::Unexpected { .. })),
        "{opened:?}"
    );
    // What needs no setting goes on.
    handle.publish(&fields("a")).await.unwrap();
    assert!(!handle.ensure_group(&group("g")).await.unwrap().was_created);
}
