//! Since when coordinators have been watching without a gap. Rule M6.

use coordinator_core::time::{Millis, Timestamp};

use crate::Coordination;

/// What is remembered of the watch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watch {
    since: Timestamp,
    seen: Timestamp,
}

impl Watch {
    /// The watch after somebody was seen at `now`. Rule M6: a silence of more than `gap`, or a clock that went back, begins a new one.
    pub(super) fn seen_at(earlier: Option<Self>, now: Timestamp, gap: Millis) -> Self {
        let unbroken = earlier.filter(|watch| watch.seen <= now && now.since(watch.seen) <= gap);
        Self {
            since: unbroken.map_or(now, |watch| watch.since),
            seen: now,
        }
    }

    /// What a coordinator is told.
    pub(super) fn coordination(self) -> Coordination {
        Coordination {
            now: self.seen,
            since: self.since,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(steps: &[u64]) -> u64 {
        let mut watch = None;
        for now in steps {
            watch = Some(Watch::seen_at(
                watch,
                Timestamp::from_ms(*now),
                Millis::new(100),
            ));
        }
        watch.expect("there is a step").coordination().since.as_ms()
    }

    #[test]
    fn the_watch_lasts_while_there_is_no_gap_m6() {
        assert_eq!(after(&[1_000]), 1_000);
        assert_eq!(after(&[1_000, 1_100, 1_200]), 1_000);
    }

    #[test]
    fn a_gap_begins_a_new_watch_m6() {
        assert_eq!(after(&[1_000, 1_101]), 1_101);
    }

    #[test]
    fn a_clock_that_went_back_begins_a_new_watch_m6() {
        assert_eq!(after(&[1_000, 1_050, 1_049]), 1_049);
        assert_eq!(after(&[1_000, 500, 600]), 500);
    }
}
