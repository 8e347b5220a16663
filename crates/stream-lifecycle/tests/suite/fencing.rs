//! Who may still act for a group after its only consumer changed or left (case C36). Plain registrations are tested elsewhere.

use std::time::Duration;

use stream_lifecycle::{
    Claiming, LifecycleError, ShardAdmin, ShardConsumer, ShardProducer, ShardRecovery, StreamId,
};

use crate::support::{World, consumer, fields, group, lease, query, read, registration};

/// Whoever lost the shard stays fenced, also once the one who got it has left, or shares it.
#[tokio::test]
async fn a_consumer_that_lost_the_shard_stays_fenced_after_its_successor_left_c36() {
    for leaves in [true, false] {
        let world = World::new().await;
        let handle = world.first().await;
        let id = handle.publish(&fields("a")).await.unwrap();
        let old = registration("old", 1, 5).sole();
        handle.register(&old).await.unwrap();
        read(&handle, "old", 1).await;
        let new = registration("new", 1, 7).sole();
        handle.register(&new).await.unwrap();
        if leaves {
            handle.deregister(&new).await.unwrap();
        } else {
            handle.register(&registration("new", 1, 7)).await.unwrap();
            handle.refresh(&registration("new", 1, 7)).await.unwrap();
        }
        let refused = handle.ack_as(&old, &[id]).await;
        assert!(
            matches!(
                refused,
                Err(LifecycleError::ConsumerFenced { epoch: Some(7), .. })
            ),
            "{leaves}: {refused:?}"
        );
        assert!(handle.refresh(&old).await.is_err());
        // A grant that was overtaken arrives late.
        let late = registration("late", 1, 6).sole();
        let refused = handle.register(&late).await;
        assert!(
            matches!(refused, Err(LifecycleError::ConsumerFenced { .. })),
            "{refused:?}"
        );
        // The next grant opens the shard to its consumer, and to nobody before.
        handle.register(&registration("next", 1, 8)).await.unwrap();
        assert!(handle.ack_as(&old, &[id]).await.is_err());
        assert_eq!(
            handle
                .ack_as(&registration("next", 1, 8), &[id])
                .await
                .unwrap()
                .count,
            1
        );
    }
}

/// Of a group that is made a second time under its name, whoever belonged to the first is out, and stays out when it registers again.
#[tokio::test]
async fn whoever_belonged_to_an_earlier_group_of_the_name_is_fenced_for_good_c36() {
    let world = World::new().await;
    let handle = world.first().await;
    let id = handle.publish(&fields("a")).await.unwrap();
    assert_eq!(handle.fence_all(&group("g"), 100).await.unwrap(), 0);
    let old = registration("old", 50, 50).sole();
    handle.register(&old).await.unwrap();
    read(&handle, "old", 1).await;
    assert_eq!(handle.fence_all(&group("other"), 100).await.unwrap(), 0);
    assert_eq!(handle.fence_all(&group("g"), 100).await.unwrap(), 150);
    let refused = handle.ack_as(&old, &[id]).await;
    assert!(
        matches!(
            refused,
            Err(LifecycleError::ConsumerFenced { token: None, .. })
        ),
        "{refused:?}"
    );
    // Also with an epoch that it had been given and not used yet.
    for late in [old, registration("old", 149, 149).sole()] {
        let refused = handle.register(&late).await;
        assert!(
            matches!(
                refused,
                Err(LifecycleError::ConsumerFenced {
                    epoch: Some(150),
                    ..
                })
            ),
            "{refused:?}"
        );
    }
    let fresh = registration("old", 151, 151).sole();
    handle.register(&fresh).await.unwrap();
    assert_eq!(handle.ack_as(&fresh, &[id]).await.unwrap().count, 1);
    assert_eq!(handle.fence_all(&group("g"), 100).await.unwrap(), 251);
    handle.destroy().await.unwrap();
    let over = handle.fence_all(&group("g"), 100).await;
    assert!(
        matches!(over, Err(LifecycleError::Destroyed { .. })),
        "{over:?}"
    );
}

/// Case C02: every group of a lost stream is told so, not only the first that asks.
#[tokio::test]
async fn each_group_of_a_lost_stream_is_told_c02() {
    let world = World::new().await;
    let handle = world.first().await;
    handle.ensure_group(&group("h")).await.unwrap();
    let () = world.query(&["DEL", "orders:3"]).await;
    for name in ["g", "h"] {
        let ensured = handle.ensure_group(&group(name)).await.unwrap();
        assert!(ensured.was_created && ensured.data_lost, "{name}");
        assert_eq!(ensured.position, StreamId::ZERO);
        let again = handle.ensure_group(&group(name)).await.unwrap();
        assert!(
            !again.was_created && again.data_lost,
            "nothing was acknowledged"
        );
    }
}

/// Case C17: a consumer without a registration is quiet only if Redis has not seen it for so long.
#[tokio::test]
async fn a_plain_consumer_that_was_just_seen_is_not_cleaned_up_c17() {
    let world = World::new().await;
    let handle = world.first().await;
    let () = query(
        &world.link,
        &["XGROUP", "CREATECONSUMER", "orders:3", "g", "plain"],
    )
    .await;
    let lease = lease(&handle, "o").await.unwrap();
    let minute = Duration::from_secs(60);
    let none: [String; 0] = [];
    assert_eq!(handle.cleanup(&lease, minute, &[]).await.unwrap(), none);
    let gone = handle.cleanup(&lease, Duration::ZERO, &[]).await.unwrap();
    assert_eq!(gone, ["plain"]);
}

/// What Redis can't read as a time is refused before it is sent.
#[tokio::test]
async fn an_endless_idle_time_is_refused_before_it_is_sent() {
    let world = World::new().await;
    let handle = world.first().await;
    let lease = lease(&handle, "o").await.unwrap();
    let endless = Claiming::new(consumer("c")).least_idle(Duration::MAX);
    let refused = handle.claim(&lease, &endless, StreamId::ZERO).await;
    assert!(
        matches!(&refused, Err(LifecycleError::Invalid(invalid)) if invalid.what == "least_idle"),
        "{refused:?}"
    );
    let refused = handle.cleanup(&lease, Duration::MAX, &[]).await;
    assert!(
        matches!(&refused, Err(LifecycleError::Invalid(invalid)) if invalid.what == "quiet"),
        "{refused:?}"
    );
}
