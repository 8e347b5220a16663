//! How long things are kept, and that the keys of a generation go together.

use std::time::Duration;

use stream_lifecycle::{
    Generation, Handle, LifecycleError, Naming, Retention, ShardConsumer, ShardInspect,
    ShardProducer, ShardState, Trim,
};

use crate::support::{Link, World, creation, fields, group, once, read, registration};

/// When keys 2 to 5 go.
async fn ends(world: &World, handle: &Handle<Link>) -> Vec<i64> {
    let mut ends = Vec::new();
    for key in &handle.keys().five()[1..] {
        ends.push(world.query(&["PEXPIRETIME", key]).await);
    }
    ends
}

async fn the_end(world: &World, handle: &Handle<Link>) -> u64 {
    let ends = ends(world, handle).await;
    assert!(ends.iter().all(|end| *end == ends[0]), "{ends:?}");
    let recorded: u64 = world
        .query(&["HGET", &handle.keys().lifecycle, "expires_ms"])
        .await;
    assert_eq!(u64::try_from(ends[0]).unwrap(), recorded);
    recorded
}

#[tokio::test]
async fn expiry_is_shared_by_keys_2_to_5_whatever_writes() {
    let world = World::new().await;
    let minute = Duration::from_secs(60);
    let kept = Retention::forever().sliding_ttl(minute).unwrap();
    let handle = world
        .first_with(kept.once_window(Duration::from_millis(1)).unwrap())
        .await;
    let who = registration("c", 1, 1);
    let mut last = the_end(&world, &handle).await;
    for number in 0..10 {
        world.until(world.now_ms().await + 1).await;
        handle.publish(&fields("a")).await.unwrap();
        let slid = the_end(&world, &handle).await;
        assert!(slid > last, "a publication extends");
        world.until(world.now_ms().await + 1).await;
        handle
            .add_once(&once(&number.to_string()), &fields("a"))
            .await
            .unwrap();
        last = the_end(&world, &handle).await;
        assert!(last > slid, "a publication extends");
        world.until(world.now_ms().await + 1).await;
        handle.publish_all(&[fields("a"), fields("b")]).await;
        let many = the_end(&world, &handle).await;
        assert!(many > last, "many publications extend");
        world.until(world.now_ms().await + 1).await;
        handle
            .add_all_once(&[(once(&format!("m{number}")), fields("a"))])
            .await;
        last = the_end(&world, &handle).await;
        assert!(last > many, "many publications extend");
        handle.register(&who).await.unwrap();
        handle.refresh(&who).await.unwrap();
        let ids = read(&handle, "c", 10).await;
        handle.ack_as(&who, &ids).await.unwrap();
        handle.ensure_group(&group("g")).await.unwrap();
        assert_eq!(
            the_end(&world, &handle).await,
            last,
            "what is no publication does not"
        );
    }
}

#[tokio::test]
async fn fixed_clocks_start_at_creation_and_deadlines_are_never_extended() {
    let world = World::new().await;
    let fixed = Retention::forever()
        .fixed_ttl(Duration::from_secs(60))
        .unwrap();
    let first = world.first_with(fixed).await;
    let at = world.now_ms().await + 60_000;
    let deadline = creation(1).retention(Retention::forever().deadline(at).unwrap());
    let second = world.shard_at("orders:4").create(&deadline).await.unwrap();
    let before = [
        the_end(&world, &first).await,
        the_end(&world, &second).await,
    ];
    assert!(before[0] <= at && before[1] == at);
    for handle in [&first, &second] {
        world.until(world.now_ms().await + 2).await;
        handle.publish(&fields("a")).await.unwrap();
        handle.add_once(&once("k"), &fields("a")).await.unwrap();
    }
    assert_eq!(
        [
            the_end(&world, &first).await,
            the_end(&world, &second).await
        ],
        before
    );
}

#[tokio::test]
async fn a_key_that_had_been_lost_gets_the_expiry_again() {
    let world = World::new().await;
    let fixed = Retention::forever()
        .fixed_ttl(Duration::from_secs(60))
        .unwrap();
    let handle = world.first_with(fixed).await;
    let end = the_end(&world, &handle).await;
    for key in &handle.keys().five()[1..] {
        let () = world.query(&["DEL", key]).await;
    }
    assert!(handle.ensure_group(&group("g")).await.unwrap().data_lost);
    handle.add_once(&once("k"), &fields("a")).await.unwrap();
    let lost: Vec<i64> = ends(&world, &handle).await;
    // The hash of records that is not used just now is not made anew.
    assert!(
        lost.iter()
            .all(|at| *at == i64::try_from(end).unwrap() || *at == -2),
        "{lost:?}"
    );
    assert_eq!(lost.iter().filter(|at| **at == -2).count(), 1);
}

#[tokio::test]
async fn expiry_ends_a_generation_and_leaves_only_the_lifecycle() {
    for naming in [Naming::FirstFlat, Naming::Flat] {
        let world = World::new().await;
        let short = Retention::forever()
            .sliding_ttl(Duration::from_millis(80))
            .unwrap();
        let creation_1 = creation(1).retention(short).naming(naming);
        let handle = world.shard().create(&creation_1).await.unwrap();
        handle.publish(&fields("a")).await.unwrap();
        let end = the_end(&world, &handle).await;
        world.until(end).await;
        assert!(matches!(
            handle.publish(&fields("b")).await,
            Err(LifecycleError::Expired { .. })
        ));
        assert!(matches!(
            world.shard().open().await,
            Err(LifecycleError::Expired { .. })
        ));
        let created = world.shard().create(&creation_1).await;
        assert!(matches!(created, Err(LifecycleError::Expired { .. })));
        assert_eq!(handle.status().await.unwrap().state, ShardState::Expired);
        assert_eq!(world.keys().await, ["{orders:3}:lc"]);
        let next = creation(2).retention(Retention::forever()).naming(naming);
        let next = world
            .shard()
            .recreate(Generation::FIRST, &next)
            .await
            .unwrap();
        next.publish(&fields("b")).await.unwrap();
        assert_eq!(ends(&world, &next).await, [-1; 4]);
        assert_eq!(world.keys().await.len(), 5);
    }
}

#[tokio::test]
async fn entries_beyond_the_limit_are_trimmed_by_the_write_itself() {
    let world = World::new().await;
    let exact = Retention::forever().trim(Trim::Exact(3)).unwrap();
    let handle = world.first_with(exact).await;
    for number in 0..5 {
        handle.publish(&fields(&number.to_string())).await.unwrap();
        handle
            .add_once(&once(&number.to_string()), &fields("x"))
            .await
            .unwrap();
        assert!(world.query::<u64>(&["XLEN", "orders:3"]).await <= 3);
    }
    let many: Vec<_> = (0..100).map(|number| fields(&number.to_string())).collect();
    let ids = handle.publish_all(&many).await;
    let ids: Vec<_> = ids.into_iter().map(Result::unwrap).collect();
    let left: Vec<_> = handle
        .snapshot(3)
        .await
        .unwrap()
        .into_iter()
        .map(|entry| entry.id)
        .collect();
    assert_eq!(left, ids[97..]);
    let roughly = creation(1).retention(Retention::forever().trim(Trim::Approximate(10)).unwrap());
    let handle = world.shard_at("orders:4").create(&roughly).await.unwrap();
    let entries: Vec<_> = (0..1_000)
        .map(|number| fields(&number.to_string()))
        .collect();
    assert!(handle.publish_all(&entries).await.iter().all(Result::is_ok));
    let length: u64 = world.query(&["XLEN", "orders:4"]).await;
    assert!((10..300).contains(&length), "{length}");
}
