//! Whether coordinators have been watching without a gap, as one coordinator knows it: rule M6.

use coordinator_core::time::{Clock, Millis, Timestamp};

use crate::record_store::Mark;
use crate::world::World;

/// The mark as it was last refreshed, and when that was by true time: before the store was asked.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkSeen {
    mark: Mark,
    asked_ms: u64,
}

impl World {
    /// Leaves the mark, and learns since when somebody has been watching.
    pub(crate) fn refresh_mark(&mut self, coordinator: usize) -> Option<Timestamp> {
        let gap = Millis::new(self.setup.gap_ms);
        let mark = self.store.watch_over(gap, self.now).ok()?;
        self.coordinators[coordinator].mark = Some(MarkSeen {
            mark,
            asked_ms: self.now,
        });
        Some(mark.since)
    }

    /// The clock for a decision on what was read at `now`. The last mark counts only while it is fresh, by the coordinator's time and by the
    /// store's.
    pub(super) fn clock(
        &mut self,
        coordinator: usize,
        now: Timestamp,
        doubted_at: Option<Timestamp>,
    ) -> Clock {
        let gap = self.setup.gap_ms;
        let fresh = self.coordinators[coordinator].mark.filter(|seen| {
            self.now - seen.asked_ms <= gap && now.since(seen.mark.seen) <= Millis::new(gap)
        });
        let since = match fresh {
            Some(seen) => Some(seen.mark.since),
            None => self.refresh_mark(coordinator),
        };
        Clock {
            now,
            coordination_since: since.unwrap_or(now),
            doubted_at,
        }
    }
}
