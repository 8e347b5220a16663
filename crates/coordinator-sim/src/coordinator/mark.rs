//! Whether coordinators have been watching without a gap, as one coordinator knows it: rule M6.

use coordinator_core::time::{Clock, Millis, Timestamp};

use store::Coordination;

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
    pub(crate) fn refresh_mark(&mut self, coordinator: usize) -> Option<Coordination> {
        let gap = Millis::new(self.setup.gap_ms);
        let left = self.coordinators[coordinator].mark.map(|it| it.mark.seen);
        let mark = self.store.watch_over(gap, left, self.now).ok()?;
        self.coordinators[coordinator].mark = Some(MarkSeen {
            mark,
            asked_ms: self.now,
        });
        Some(Coordination {
            now: mark.seen,
            since: mark.since,
            doubt: mark.doubt,
        })
    }

    /// The clock for a decision about a group on what was read at `now`. The last mark counts only while it is fresh, by the coordinator's time
    /// and by the store's.
    pub(super) fn clock(&mut self, coordinator: usize, group: usize, now: Timestamp) -> Clock {
        let gap = self.setup.gap_ms;
        let fresh = self.coordinators[coordinator].mark.filter(|seen| {
            self.now - seen.asked_ms <= gap
                && seen.mark.seen <= now
                && now.since(seen.mark.seen) <= Millis::new(gap)
        });
        let since = match fresh {
            Some(seen) => Some(seen.mark.since),
            None => self
                .refresh_mark(coordinator)
                .map(|coordination| coordination.since_for(now)),
        };
        Clock {
            now,
            coordination_since: since.unwrap_or(now),
            doubted_at: self.doubted_at(coordinator, group),
        }
    }

    /// When the store last showed that it may have lost writes, as far as this coordinator knows of a group (rule C8).
    pub(super) fn doubted_at(&self, coordinator: usize, group: usize) -> Option<Timestamp> {
        let it = &self.coordinators[coordinator];
        let task = &it.tasks[group];
        let snapshot = task.cached.as_ref().map(|it| &it.snapshot);
        let of_history = snapshot.and_then(|snapshot| snapshot.doubted_at);
        let acted_on = snapshot.and_then(|snapshot| snapshot.record.lineage.doubted_at);
        let doubt = it.mark.and_then(|seen| seen.mark.doubt);
        let of_all = doubt.and_then(|doubt| doubt.for_group(acted_on));
        of_history.max(task.went_back_at).max(of_all)
    }

    /// Tells all coordinators that the store has lost writes. Says whether they will hear of it.
    pub(super) fn spread_doubt(&mut self, coordinator: usize, at: Timestamp) -> bool {
        let is_hidden = self.options.store_faults.hidden_doubt;
        is_hidden
            || (self.store.doubt(at, self.now).is_ok() && self.refresh_mark(coordinator).is_some())
    }
}
