//! Since when coordinators have been watching.

use std::time::{Duration, Instant};

use coordinator_core::time::Millis;

use crate::LockLimits;
use crate::conformance::world::World;

/// Rule M6: whichever coordinator ticks.
pub async fn a_watch_without_a_gap_goes_on_m6(world: &dyn World) {
    let first = world.open(LockLimits::default()).await;
    let second = world.open(LockLimits::default()).await;
    let gap = Millis::new(600_000);
    let begun = first.watch_over(gap).await.unwrap();
    assert_eq!(begun.since, begun.now);
    let mut last = begun.now;
    for store in [&second, &first, &second] {
        let watch = store.watch_over(gap).await.unwrap();
        assert_eq!(watch.since, begun.since);
        assert!(watch.now >= last);
        last = watch.now;
    }
}

/// Rule M6: with no gap allowed at all, the first two looks in different milliseconds have one between them.
pub async fn a_gap_begins_a_new_watch_m6(world: &dyn World) {
    let store = world.open(LockLimits::default()).await;
    let none = Millis::new(0);
    let begun = store.watch_over(none).await.unwrap();
    let end = Instant::now() + Duration::from_secs(5);
    loop {
        let watch = store.watch_over(none).await.unwrap();
        if watch.now > begun.now {
            assert_eq!(watch.since, watch.now);
            return;
        }
        assert_eq!(watch.since, begun.since);
        assert!(Instant::now() < end, "the store's time stands still");
    }
}
