//! The conformance suite on the memory store, and what only a store with a clock of one's own can show.
#![allow(clippy::unwrap_used)]

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use coordinator_core::names::GroupId;
use coordinator_core::time::{Millis, Timestamp};
use store::conformance::{Scene, TestedStore, World, group_id, plain_record};
use store::{
    ChangeFeed, CommitError, GroupStore, LockLimits, ManualClock, MemoryStore, Renewal, Renewed,
    SystemClock,
};

/// Stores on the same data under different limits.
struct Memory(MemoryStore);

#[async_trait]
impl World for Memory {
    async fn open(&self, limits: LockLimits) -> Arc<dyn TestedStore> {
        Arc::new(self.0.under(limits))
    }

    async fn name_in_directory(&self, group: &GroupId) {
        self.0.name_in_directory(group);
    }
}

async fn memory() -> Memory {
    Memory(MemoryStore::with(
        Arc::new(SystemClock),
        LockLimits::default(),
    ))
}

store::conformance!(memory());

fn on_manual_clock(now: u64) -> (Arc<ManualClock>, MemoryStore) {
    let clock = Arc::new(ManualClock::at(Timestamp::from_ms(now)));
    let limits = LockLimits {
        ttl: Duration::from_secs(10),
        wait: Duration::ZERO,
    };
    (
        Arc::clone(&clock),
        MemoryStore::with(clock as Arc<_>, limits),
    )
}

#[tokio::test]
async fn a_clock_that_went_back_begins_a_new_watch_m6() {
    let (clock, store) = on_manual_clock(10_000);
    let gap = Millis::new(1_000);
    assert_eq!(
        store.watch_over(gap, None).await.unwrap().since.as_ms(),
        10_000
    );
    clock.advance(gap);
    assert_eq!(
        store.watch_over(gap, None).await.unwrap().since.as_ms(),
        10_000
    );
    clock.set(Timestamp::from_ms(10_999));
    assert_eq!(
        store.watch_over(gap, None).await.unwrap().since.as_ms(),
        10_999
    );
    clock.advance(Millis::new(1_001));
    let watch = store.watch_over(gap, None).await.unwrap();
    assert_eq!((watch.now.as_ms(), watch.since.as_ms()), (12_000, 12_000));
}

#[tokio::test]
async fn a_right_ends_by_the_clock_of_the_store() {
    let (clock, store) = on_manual_clock(10_000);
    let id = group_id("orders", "billing");
    let late = store.begin(&id, None).await.unwrap();
    store
        .create(&late.lock, &plain_record(&id, &["a"], None))
        .await
        .unwrap();
    let stamp = store.load(&id, None).await.unwrap().unwrap().stamp;
    clock.advance(Millis::new(9_999));
    assert!(store.begin(&id, None).await.is_err());
    clock.advance(Millis::new(1));
    // Nobody took it over, and it is over all the same.
    let refused = store.remove(late.lock, &stamp).await;
    assert!(matches!(refused, Err(CommitError::LockLost)), "{refused:?}");
    store.begin(&id, None).await.unwrap();
}

#[tokio::test]
async fn leases_run_by_the_clock_of_the_store_t4() {
    let (clock, store) = on_manual_clock(10_000);
    let id = group_id("orders", "billing");
    let begun = store.begin(&id, None).await.unwrap();
    store
        .create(&begun.lock, &plain_record(&id, &["a"], None))
        .await
        .unwrap();
    clock.advance(Millis::new(500));
    let known = store.load(&id, None).await.unwrap().unwrap();
    let renewal = Renewal {
        member: store::conformance::member_id("a"),
        progress: None,
    };
    let renewed = store
        .renew(&id, &known, &[renewal], Millis::new(15_000))
        .await
        .unwrap();
    let Renewed::Ok { now, deadline } = renewed else {
        panic!("the record did not change: {renewed:?}");
    };
    assert_eq!((now.as_ms(), deadline.as_ms()), (10_500, 25_500));
}

#[tokio::test]
async fn a_subscriber_that_is_too_slow_is_told_that_it_missed_something() {
    use futures_util::StreamExt;

    let (_, store) = on_manual_clock(10_000);
    let id = group_id("orders", "billing");
    let mut stream = store.subscribe(&id).await.unwrap();
    let record = plain_record(&id, &["a"], None);
    for _ in 0..100 {
        let begun = store.begin(&id, None).await.unwrap();
        let stamp = store.create(&begun.lock, &record).await.unwrap();
        store.remove(begun.lock, &stamp).await.unwrap();
    }
    let first = stream.next().await.unwrap();
    assert_eq!((first.group, first.version), (id, None));
}

#[tokio::test]
async fn c8_what_was_lost_shows_until_the_next_commit() {
    let store = MemoryStore::new();
    let scene = Scene::empty(&Memory(store.clone())).await;
    let kept = scene.create_members(None).await;
    let saved = store.save();
    let lost = scene.change(&[]).await;
    assert_eq!(lost.doubted_at, None);
    store.go_back_to(&saved);
    let found = scene.load().await.unwrap();
    assert_eq!(found.stamp, kept.stamp);
    assert_eq!(found.doubted_at, Some(found.now));
    let renewed = scene.renew(&kept, &["a"], Millis::new(1_000)).await;
    assert!(matches!(renewed, Renewed::Stale(_)), "{renewed:?}");
    assert_eq!(scene.change(&[]).await.doubted_at, None);
}
