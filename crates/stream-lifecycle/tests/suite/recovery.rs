//! Taking over pending entries under a lease, and removing consumers that are gone.

use std::collections::BTreeSet;
use std::time::Duration;

use stream_lifecycle::{
    Claiming, Fence, Handle, Lease, LifecycleError, ShardConsumer, ShardInspect, ShardProducer,
    ShardRecovery, StreamId,
};

use crate::support::{
    Link, World, consumer, fields, group, lease, owner, query, read, registration,
};

async fn acquire(
    handle: &Handle<Link>,
    name: &str,
    length_ms: u64,
) -> Result<Lease, LifecycleError> {
    let (group, owner) = (group("g"), owner(name));
    let length = Duration::from_millis(length_ms);
    handle.lease_acquire(&group, &owner, length).await
}

/// Claims everything, page by page.
async fn claim_all(
    handle: &Handle<Link>,
    lease: &Lease,
    claiming: &Claiming,
) -> (Vec<StreamId>, Vec<StreamId>) {
    let (mut live, mut deleted) = (Vec::new(), Vec::new());
    let mut from = Some(StreamId::ZERO);
    while let Some(at) = from {
        let page = handle.claim(lease, claiming, at).await.unwrap();
        live.extend(page.batch.records.iter().map(|record| record.entry().id));
        deleted.extend(page.batch.deleted);
        from = page.next;
    }
    (live, deleted)
}

/// Case C24: whoever dies with the lease holds it until it lapses by Redis' clock; then recovery goes on.
#[tokio::test]
async fn recovery_resumes_within_one_lease_c24() {
    let world = World::new().await;
    let handle = world.first().await;
    let dead = acquire(&handle, "dead", 150).await.unwrap();
    let held = acquire(&handle, "next", 150).await.unwrap_err();
    assert!(
        matches!(&held, LifecycleError::LeaseHeld { owner, left_ms } if owner == "dead" && *left_ms <= 150)
    );
    assert!(held.is_retryable());
    world.until(dead.until_ms).await;
    let next = acquire(&handle, "next", 5_000).await.unwrap();
    assert!(next.fence > dead.fence);
    let claiming = Claiming::new(consumer("c"));
    let late = handle.claim(&dead, &claiming, StreamId::ZERO).await;
    assert!(
        matches!(late, Err(LifecycleError::LeaseLost { latest: Some(latest) }) if latest == next.fence.get())
    );
}

/// Of many who ask at once, one gets it: there is no moment between looking and taking (case C24).
#[tokio::test]
async fn of_many_who_ask_at_once_one_gets_the_lease_c24() {
    let world = World::new().await;
    let handle = world.first().await;
    let tasks: Vec<_> = (0..32)
        .map(|number| {
            let handle = handle.clone();
            tokio::spawn(
                async move { acquire(&handle, &format!("o{number}"), 5_000).await.is_ok() },
            )
        })
        .collect();
    let mut winners = 0;
    for task in tasks {
        winners += usize::from(task.await.unwrap());
    }
    assert_eq!(winners, 1);
}

/// The clock of clients is never asked: no length and no time but Redis' own reaches the script. The fence rises through lapses,
/// returns, renewals, the loss of the metadata, and owners who come again.
#[tokio::test]
async fn the_fence_rises_whatever_the_clocks_of_clients_say() {
    let world = World::new().await;
    let handle = world.first().await;
    let mut fences: Vec<Fence> = Vec::new();
    for round in 0..12_u64 {
        let name = ["a", "b"][usize::try_from(round % 2).unwrap()];
        let lease = acquire(&handle, name, 20).await.unwrap();
        let now = world.now_ms().await;
        assert!(lease.until_ms <= now + 20 && lease.until_ms + 1_000 > now);
        fences.push(lease.fence);
        match round % 4 {
            0 => handle.lease_release(&lease).await.unwrap(),
            1 => world.until(lease.until_ms).await,
            2 => {
                let again = acquire(&handle, name, 20).await.unwrap();
                fences.push(again.fence);
                assert!(
                    handle
                        .lease_renew(&lease, Duration::from_secs(1))
                        .await
                        .is_err()
                );
                handle.lease_release(&again).await.unwrap();
            }
            _ => {
                world.until(world.now_ms().await + 1).await;
                let () = world.query(&["DEL", &handle.keys().metadata]).await;
            }
        }
    }
    assert!(
        fences.is_sorted_by(|earlier, later| earlier < later),
        "{fences:?}"
    );
}

/// A lapsed or superseded fence touches nothing.
#[tokio::test]
async fn a_lease_that_is_lost_touches_nothing() {
    let world = World::new().await;
    let handle = world.first().await;
    handle.publish(&fields("a")).await.unwrap();
    read(&handle, "dead", 10).await;
    let old = acquire(&handle, "a", 30).await.unwrap();
    world.until(old.until_ms).await;
    for superseded in [false, true] {
        if superseded {
            lease(&handle, "b").await.unwrap();
        }
        let before = world.dump().await;
        let claiming = Claiming::new(consumer("c"));
        let lost = [
            handle.claim(&old, &claiming, StreamId::ZERO).await.err(),
            handle.cleanup(&old, Duration::ZERO, &[]).await.err(),
            handle.lease_renew(&old, Duration::from_secs(1)).await.err(),
            handle.lease_release(&old).await.err(),
        ];
        for error in lost {
            assert!(
                matches!(error, Some(LifecycleError::LeaseLost { .. })),
                "{error:?}"
            );
        }
        assert_eq!(world.dump().await, before);
    }
}

#[tokio::test]
async fn a_renewed_lease_keeps_its_fence() {
    let world = World::new().await;
    let handle = world.first().await;
    let first = acquire(&handle, "a", 100).await.unwrap();
    let renewed = handle
        .lease_renew(&first, Duration::from_secs(5))
        .await
        .unwrap();
    assert_eq!(renewed.fence, first.fence);
    world.until(first.until_ms).await;
    let claiming = Claiming::new(consumer("c"));
    handle
        .claim(&first, &claiming, StreamId::ZERO)
        .await
        .unwrap();
}

/// Cases C15 and C24: every unacknowledged entry comes again, in pages; deleted ones are told apart and no longer pending.
#[tokio::test]
async fn claims_find_every_pending_entry_once_c15() {
    let world = World::new().await;
    let handle = world.first().await;
    let entries: Vec<_> = (0..250).map(|number| fields(&number.to_string())).collect();
    let ids = handle.publish_all(&entries).await;
    let ids: Vec<StreamId> = ids.into_iter().map(Result::unwrap).collect();
    for name in ["x", "y", "z"] {
        read(&handle, name, 80).await;
    }
    handle.ack(&group("g"), &ids[..10]).await.unwrap();
    handle.remove(&ids[100..110]).await.unwrap();
    let lease = lease(&handle, "o").await.unwrap();
    let claiming = Claiming::new(consumer("next")).count(7);
    let (live, deleted) = claim_all(&handle, &lease, &claiming).await;
    assert_eq!(live, [&ids[10..100], &ids[110..240]].concat());
    assert_eq!(deleted, ids[100..110]);
    let status = handle.status().await.unwrap().stream.unwrap();
    assert_eq!(status.groups[0].pending, 220);
    let idle = claiming.least_idle(Duration::from_secs(60));
    assert_eq!(
        claim_all(&handle, &lease, &idle).await,
        (Vec::new(), Vec::new())
    );
}

/// Case C17: cleaning up conserves entries. Consumers come and go at random; whatever was published is acknowledged or pending or unread.
#[tokio::test]
async fn cleaning_up_conserves_entries_c17() {
    let world = World::new().await;
    let handle = world.first().await;
    let mut open: BTreeSet<StreamId> = BTreeSet::new();
    let mut random = crate::support::Random::new(7);
    let mut removed = 0;
    for round in 0..300 {
        let name = format!("c{}", random.below(8));
        match random.below(4) {
            0 => {
                let id = handle.publish(&fields("a")).await.unwrap();
                open.insert(id);
            }
            1 => {
                handle
                    .register(&registration(&name, round, round))
                    .await
                    .unwrap();
                read(&handle, &name, 2).await;
            }
            2 => {
                let history = stream_lifecycle::Reading::new(1).pending_after(StreamId::ZERO);
                let (group, consumer) = (group("g"), consumer(&name));
                let batch = handle.read(&group, &consumer, &history).await.unwrap();
                for record in batch.records {
                    assert_eq!(record.ack().await.unwrap().count, 1);
                    open.remove(&record.entry().id);
                }
            }
            _ => {
                let lease = lease(&handle, "o").await.unwrap();
                let stay = [consumer("c0")];
                let gone = handle.cleanup(&lease, Duration::ZERO, &stay).await.unwrap();
                assert!(!gone.contains(&"c0".to_owned()));
                removed += gone.len();
            }
        }
        let status = handle.status().await.unwrap().stream.unwrap();
        let group = &status.groups[0];
        assert_eq!(group.pending + group.lag.unwrap(), open.len() as u64);
    }
    assert!(removed > 10, "{removed}");
    let lease = lease(&handle, "o").await.unwrap();
    let (live, _) = claim_all(&handle, &lease, &Claiming::new(consumer("last"))).await;
    let unread = read(&handle, "last", 1_000).await;
    let all: BTreeSet<StreamId> = live.into_iter().chain(unread).collect();
    assert_eq!(all, open);
}

/// Case C17: a consumer that gave a sign of life lately stays, even with nothing pending.
#[tokio::test]
async fn a_live_consumer_is_not_cleaned_up_c17() {
    let world = World::new().await;
    let handle = world.first().await;
    handle.register(&registration("live", 1, 1)).await.unwrap();
    let () = query(
        &world.link,
        &["XGROUP", "CREATECONSUMER", "orders:3", "g", "stranger"],
    )
    .await;
    let lease = lease(&handle, "o").await.unwrap();
    let gone = handle
        .cleanup(&lease, Duration::ZERO, &[consumer("live")])
        .await
        .unwrap();
    assert_eq!(gone, ["stranger"]);
    let minute = Duration::from_secs(60);
    assert!(
        handle
            .cleanup(&lease, minute, &[])
            .await
            .unwrap()
            .is_empty()
    );
    handle.refresh(&registration("live", 1, 1)).await.unwrap();
    let gone = handle.cleanup(&lease, Duration::ZERO, &[]).await.unwrap();
    assert_eq!(gone, ["live"]);
    let refreshed = handle.refresh(&registration("live", 1, 1)).await;
    assert!(matches!(
        refreshed,
        Err(LifecycleError::ConsumerFenced { .. })
    ));
}
