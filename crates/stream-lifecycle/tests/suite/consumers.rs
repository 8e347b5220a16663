//! Consumer groups and consumers: made at the right place, fenced, acknowledged, removed.

use stream_lifecycle::{
    Fields, Generation, LifecycleError, MemberEpoch, Reading, ShardAdmin, ShardConsumer,
    ShardInspect, ShardProducer, StreamId,
};

use crate::support::{World, consumer, creation, fields, group, id, read, registration};

/// Adds entries `1` to `count`.
async fn publish(handle: &impl ShardProducer, count: usize) -> Vec<StreamId> {
    let entries: Vec<Fields> = (1..=count)
        .map(|number| fields(&number.to_string()))
        .collect();
    let ids = handle.publish_all(&entries).await;
    ids.into_iter().map(Result::unwrap).collect()
}

/// Cases C01 and C02: every unacknowledged entry comes again, nothing of the acknowledged prefix does, and the lag is known.
#[tokio::test]
async fn a_lost_group_goes_on_where_it_had_come_to_c01_c02() {
    // Which of eight delivered entries are acknowledged, in which order; and how many come again.
    let table: [(&[usize], usize); 6] = [
        (&[], 0),
        (&[0, 1, 2], 3),
        (&[2, 1, 0], 3),
        (&[1, 2, 5], 0),
        (&[0, 1, 3, 7], 2),
        (&[7, 6, 5, 4, 3, 2, 1, 0], 8),
    ];
    for (acknowledged, prefix) in table {
        let world = World::new().await;
        let handle = world.first().await;
        let ids = publish(&handle, 12).await;
        assert_eq!(read(&handle, "c", 8).await, ids[..8]);
        for index in acknowledged {
            handle.ack(&group("g"), &[ids[*index]]).await.unwrap();
        }
        let () = world.query(&["XGROUP", "DESTROY", "orders:3", "g"]).await;
        let ensured = handle.ensure_group(&group("g")).await.unwrap();
        assert!(ensured.was_created && !ensured.data_lost);
        let status = handle.status().await.unwrap().stream.unwrap();
        assert_eq!(
            status.groups[0].lag,
            Some(12 - prefix as u64),
            "{acknowledged:?}"
        );
        assert_eq!(
            read(&handle, "c", 100).await,
            ids[prefix..],
            "{acknowledged:?}"
        );
        let again = handle.ensure_group(&group("g")).await.unwrap();
        assert!(!again.was_created);
    }
}

/// Case C02: where the stream itself was lost, its successor is read from its first entry, whatever was saved.
#[tokio::test]
async fn a_lost_stream_is_read_from_its_first_entry_c02() {
    let world = World::new().await;
    let both = creation(1).groups([group("h")]);
    let handle = world.shard().create(&both).await.unwrap();
    let ids = publish(&handle, 3).await;
    read(&handle, "c", 10).await;
    handle.ack(&group("g"), &ids).await.unwrap();
    let () = world.query(&["DEL", "orders:3"]).await;
    let ensured = handle.ensure_group(&group("g")).await.unwrap();
    assert_eq!(
        (ensured.data_lost, ensured.position),
        (true, StreamId::ZERO)
    );
    // The clock went back: ids below the saved position. Nobody skips them.
    let () = world
        .query(&["XADD", "orders:3", "1-0", "v", "early"])
        .await;
    let other = handle.ensure_group(&group("h")).await.unwrap();
    assert!(other.was_created && other.data_lost);
    let () = world.query(&["XGROUP", "DESTROY", "orders:3", "g"]).await;
    handle.ensure_group(&group("g")).await.unwrap();
    assert_eq!(read(&handle, "c", 10).await, [id("1-0")]);
    let status = handle.status().await.unwrap().stream.unwrap();
    assert_eq!(
        status
            .groups
            .iter()
            .map(|group| group.lag)
            .collect::<Vec<_>>(),
        [Some(0), Some(1)]
    );
}

/// Case C02: a saved position beyond the end of the stream is of another stream.
#[tokio::test]
async fn a_position_beyond_the_end_is_not_used_c02() {
    let world = World::new().await;
    let handle = world.first().await;
    let ids = publish(&handle, 3).await;
    read(&handle, "c", 10).await;
    handle.ack(&group("g"), &ids).await.unwrap();
    // Somebody else made the stream anew, with a clock that went back.
    let () = world.query(&["DEL", "orders:3"]).await;
    let () = world
        .query(&["XADD", "orders:3", "5-0", "v", "early"])
        .await;
    let ensured = handle.ensure_group(&group("g")).await.unwrap();
    assert!(ensured.was_created && ensured.data_lost);
    assert_eq!(ensured.position, StreamId::ZERO);
    assert_eq!(read(&handle, "c", 10).await, [id("5-0")]);
}

/// Case C49: ids with parts above 2^53 are compared and counted down as numbers, not as texts and not rounded.
#[tokio::test]
async fn positions_keep_all_digits_c49() {
    let world = World::new().await;
    let handle = world.first().await;
    for text in ["1-9", "1-10", "1-18446744073709551615", "2-0", "10-0"] {
        let () = world.query(&["XADD", "orders:3", text, "v", "x"]).await;
    }
    let all = read(&handle, "c", 10).await;
    let positions = [
        // All but this one are acknowledged; the position is just before it.
        (1, "1-9"),
        (2, "1-18446744073709551614"),
        (3, "1-18446744073709551615"),
        (4, "9-18446744073709551615"),
    ];
    for (left, expected) in positions {
        let () = world.query(&["XGROUP", "DESTROY", "orders:3", "g"]).await;
        let () = world
            .query(&["XGROUP", "CREATE", "orders:3", "g", "0"])
            .await;
        read(&handle, "c", 10).await;
        let others: Vec<StreamId> = all.iter().copied().filter(|id| *id != all[left]).collect();
        handle.ack(&group("g"), &others).await.unwrap();
        let () = world.query(&["XGROUP", "DESTROY", "orders:3", "g"]).await;
        let ensured = handle.ensure_group(&group("g")).await.unwrap();
        assert_eq!(ensured.position, id(expected));
    }
}

/// Case C01: a missing group is an error of its own, at once, and nothing makes it silently.
#[tokio::test]
async fn a_missing_group_is_told_and_not_made_c01() {
    let world = World::new().await;
    let handle = world.first().await;
    let () = world.query(&["XGROUP", "DESTROY", "orders:3", "g"]).await;
    let reading = Reading::new(1);
    let read = handle.read(&group("g"), &consumer("c"), &reading).await;
    assert!(matches!(read, Err(LifecycleError::NoGroup { .. })));
    let who = registration("c", 1, 1);
    assert!(matches!(
        handle.register(&who).await,
        Err(LifecycleError::NoGroup { .. })
    ));
    let ack = handle.ack(&group("g"), &[id("1-0")]).await;
    assert!(matches!(ack, Err(LifecycleError::NoGroup { .. })));
    assert_eq!(
        handle.status().await.unwrap().stream.unwrap().group_count,
        0
    );
    // A shard that is retired is not repaired.
    handle.destroy().await.unwrap();
    let ensured = handle.ensure_group(&group("g")).await;
    assert!(matches!(ensured, Err(LifecycleError::Destroyed { .. })));
    assert_eq!(world.keys().await, ["{orders:3}:lc"]);
}

/// Registration is all or nothing, and an older process or epoch changes nothing.
#[tokio::test]
async fn registration_is_all_or_nothing() {
    let world = World::new().await;
    let handle = world.first().await;
    handle.register(&registration("c", 5, 7)).await.unwrap();
    let status = handle.status().await.unwrap().stream.unwrap();
    assert_eq!(status.groups[0].consumers, 1);
    let before = world.dump().await;
    for (token, epoch) in [(4, 7), (5, 6), (4, 8), (6, 6)] {
        let error = handle
            .register(&registration("c", token, epoch))
            .await
            .unwrap_err();
        assert!(matches!(
            error,
            LifecycleError::ConsumerFenced {
                token: Some(5),
                epoch: Some(7)
            }
        ));
    }
    assert_eq!(world.dump().await, before);
    handle.register(&registration("c", 6, 7)).await.unwrap();
    let refreshed = handle.refresh(&registration("c", 5, 7)).await;
    assert!(matches!(
        refreshed,
        Err(LifecycleError::ConsumerFenced { .. })
    ));
    handle.refresh(&registration("c", 6, 9)).await.unwrap();
}

/// A sign of life never makes anything: not for a consumer that is not registered, and not after a removal (case C47).
#[tokio::test]
async fn a_sign_of_life_makes_nothing_c47() {
    let world = World::new().await;
    let handle = world.first().await;
    let before = world.dump().await;
    let refreshed = handle.refresh(&registration("c", 1, 1)).await;
    assert!(matches!(
        refreshed,
        Err(LifecycleError::ConsumerFenced { .. })
    ));
    assert_eq!(world.dump().await, before);
    handle.register(&registration("c", 1, 1)).await.unwrap();
    handle.destroy().await.unwrap();
    let refreshed = handle.refresh(&registration("c", 1, 1)).await;
    assert!(matches!(refreshed, Err(LifecycleError::Destroyed { .. })));
    assert_eq!(world.keys().await, ["{orders:3}:lc"]);
}

/// Case C47, negative control: a keep-alive that simply sets its field brings keys back that were removed.
#[tokio::test]
async fn a_plain_keep_alive_brings_removed_keys_back_c47() {
    let world = World::new().await;
    let handle = world.first().await;
    handle.destroy().await.unwrap();
    let () = world
        .query(&["HSET", &handle.keys().metadata, "keep-alive", "1"])
        .await;
    assert_eq!(world.keys().await.len(), 2);
}

/// Case C36: acknowledgements survive epochs that do not concern the shard, and are refused once it was given away.
#[tokio::test]
async fn acknowledgements_are_fenced_by_grants_not_by_every_epoch_c36() {
    let world = World::new().await;
    let handle = world.first().await;
    let ids = publish(&handle, 3).await;
    let mine = registration("a", 1, 7).sole();
    handle.register(&mine).await.unwrap();
    read(&handle, "a", 10).await;
    let later = mine.clone().at_epoch(MemberEpoch::new(9).unwrap());
    let acked = handle.ack_as(&later, &ids[..1]).await.unwrap();
    assert_eq!((acked.count, acked.unknown), (1, 0));
    let earlier = mine.clone().at_epoch(MemberEpoch::new(6).unwrap());
    let refused = handle.ack_as(&earlier, &ids[1..2]).await;
    assert!(matches!(
        refused,
        Err(LifecycleError::ConsumerFenced { .. })
    ));
    // The shard is given to another at a later epoch.
    handle
        .register(&registration("b", 1, 10).sole())
        .await
        .unwrap();
    let refused = handle.ack_as(&later, &ids[1..2]).await;
    assert!(matches!(
        refused,
        Err(LifecycleError::ConsumerFenced {
            epoch: Some(10),
            ..
        })
    ));
    let refused = handle.register(&registration("a", 2, 10).sole()).await;
    assert!(matches!(
        refused,
        Err(LifecycleError::ConsumerFenced { .. })
    ));
    let status = handle.status().await.unwrap().stream.unwrap();
    assert_eq!(
        status.groups[0].pending, 2,
        "a refused acknowledgement does not count"
    );
}

/// Whoever had the shard alone and leaves, leaves it free: also for a consumer at the same epoch.
#[tokio::test]
async fn a_sole_consumer_that_leaves_fences_nobody() {
    let world = World::new().await;
    let handle = world.first().await;
    let alone = registration("a", 1, 5).sole();
    handle.register(&alone).await.unwrap();
    let other = registration("b", 1, 5);
    let fenced = handle.register(&other).await;
    assert!(matches!(
        fenced,
        Err(LifecycleError::ConsumerFenced { epoch: Some(5), .. })
    ));
    handle.deregister(&alone).await.unwrap();
    handle.register(&other).await.unwrap();
    handle.refresh(&other).await.unwrap();
}

/// Case C09: an acknowledgement of what is not pending is counted, and no success.
#[tokio::test]
async fn an_acknowledgement_that_finds_nothing_is_counted_c09() {
    let world = World::new().await;
    let handle = world.first().await;
    let ids = publish(&handle, 3).await;
    read(&handle, "c", 2).await;
    let outcome = handle.ack(&group("g"), &ids).await.unwrap();
    assert_eq!((outcome.count, outcome.unknown), (2, 1));
    let () = world.query(&["DEL", "orders:3"]).await;
    assert!(matches!(
        handle.ack(&group("g"), &ids).await,
        Err(LifecycleError::DataLost { .. })
    ));
}

#[tokio::test]
async fn pipelined_acknowledgements_have_outcomes_of_their_own() {
    let world = World::new().await;
    let handle = world.first().await;
    let ids = publish(&handle, 64).await;
    let who = registration("c", 1, 1);
    handle.register(&who).await.unwrap();
    read(&handle, "c", 63).await;
    let outcomes = handle.ack_each(&who, &ids).await;
    let counts: Vec<u64> = outcomes
        .into_iter()
        .map(|outcome| outcome.unwrap().count)
        .collect();
    assert_eq!(counts, [[1; 63].as_slice(), &[0]].concat());
}

/// Case C17: a consumer with pending entries is not removed, since they would be lost with it.
#[tokio::test]
async fn a_consumer_with_pending_entries_stays_c17() {
    let world = World::new().await;
    let handle = world.first().await;
    let ids = publish(&handle, 2).await;
    let who = registration("c", 1, 1);
    handle.register(&who).await.unwrap();
    read(&handle, "c", 10).await;
    let error = handle.deregister(&who).await.unwrap_err();
    assert!(
        matches!(error, LifecycleError::StillPending { pending: 2 }),
        "{error}"
    );
    handle.ack_as(&who, &ids).await.unwrap();
    let older = handle.deregister(&registration("c", 0, 1)).await;
    assert!(matches!(older, Err(LifecycleError::ConsumerFenced { .. })));
    handle.deregister(&who).await.unwrap();
    let status = handle.status().await.unwrap().stream.unwrap();
    assert_eq!(status.groups[0].consumers, 0);
    let left: Vec<String> = world.query(&["HKEYS", &handle.keys().metadata]).await;
    assert_eq!(left.len(), 2, "{left:?}");
}

/// Case C15: what was deleted or trimmed while pending is told apart, and can be acknowledged.
#[tokio::test]
async fn deleted_entries_are_told_apart_in_history_c15() {
    let world = World::new().await;
    let handle = world.first().await;
    let ids = publish(&handle, 4).await;
    read(&handle, "c", 10).await;
    handle.remove(&ids[1..3]).await.unwrap();
    let history = Reading::new(10).pending_after(StreamId::ZERO);
    let batch = handle
        .read(&group("g"), &consumer("c"), &history)
        .await
        .unwrap();
    let live: Vec<StreamId> = batch
        .records
        .iter()
        .map(|record| record.entry().id)
        .collect();
    assert_eq!(
        (live, batch.deleted.as_slice()),
        (vec![ids[0], ids[3]], &ids[1..3])
    );
    let outcome = handle.ack(&group("g"), &batch.deleted).await.unwrap();
    assert_eq!(outcome.count, 2);
}

/// A record's acknowledgement goes to its own generation, never to a later one.
#[tokio::test]
async fn a_record_is_acknowledged_in_its_own_generation() {
    let world = World::new().await;
    let old = world.first().await;
    publish(&old, 1).await;
    let reading = Reading::new(1);
    let batch = old
        .read(&group("g"), &consumer("c"), &reading)
        .await
        .unwrap();
    old.destroy().await.unwrap();
    let new = world
        .shard()
        .recreate(Generation::FIRST, &creation(2))
        .await
        .unwrap();
    publish(&new, 1).await;
    read(&new, "c", 10).await;
    let before = world.dump().await;
    assert!(batch.records[0].ack().await.unwrap_err().is_stale());
    assert_eq!(world.dump().await, before);
}
