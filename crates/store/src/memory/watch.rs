//! Since when coordinators have been watching without a gap. Rule M6.

use coordinator_core::time::{Millis, Timestamp};

use crate::{Coordination, Doubt};

/// What is remembered of the watch.
#[derive(Clone, Copy, Debug)]
pub(super) struct Watch {
    since: Timestamp,
    seen: Timestamp,
    doubt: Option<Doubt>,
}

impl Watch {
    /// The watch after somebody was seen at `now`. Rule M6: a silence of more than `gap`, or a clock that went back, begins a new one.
    ///
    /// Rule C8: a `mark` that was left and is not there any more shows that writes were lost.
    pub(super) fn seen_at(
        earlier: Option<Self>,
        now: Timestamp,
        gap: Millis,
        mark: Option<Timestamp>,
    ) -> Self {
        let unbroken = earlier.filter(|watch| watch.seen <= now && now.since(watch.seen) <= gap);
        let watch = Self {
            since: unbroken.map_or(now, |watch| watch.since),
            seen: now,
            doubt: earlier.and_then(|watch| watch.doubt),
        };
        let seen = earlier.map(|watch| watch.seen);
        match mark.filter(|mark| *mark <= now && Some(*mark) > seen) {
            None => watch,
            Some(_) => {
                let at = now.or_after(watch.doubt.map(|doubt| doubt.at));
                let lost_from = seen.map_or(at, after);
                watch.doubted(Doubt { at, lost_from })
            }
        }
    }

    /// The watch with a doubt, unless a later one is known.
    pub(super) fn doubted(self, doubt: Doubt) -> Self {
        Self {
            doubt: self.doubt.max(Some(doubt)),
            ..self
        }
    }

    /// What a coordinator is told.
    pub(super) fn coordination(self) -> Coordination {
        Coordination {
            now: self.seen,
            since: self.since,
            doubt: self.doubt,
        }
    }
}

const fn after(moment: Timestamp) -> Timestamp {
    moment.plus(Millis::new(1))
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
                None,
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
    fn a_mark_that_is_lower_or_gone_is_a_doubt_c8() {
        let [first, second] = [1_000, 1_050].map(Timestamp::from_ms);
        let gap = Millis::new(100);
        let watch = Watch::seen_at(None, first, gap, None);
        let kept = Watch::seen_at(Some(watch), second, gap, Some(first));
        assert_eq!(kept.doubt, None);
        let doubt = |at, lost_from| {
            let [at, lost_from] = [at, lost_from].map(Timestamp::from_ms);
            Some(Doubt { at, lost_from })
        };
        let lower = Watch::seen_at(Some(watch), second, gap, Some(second));
        assert_eq!(lower.doubt, doubt(1_050, 1_001));
        let gone = Watch::seen_at(None, second, gap, Some(first));
        assert_eq!(gone.doubt, doubt(1_050, 1_050));
        let third = Timestamp::from_ms(1_050);
        let again = Watch::seen_at(
            Some(Watch {
                seen: first,
                ..gone
            }),
            third,
            gap,
            Some(third),
        );
        assert_eq!(again.doubt, doubt(1_051, 1_001), "each is later");
    }

    #[test]
    fn a_mark_ahead_of_the_clock_says_that_the_clock_went_back_m7() {
        let [first, second] = [1_000, 990].map(Timestamp::from_ms);
        let gap = Millis::new(100);
        let watch = Watch::seen_at(None, second, gap, Some(first));
        assert_eq!(watch.doubt, None);
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
