//! Making, sealing and destroying generations.

use std::collections::BTreeSet;
use std::time::Duration;

use stream_lifecycle::{
    Generation, LifecycleError, Naming, Removal, Retention, ShardAdmin, ShardInspect,
    ShardProducer, ShardState, Trim,
};

use crate::support::{World, creation, fields, generation, group, query, read};

#[tokio::test]
async fn a_first_generation_has_all_its_keys_and_its_groups_read_from_the_start() {
    let world = World::new().await;
    let handle = world.first().await;
    let mut expected: Vec<String> = handle.keys().five().map(str::to_owned).to_vec();
    expected.sort();
    assert_eq!(world.keys().await, expected);
    assert_eq!(&*handle.keys().stream, "orders:3");
    let id = handle.publish(&fields("a")).await.unwrap();
    assert_eq!(read(&handle, "c", 10).await, [id]);
    let status = handle.status().await.unwrap();
    assert_eq!(status.state, ShardState::Active);
    let stream = status.stream.unwrap();
    assert_eq!(
        (stream.length, stream.group_count, stream.groups[0].pending),
        (1, 1, 1)
    );
    assert_eq!(stream.groups[0].lag, Some(0));
}

#[tokio::test]
async fn n_concurrent_creates_have_one_winner_and_the_same_incarnation_counts_as_success() {
    let world = World::new().await;
    let shard = world.shard();
    let tasks: Vec<_> = (0..40_u128)
        .map(|number| {
            let shard = shard.clone();
            // Two tasks for each incarnation.
            tokio::spawn(async move { shard.create(&creation(number / 2)).await })
        })
        .collect();
    let mut winners = BTreeSet::new();
    let mut successes = 0;
    for task in tasks {
        match task.await.unwrap() {
            Ok(handle) => {
                successes += 1;
                winners.insert(handle.identity().incarnation);
            }
            Err(LifecycleError::AlreadyExists { current }) => {
                winners.insert(current.incarnation);
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!((winners.len(), successes), (1, 2));
}

#[tokio::test]
async fn n_concurrent_recreates_have_one_winner() {
    let world = World::new().await;
    world.first().await.destroy().await.unwrap();
    let shard = world.shard();
    let tasks: Vec<_> = (10..40_u128)
        .map(|number| {
            let shard = shard.clone();
            tokio::spawn(async move { shard.recreate(Generation::FIRST, &creation(number)).await })
        })
        .collect();
    let mut won = Vec::new();
    for task in tasks {
        match task.await.unwrap() {
            Ok(handle) => won.push(handle),
            Err(LifecycleError::UnexpectedGeneration { current, .. }) => {
                assert_eq!(current.generation, generation(2));
            }
            Err(other) => panic!("{other}"),
        }
    }
    assert_eq!(won.len(), 1);
    assert_eq!(
        world.shard().open().await.unwrap().identity(),
        won[0].identity()
    );
}

#[tokio::test]
async fn the_generation_rises_and_physical_keys_never_repeat() {
    for naming in [Naming::FirstFlat, Naming::Qualified] {
        let world = World::new().await;
        let mut seen = BTreeSet::new();
        let mut handle = world
            .shard()
            .create(&creation(7).naming(naming))
            .await
            .unwrap();
        for number in 1..12 {
            assert_eq!(handle.generation(), generation(number));
            assert!(seen.insert(handle.keys().stream.to_string()));
            handle.destroy().await.unwrap();
            // The same incarnation every time.
            let next = creation(7).naming(naming);
            handle = world
                .shard()
                .recreate(generation(number), &next)
                .await
                .unwrap();
        }
    }
}

#[tokio::test]
async fn a_flat_shard_keeps_its_name_and_still_tells_its_generations_apart() {
    let world = World::new().await;
    let flat = |incarnation| creation(incarnation).naming(Naming::Flat);
    let old = world.shard().create(&flat(1)).await.unwrap();
    old.destroy().await.unwrap();
    let new = world
        .shard()
        .recreate(Generation::FIRST, &flat(2))
        .await
        .unwrap();
    assert_eq!(old.keys().stream, new.keys().stream);
    let error = old.publish(&fields("x")).await.unwrap_err();
    assert!(
        matches!(error, LifecycleError::GenerationMismatch { .. }),
        "{error}"
    );
    new.publish(&fields("x")).await.unwrap();
}

#[tokio::test]
async fn a_handle_changes_no_key_of_another_generation() {
    let world = World::new().await;
    let old = world.first().await;
    old.destroy().await.unwrap();
    let new = world
        .shard()
        .recreate(Generation::FIRST, &creation(2))
        .await
        .unwrap();
    new.publish(&fields("kept")).await.unwrap();
    let before = world.dump().await;
    for (operation, outcome) in crate::guard::every_operation(&old).await {
        assert_eq!(outcome, "GenerationMismatch", "{operation}");
    }
    assert_eq!(world.dump().await, before);
}

#[tokio::test]
async fn sealing_refuses_publishing_and_nothing_else() {
    let world = World::new().await;
    let handle = world.first().await;
    let id = handle.publish(&fields("a")).await.unwrap();
    assert!(handle.seal().await.unwrap());
    assert!(!handle.seal().await.unwrap());
    assert!(matches!(
        handle.publish(&fields("b")).await,
        Err(LifecycleError::Sealed { .. })
    ));
    let key = crate::support::once("k");
    let refused = handle.add_once(&key, &fields("b")).await;
    assert!(matches!(refused, Err(LifecycleError::Sealed { .. })));
    assert_eq!(read(&handle, "c", 10).await, [id]);
    assert_eq!(handle.status().await.unwrap().state, ShardState::Sealed);
    assert!(handle.unseal().await.unwrap());
    handle.publish(&fields("b")).await.unwrap();
}

#[tokio::test]
async fn destroying_leaves_the_tombstone_and_can_be_repeated() {
    let world = World::new().await;
    let handle = world.first().await;
    handle.publish(&fields("a")).await.unwrap();
    assert_eq!(handle.destroy().await.unwrap(), Removal::Destroyed);
    assert_eq!(handle.destroy().await.unwrap(), Removal::Already);
    assert_eq!(world.shard().destroy().await.unwrap(), Removal::Already);
    assert_eq!(world.keys().await, ["{orders:3}:lc"]);
    assert_eq!(handle.status().await.unwrap().state, ShardState::Destroyed);
    let unbound = world.shard_at("orders:4").destroy().await;
    assert!(matches!(unbound, Err(LifecycleError::NotFound { .. })));
    let created = world.shard().create(&creation(1)).await;
    assert!(matches!(created, Err(LifecycleError::Destroyed { .. })));
}

#[tokio::test]
async fn a_living_generation_is_not_recreated() {
    let world = World::new().await;
    world.first().await;
    let error = world
        .shard()
        .recreate(Generation::FIRST, &creation(2))
        .await
        .unwrap_err();
    assert!(
        matches!(error, LifecycleError::StillAlive { .. }),
        "{error}"
    );
    let error = world
        .shard()
        .recreate(generation(2), &creation(2))
        .await
        .unwrap_err();
    assert!(
        matches!(error, LifecycleError::UnexpectedGeneration { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn a_stream_that_exists_is_taken_over_only_when_asked() {
    let world = World::new().await;
    let () = world.query(&["XADD", "orders:3", "5-0", "v", "old"]).await;
    let () = world
        .query(&["XGROUP", "CREATE", "orders:3", "other", "5-0"])
        .await;
    let error = world.shard().create(&creation(1)).await.unwrap_err();
    assert!(
        matches!(&error, LifecycleError::KeyConflict { key, found }
        if key == "orders:3" && found.as_deref() == Some("stream")),
        "{error}"
    );
    let handle = world.shard().create(&creation(1).adopt()).await.unwrap();
    assert_eq!(read(&handle, "c", 10).await, [crate::support::id("5-0")]);
    let groups = handle.status().await.unwrap().stream.unwrap().groups;
    assert_eq!(
        groups
            .iter()
            .map(|group| group.name.as_str())
            .collect::<Vec<_>>(),
        ["g", "other"]
    );
    let nothing = world
        .shard_at("orders:4")
        .create(&creation(1).adopt())
        .await;
    assert!(matches!(nothing, Err(LifecycleError::NothingToAdopt)));
    assert!(
        !world
            .keys()
            .await
            .iter()
            .any(|key| key.contains("orders:4"))
    );
}

#[tokio::test]
async fn a_lost_lifecycle_fails_closed_and_adopting_it_is_explicit() {
    let world = World::new().await;
    let handle = world.first().await;
    handle.publish(&fields("a")).await.unwrap();
    let () = world.query(&["DEL", "{orders:3}:lc"]).await;
    assert!(matches!(
        handle.publish(&fields("b")).await,
        Err(LifecycleError::NotFound { .. })
    ));
    let created = world.shard().create(&creation(1)).await;
    assert!(matches!(created, Err(LifecycleError::KeyConflict { .. })));
    world.shard().create(&creation(1).adopt()).await.unwrap();
    handle.publish(&fields("b")).await.unwrap();
}

#[tokio::test]
async fn metadata_without_its_lifecycle_is_not_taken_over_silently() {
    let world = World::new().await;
    let handle = world.first().await;
    let () = world.query(&["DEL", "{orders:3}:lc", "orders:3"]).await;
    for key in &handle.keys().five()[2..] {
        let before = world.dump().await;
        let created = world.shard().create(&creation(1)).await;
        assert!(
            matches!(created, Err(LifecycleError::KeyConflict { .. })),
            "{key}"
        );
        assert_eq!(world.dump().await, before);
        let () = world.query(&["DEL", key]).await;
    }
    world.shard().create(&creation(1)).await.unwrap();
}

#[tokio::test]
async fn a_shard_that_went_back_has_regressed() {
    let world = World::new().await;
    let old = world.first().await;
    old.destroy().await.unwrap();
    let new = world
        .shard()
        .recreate(Generation::FIRST, &creation(2))
        .await
        .unwrap();
    let () = world.query(&["FLUSHALL"]).await;
    world.shard().create(&creation(3)).await.unwrap();
    let error = new.publish(&fields("x")).await.unwrap_err();
    assert!(matches!(error, LifecycleError::Regressed { .. }), "{error}");
    // The same number, but another life.
    let error = old.publish(&fields("x")).await.unwrap_err();
    assert!(
        matches!(error, LifecycleError::GenerationMismatch { .. }),
        "{error}"
    );
}

#[tokio::test]
async fn an_explicit_retention_that_differs_is_refused_and_an_unspecified_one_is_adopted() {
    let world = World::new().await;
    let kept = Retention::forever().trim(Trim::Exact(5)).unwrap();
    world.first_with(kept).await;
    let same = world.shard().create(&creation(1)).await.unwrap();
    assert_eq!(*same.retention(), kept);
    let other = creation(1).retention(Retention::forever());
    let error = world.shard().create(&other).await.unwrap_err();
    assert!(
        matches!(error, LifecycleError::RetentionDiffers { .. }),
        "{error}"
    );
    let error = world
        .shard()
        .open_with(&Retention::forever())
        .await
        .unwrap_err();
    assert!(
        matches!(error, LifecycleError::RetentionDiffers { .. }),
        "{error}"
    );
    same.destroy().await.unwrap();
    let next = world
        .shard()
        .recreate(Generation::FIRST, &creation(2))
        .await
        .unwrap();
    assert_eq!(*next.retention(), kept);
    let again = world
        .shard()
        .recreate(Generation::FIRST, &creation(2))
        .await
        .unwrap();
    assert_eq!(again.identity(), next.identity());
}

#[tokio::test]
async fn a_deadline_in_the_past_makes_nothing() {
    let world = World::new().await;
    let retention = Retention::forever().deadline(1_000).unwrap();
    let created = world
        .shard()
        .create(&creation(1).retention(retention))
        .await;
    assert!(matches!(
        created,
        Err(LifecycleError::DeadlinePassed {
            deadline_ms: 1_000,
            ..
        })
    ));
    assert!(world.keys().await.is_empty());
}

#[tokio::test]
async fn names_with_anything_but_control_characters_work_throughout() {
    let world = World::new().await;
    let strange = ["%", "a b", "ü", "a:b", "-", "g\u{a0}g", "{x}"];
    let groups = strange.map(group);
    let creation = creation(1).groups(groups);
    let handle = world.shard_at("a b:%:ü:1").create(&creation).await.unwrap();
    let stream = handle.status().await.unwrap().stream.unwrap();
    assert_eq!(stream.groups.len(), strange.len() + 1);
    let ids: Vec<_> = handle.publish_all(&[fields("1"), fields("2")]).await;
    assert!(ids.iter().all(Result::is_ok));
    assert_eq!(query::<u64>(&world.link, &["XLEN", "a b:%:ü:1"]).await, 2);
    handle.destroy().await.unwrap();
    assert_eq!(world.keys().await, ["{a b:%:ü:1}:lc"]);
}

/// Retirement with a delay: the stream stays under another name for a while.
#[tokio::test]
async fn a_drained_stream_is_kept_for_a_while_if_asked() {
    let world = World::new().await;
    let handle = world.first().await;
    let draining = stream_lifecycle::Draining::new().keep(Duration::from_millis(150));
    assert_eq!(
        handle.destroy_if_drained(&draining).await.unwrap(),
        Removal::Destroyed
    );
    assert_eq!(
        world.keys().await,
        ["{orders:3}:lc", "{orders:3}:retired:1"]
    );
    let left: i64 = world.query(&["PTTL", "{orders:3}:retired:1"]).await;
    assert!((1..=150).contains(&left), "{left}");
    world.until(world.now_ms().await + 200).await;
    assert_eq!(world.keys().await, ["{orders:3}:lc"]);
}

/// What plain clients put under a flat name after a removal is theirs: it is neither removed nor taken for a new generation.
#[tokio::test]
async fn what_others_put_under_a_flat_name_is_not_removed() {
    let world = World::new().await;
    let flat = |incarnation| creation(incarnation).naming(Naming::Flat);
    let old = world.shard().create(&flat(1)).await.unwrap();
    old.destroy().await.unwrap();
    let () = world
        .query(&["XADD", "orders:3", "5-0", "v", "stray"])
        .await;
    let before = world.dump().await;
    let error = world
        .shard()
        .recreate(Generation::FIRST, &flat(2))
        .await
        .unwrap_err();
    assert!(
        matches!(error, LifecycleError::KeyConflict { .. }),
        "{error}"
    );
    assert_eq!(world.dump().await, before);
    // A generation with a key of its own does not mind.
    world
        .shard()
        .recreate(Generation::FIRST, &creation(2))
        .await
        .unwrap();
    assert_eq!(query::<u64>(&world.link, &["XLEN", "orders:3"]).await, 1);
}

#[tokio::test]
async fn a_generation_without_groups_has_all_its_keys_too() {
    let world = World::new().await;
    let bare = stream_lifecycle::Creation::new(1.into());
    let handle = world.shard().create(&bare).await.unwrap();
    assert_eq!(world.keys().await.len(), 5);
    handle.publish(&fields("a")).await.unwrap();
    assert_eq!(
        handle.status().await.unwrap().stream.unwrap().group_count,
        0
    );
}

/// What old clients brought back of an earlier generation goes when the next one is made.
#[tokio::test]
async fn leftovers_of_the_earlier_generation_are_removed() {
    let world = World::new().await;
    let old = world.first().await;
    old.destroy().await.unwrap();
    for key in &old.keys().five()[2..] {
        let () = world.query(&["HSET", key, "keep-alive", "1"]).await;
    }
    let new = world
        .shard()
        .recreate(Generation::FIRST, &creation(2))
        .await
        .unwrap();
    let mut expected: Vec<String> = new.keys().five().map(str::to_owned).to_vec();
    expected.sort();
    assert_eq!(world.keys().await, expected);
}
