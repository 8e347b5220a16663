//! Since when coordinators have been watching.

use std::time::{Duration, Instant};

use coordinator_core::time::{Millis, Timestamp};

use crate::conformance::world::World;
use crate::{Doubt, LockLimits};

/// Rule M6: whichever coordinator ticks.
pub async fn a_watch_without_a_gap_goes_on_m6(world: &dyn World) {
    let first = world.open(LockLimits::default()).await;
    let second = world.open(LockLimits::default()).await;
    let gap = Millis::new(600_000);
    let begun = first.watch_over(gap, None).await.unwrap();
    assert_eq!(begun.since, begun.now);
    let mut last = begun.now;
    for store in [&second, &first, &second] {
        let watch = store.watch_over(gap, None).await.unwrap();
        assert_eq!(watch.since, begun.since);
        assert!(watch.now >= last);
        last = watch.now;
    }
}

/// Rule M6: with no gap allowed at all, the first two looks in different milliseconds have one between them.
pub async fn a_gap_begins_a_new_watch_m6(world: &dyn World) {
    let store = world.open(LockLimits::default()).await;
    let none = Millis::new(0);
    let begun = store.watch_over(none, None).await.unwrap();
    let end = Instant::now() + Duration::from_secs(5);
    loop {
        let watch = store.watch_over(none, None).await.unwrap();
        if watch.now > begun.now {
            assert_eq!(watch.since, watch.now);
            return;
        }
        assert_eq!(watch.since, begun.since);
        assert!(Instant::now() < end, "the store's time stands still");
    }
}

/// Rule C8: a coordinator left a mark that the store does not have. All of them hear of it.
pub async fn a_mark_that_was_lost_is_a_doubt_for_all_c8(world: &dyn World) {
    let first = world.open(LockLimits::default()).await;
    let second = world.open(LockLimits::default()).await;
    let gap = Millis::new(600_000);
    let begun = first.watch_over(gap, None).await.unwrap();
    let kept = first.watch_over(gap, Some(begun.now)).await.unwrap();
    assert_eq!((begun.doubt, kept.doubt), (None, None));
    // One that the store could have had and does not: later than the last, and not after the present.
    let end = Instant::now() + Duration::from_secs(5);
    let shown = loop {
        let lost = kept.now.plus(Millis::new(1));
        let shown = first.watch_over(gap, Some(lost)).await.unwrap();
        if let Some(doubt) = shown.doubt {
            assert!(
                doubt.at >= shown.now && doubt.lost_from <= shown.now,
                "{doubt:?}"
            );
            break shown;
        }
        assert!(shown.now < lost && Instant::now() < end, "{shown:?}");
    };
    let told = second.watch_over(gap, Some(shown.now)).await.unwrap();
    assert_eq!(told.doubt, shown.doubt);
}

/// Rule M7: a mark that is ahead of the clock says that the clock went back, and no more.
pub async fn a_mark_ahead_of_the_clock_is_no_doubt_m7(world: &dyn World) {
    let store = world.open(LockLimits::default()).await;
    let gap = Millis::new(600_000);
    let begun = store.watch_over(gap, None).await.unwrap();
    let ahead = begun.now.plus(Millis::new(3_600_000));
    assert_eq!(
        store.watch_over(gap, Some(ahead)).await.unwrap().doubt,
        None
    );
}

/// Rule C8: what one group learned.
pub async fn a_doubt_is_remembered_unless_a_later_one_is_known_c8(world: &dyn World) {
    let first = world.open(LockLimits::default()).await;
    let second = world.open(LockLimits::default()).await;
    let gap = Millis::new(600_000);
    for (at, known) in [(5_000, 5_000), (4_000, 5_000), (6_000, 6_000)] {
        first.doubt(Timestamp::from_ms(at)).await.unwrap();
        let watch = second.watch_over(gap, None).await.unwrap();
        let known = Timestamp::from_ms(known);
        let doubt = Doubt {
            at: known,
            lost_from: known,
        };
        assert_eq!(watch.doubt, Some(doubt));
    }
}
