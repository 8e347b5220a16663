//! Looking at a generation, and binding to it lazily.

use std::sync::Arc;

use stream_lifecycle::{
    Entry, LazyHandle, LifecycleError, ShardAdmin, ShardInspect, ShardProducer, StreamId,
};

use crate::support::{World, creation, fields, group, query, read};

#[tokio::test]
async fn a_snapshot_leaves_everything_as_it_was() {
    let world = World::new().await;
    let handle = world.first().await;
    let entries: Vec<_> = (0..50).map(|number| fields(&number.to_string())).collect();
    handle.publish_all(&entries).await;
    read(&handle, "c", 10).await;
    let before = world.dump().await;
    let snapshot = handle.snapshot(50).await.unwrap();
    handle.status().await.unwrap();
    assert_eq!(handle.peek(StreamId::ZERO, 5).await.unwrap(), snapshot[..5]);
    assert_eq!(
        handle.peek(snapshot[48].id, 5).await.unwrap(),
        snapshot[48..]
    );
    assert_eq!(world.dump().await, before);
    let values: Vec<_> = snapshot.into_iter().map(|entry| entry.fields).collect();
    assert_eq!(values, entries);
    let large = handle.snapshot(49).await.unwrap_err();
    assert!(matches!(
        large,
        LifecycleError::SnapshotTooLarge {
            length: 50,
            most: 49
        }
    ));
}

/// A snapshot equals the stream at one moment, while entries are added at one end and removed at the other: always a gapless run.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_snapshot_is_of_one_moment() {
    let world = World::new().await;
    let handle = world.first().await;
    let writer = handle.with_link(world.connect().await);
    let writing = tokio::spawn(async move {
        let mut live = std::collections::VecDeque::new();
        for number in 0..2_000 {
            live.push_back(writer.publish(&fields(&number.to_string())).await.unwrap());
            if live.len() > 20 {
                writer.remove(&[live.pop_front().unwrap()]).await.unwrap();
            }
        }
    });
    let mut seen = 0;
    while !writing.is_finished() {
        let entries = handle.snapshot(1_000).await.unwrap();
        let numbers: Vec<u64> = entries.iter().map(number).collect();
        assert!(
            numbers.windows(2).all(|pair| pair[0] + 1 == pair[1]),
            "{numbers:?}"
        );
        assert!(numbers.len() <= 21);
        seen += 1;
    }
    writing.await.unwrap();
    assert!(seen > 10, "{seen}");
    let rows: Vec<redis::Value> = query(&world.link, &["XRANGE", "orders:3", "-", "+"]).await;
    assert_eq!(handle.snapshot(1_000).await.unwrap().len(), rows.len());
}

fn number(entry: &Entry) -> u64 {
    let value = entry.fields.get("v").unwrap();
    std::str::from_utf8(value).unwrap().parse().unwrap()
}

#[tokio::test]
async fn one_malformed_entry_fails_a_decoded_snapshot() {
    let world = World::new().await;
    let handle = world.first().await;
    handle.publish(&fields("1")).await.unwrap();
    let bad = handle.publish(&fields("x")).await.unwrap();
    let decode = |entry: &Entry| {
        let value = entry.fields.get("v").unwrap_or_default();
        String::from_utf8_lossy(value).parse::<u64>()
    };
    let error = handle.snapshot_decoded(10, decode).await.unwrap_err();
    assert!(matches!(&error, LifecycleError::MalformedEntry { id, .. } if *id == bad.to_string()));
    handle.remove(&[bad]).await.unwrap();
    assert_eq!(handle.snapshot_decoded(10, decode).await.unwrap(), [1]);
}

#[tokio::test]
async fn a_lost_stream_is_no_empty_snapshot() {
    let world = World::new().await;
    let handle = world.first().await;
    assert_eq!(handle.snapshot(10).await.unwrap(), []);
    let () = world.query(&["DEL", "orders:3"]).await;
    assert!(matches!(
        handle.snapshot(10).await,
        Err(LifecycleError::DataLost { .. })
    ));
    assert!(matches!(
        handle.peek(StreamId::ZERO, 10).await,
        Err(LifecycleError::DataLost { .. })
    ));
    assert_eq!(handle.status().await.unwrap().stream, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_tasks_race_the_first_use_of_a_lazy_handle_and_get_one_identity() {
    let world = World::new().await;
    let lazy = Arc::new(LazyHandle::new(world.shard()));
    // A failure leaves it unbound.
    assert!(matches!(
        lazy.get().await,
        Err(LifecycleError::NotFound { .. })
    ));
    assert!(lazy.bound().is_none());
    let mut current = world.first().await;
    let tasks: Vec<_> = (0..64)
        .map(|_| {
            let lazy = Arc::clone(&lazy);
            tokio::spawn(async move {
                let bound = lazy.get().await;
                bound.map(|handle| handle.identity().clone())
            })
        })
        .collect();
    // Generations come and go meanwhile.
    for number in 2..12 {
        current.destroy().await.unwrap();
        let next = creation(number).groups([group("h")]);
        current = world
            .shard()
            .recreate(current.generation(), &next)
            .await
            .unwrap();
    }
    let mut identities = Vec::new();
    for task in tasks {
        // Between two generations there is none to bind to.
        match task.await.unwrap() {
            Ok(identity) => identities.push(identity),
            Err(error) => assert!(matches!(error, LifecycleError::Destroyed { .. }), "{error}"),
        }
    }
    let bound = lazy.get().await.unwrap().identity().clone();
    assert!(!identities.is_empty());
    assert!(identities.iter().all(|identity| *identity == bound));
    // It never binds to another.
    current.destroy().await.unwrap();
    assert_eq!(*lazy.get().await.unwrap().identity(), bound);
    assert!(
        lazy.get()
            .await
            .unwrap()
            .publish(&fields("x"))
            .await
            .unwrap_err()
            .is_stale()
    );
}
