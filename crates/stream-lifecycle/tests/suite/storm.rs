//! Everything at the same time as the removal: afterwards only tombstones remain.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use stream_lifecycle::{
    Claiming, Creation, Draining, Generation, Handle, LifecycleError, Reading, Rejection,
    ShardAdmin, ShardConsumer, ShardInspect, ShardProducer, ShardRecovery, ShardRedelivery,
    ShardRef, StreamId,
};

use crate::guard::every_operation;
use crate::support::{
    Link, World, consumer, creation, fields, group, id, lease, once, registration, try_query,
};

const OPERATIONS: usize = 22;

/// What is done about a pending entry that has to be handled again, or not any more.
async fn again(handle: &Handle<Link>, which: usize) -> Result<(), LifecycleError> {
    let who = registration("c", 1, 1);
    handle.register(&who).await?;
    handle.publish(&fields("a")).await?;
    let (group, consumer) = (group("g"), consumer("c"));
    let batch = handle.read(&group, &consumer, &Reading::new(1)).await?;
    let Some(record) = batch.records.first() else {
        return Ok(());
    };
    let id = record.entry().id;
    match which {
        17 => handle.attempt(&who, id).await.map(drop),
        18 => handle.postpone(&who, id, Duration::ZERO).await.map(drop),
        19 => {
            let rejection = Rejection::new("x");
            let told = handle.dead_letter(&who, &[id], &rejection).await;
            told.map(drop)
        }
        20 => handle.ack_and_delete(&who, &[id]).await.map(drop),
        _ => handle.refresh_counting(&who, Some(1)).await.map(drop),
    }
}

/// One operation of each kind; whether it worked does not matter here, what it leaves behind does.
async fn operate(handle: &Handle<Link>, which: usize) {
    let who = registration("c", 1, 1);
    let outcome: Result<(), LifecycleError> = match which % OPERATIONS {
        0 => handle.publish(&fields("a")).await.map(drop),
        1 => handle.add_once(&once("k"), &fields("a")).await.map(drop),
        2 => handle.remove(&[id("1-0")]).await.map(drop),
        3 => handle.ensure_group(&group("g")).await.map(drop),
        4 => handle.register(&who).await,
        5 => handle.refresh(&who).await,
        6 => handle.ack(&group("g"), &[id("1-0")]).await.map(drop),
        7 => handle.deregister(&who).await,
        8 => match lease(handle, "o").await {
            Ok(lease) => {
                let claiming = Claiming::new(consumer("c"));
                handle
                    .claim(&lease, &claiming, StreamId::ZERO)
                    .await
                    .map(drop)
            }
            Err(error) => Err(error),
        },
        9 => match lease(handle, "o").await {
            Ok(lease) => handle.cleanup(&lease, Duration::ZERO, &[]).await.map(drop),
            Err(error) => Err(error),
        },
        10 => handle.seal().await.map(drop),
        11 => handle.unseal().await.map(drop),
        12 => handle.snapshot(1_000).await.map(drop),
        13 => handle
            .publish_all(&[fields("a"), fields("b")])
            .await
            .remove(1)
            .map(drop),
        14 => {
            let entries = [(once("k"), fields("a")), (once("l"), fields("a"))];
            handle.add_all_once(&entries).await.remove(1).map(drop)
        }
        15 => handle
            .ack_each(&who, &[id("1-0")])
            .await
            .remove(0)
            .map(drop),
        which @ 17.. => again(handle, which).await,
        _ => {
            let draining = Draining::new();
            handle.destroy_if_drained(&draining).await.map(drop)
        }
    };
    if let Err(error) = outcome {
        let is_known = error.is_stale()
            || matches!(
                error,
                LifecycleError::Sealed { .. }
                    | LifecycleError::ConsumerFenced { .. }
                    | LifecycleError::StillPending { .. }
                    | LifecycleError::NotDrained { .. }
                    | LifecycleError::NotPending { .. }
                    | LifecycleError::LeaseLost { .. }
                    | LifecycleError::LeaseHeld { .. }
            );
        assert!(is_known, "{error:?}");
    }
}

/// Dead letters are the shard's, not the generation's.
async fn tombstone_only(world: &World) {
    let mut keys = world.keys().await;
    keys.retain(|key| key != "{orders:3}:dlq:g");
    assert_eq!(keys, ["{orders:3}:lc"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn after_a_removal_only_the_tombstone_remains_for_each_operation() {
    for which in 0..OPERATIONS {
        let world = World::new().await;
        let mut handle = world.first().await;
        for _ in 0..12 {
            let stop = Arc::new(AtomicBool::new(false));
            let rounds = Arc::new(AtomicUsize::new(0));
            let mut tasks = Vec::new();
            for _ in 0..3 {
                let own = handle.with_link(world.connect().await);
                let (stop, rounds) = (Arc::clone(&stop), Arc::clone(&rounds));
                tasks.push(tokio::spawn(async move {
                    while !stop.load(Ordering::SeqCst) {
                        operate(&own, which).await;
                        rounds.fetch_add(1, Ordering::SeqCst);
                    }
                }));
            }
            let begun = || rounds.load(Ordering::SeqCst) > 5;
            testkit::wait_until(Duration::from_secs(10), begun)
                .await
                .unwrap();
            handle.destroy().await.unwrap();
            let seen = rounds.load(Ordering::SeqCst);
            let went_on = || rounds.load(Ordering::SeqCst) > seen + 5;
            testkit::wait_until(Duration::from_secs(10), went_on)
                .await
                .unwrap();
            stop.store(true, Ordering::SeqCst);
            for task in tasks {
                task.await.unwrap();
            }
            tombstone_only(&world).await;
            let last = handle.generation();
            handle = world
                .shard()
                .recreate(last, &creation(last.get().into()))
                .await
                .unwrap();
        }
    }
}

/// A client that knows nothing of lifecycles: adds without making the stream, and waits in blocked reads.
async fn plain_client(link: Link, key: String, stop: Arc<AtomicBool>) {
    while !stop.load(Ordering::SeqCst) {
        let add = ["XADD", &key, "NOMKSTREAM", "*", "v", "plain"];
        let _: redis::RedisResult<redis::Value> = try_query(&link, &add).await;
        let read = [
            "XREADGROUP",
            "GROUP",
            "g",
            "plain",
            "COUNT",
            "5",
            "BLOCK",
            "3",
            "STREAMS",
            &key,
            ">",
        ];
        let _: redis::RedisResult<redis::Value> = try_query(&link, &read).await;
    }
}

async fn storm(
    shard: ShardRef<Link>,
    handles: Vec<Handle<Link>>,
    seed: u64,
    stop: Arc<AtomicBool>,
) {
    let mut random = crate::support::Random::new(seed);
    while !stop.load(Ordering::SeqCst) {
        let number = usize::try_from(random.below(1_000)).unwrap();
        let handle = &handles[number % handles.len()];
        operate(handle, number / 7).await;
        if number == 0 {
            // A creation that is repeated, and one of another.
            let again = Creation::new(handle.identity().incarnation);
            assert!(
                shard.create(&again).await.is_err() || handle.generation() == Generation::FIRST
            );
        }
    }
}

/// Two hundred rounds of everything against the removal.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_rounds_of_everything_leave_only_tombstones() {
    let world = World::new().await;
    let mut links = Vec::new();
    for _ in 0..4 {
        links.push(world.connect().await);
    }
    let mut current = world.first().await;
    let mut earlier: Vec<Handle<Link>> = Vec::new();
    for round in 0..200_u64 {
        let stop = Arc::new(AtomicBool::new(false));
        let mut tasks = Vec::new();
        for (seed, link) in (0..).zip(&links[..3]) {
            let mut handles = vec![
                current.with_link(link.clone()),
                current.with_link(link.clone()),
            ];
            handles.extend(earlier.last().map(|handle| handle.with_link(link.clone())));
            let (shard, stop) = (world.shard(), Arc::clone(&stop));
            tasks.push(tokio::spawn(storm(shard, handles, round * 3 + seed, stop)));
        }
        let key = current.keys().stream.to_string();
        tasks.push(tokio::spawn(plain_client(
            links[3].clone(),
            key,
            Arc::clone(&stop),
        )));
        for _ in 0..round % 8 {
            operate(&current, usize::try_from(round).unwrap()).await;
        }
        current.destroy().await.unwrap();
        every_operation(&current).await;
        stop.store(true, Ordering::SeqCst);
        for task in tasks {
            task.await.unwrap();
        }
        tombstone_only(&world).await;
        let next = creation(u128::from(round) + 10);
        let next = world
            .shard()
            .recreate(current.generation(), &next)
            .await
            .unwrap();
        earlier.push(std::mem::replace(&mut current, next));
    }
    assert_eq!(current.generation().get(), 201);
}

/// A blocked reader is woken by the removal, and is told.
#[tokio::test]
async fn removing_a_stream_wakes_its_blocked_readers() {
    let world = World::new().await;
    let handle = world.first().await;
    let reader = handle.with_link(world.connect().await);
    let reading = tokio::spawn(async move {
        let (group, consumer) = (group("g"), consumer("c"));
        let reading = Reading::new(1).block(Duration::from_secs(100));
        // A driver that gives up first would prove nothing.
        reader.read(&group, &consumer, &reading).await
    });
    let blocked = testkit::wait_until_async(Duration::from_secs(10), async || {
        let text: String = world.query(&["INFO", "clients"]).await;
        text.contains("blocked_clients:1")
    });
    blocked.await.unwrap();
    handle.destroy().await.unwrap();
    let outcome = reading.await.unwrap();
    assert!(
        matches!(
            outcome,
            Err(LifecycleError::ReadEnded | LifecycleError::Destroyed { .. })
        ),
        "{outcome:?}"
    );
}
