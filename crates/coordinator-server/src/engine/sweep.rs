//! Looks after groups that another coordinator made, changed or left behind, so that none is forgotten. Where indexes answer, only those are visited that are not
//! known as they are listed, and all of them now and then; else all of them again and again. Paced, so that many groups do not crowd out the rest.

use std::time::Duration;

use coordinator_core::names::GroupId;
use projection::Limit;
use store::{PageCursor, Stamp, StoreError};
use tokio::time::{Instant, Interval, MissedTickBehavior};

use super::group_task::Ask;
use super::{Engine, ListingError};

/// The most groups that are visited in a second.
const GROUPS_PER_SECOND: u32 = 200;
/// After this time all groups are visited, whatever indexes say: they may have missed something.
const ALL_AFTER: Duration = Duration::from_secs(600);

/// Runs until the engine is stopped.
pub(super) async fn run(engine: Engine) {
    let interval = Duration::from_millis(engine.settings().member_lease_ttl().get());
    let mut sweeps = tokio::time::interval(interval);
    sweeps.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut sweep = Sweep {
        pace: pace(),
        all_at: None,
        engine: engine.clone(),
    };
    loop {
        tokio::select! {
            _ = sweeps.tick() => {}
            () = engine.stopped() => return,
        }
        tokio::select! {
            outcome = sweep.round() => if let Err(error) = outcome {
                tracing::warn!(%error, "could not walk the directory of groups; trying again");
            },
            () = engine.stopped() => return,
        }
    }
}

/// A turn for each group, and none that was left out is made up for: after a rest there would be very many.
fn pace() -> Interval {
    let mut pace = tokio::time::interval(Duration::from_secs(1) / GROUPS_PER_SECOND);
    pace.set_missed_tick_behavior(MissedTickBehavior::Delay);
    pace
}

struct Sweep {
    engine: Engine,
    pace: Interval,
    /// When all groups were last visited.
    all_at: Option<Instant>,
}

impl Sweep {
    async fn round(&mut self) -> Result<(), StoreError> {
        let begun = Instant::now();
        let is_recent = |at: Instant| begun.duration_since(at) < ALL_AFTER;
        let may_skip = self.all_at.is_some_and(is_recent) && self.engine.0.due.is_shared();
        if may_skip && self.visit_changed().await? {
            return Ok(());
        }
        self.visit_all().await?;
        self.all_at = Some(begun);
        Ok(())
    }

    /// Visits the groups that are listed in another version than they were last seen. Says whether the index of groups had the whole list.
    async fn visit_changed(&mut self) -> Result<bool, StoreError> {
        let mut seen = self.engine.0.views.stamps();
        let mut cursor = None;
        loop {
            let page = self.engine.list(None, cursor.as_deref(), Limit::MOST).await;
            let page = match page {
                Ok(page) => page,
                Err(ListingError::Store(error)) => return Err(error),
                // A name that can't be a place can't be listed either.
                Err(ListingError::Cursor) => return Ok(false),
            };
            if page.index_age.is_none() {
                return Ok(false);
            }
            for listed in &page.groups {
                if seen.remove(&listed.id).as_ref() != Some(&listed.stamp) {
                    self.visit_listed(&listed.id, Some(&listed.stamp)).await;
                }
            }
            match page.next {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        // Another coordinator deleted them, or the list has lost them.
        for group in seen.keys() {
            self.visit_listed(group, None).await;
        }
        Ok(true)
    }

    /// Visits a group that is listed otherwise than it was seen. One that can't be read holds up no other.
    async fn visit_listed(&mut self, group: &GroupId, listed: Option<&Stamp>) {
        if let Err(error) = self.engine.relist(group, listed).await {
            tracing::debug!(%group, %error, "could not see whether the group is listed as it is recorded");
        }
        self.visit(group).await;
    }

    /// Visits a group in its turn.
    async fn visit(&mut self, group: &GroupId) {
        self.pace.tick().await;
        let _ = self.engine.ask(group, Ask::Tick(None));
    }

    async fn visit_unless_at_rest(&mut self, group: &GroupId) {
        if self.engine.is_at_rest(group).await {
            self.pace.tick().await;
        } else {
            self.visit(group).await;
        }
    }

    async fn visit_all(&mut self) -> Result<(), StoreError> {
        let mut cursor = PageCursor::default();
        let mut unlisted = self.engine.0.views.stamps();
        loop {
            let page = self.engine.store().groups(&cursor).await?;
            for group in page.groups {
                unlisted.remove(&group);
                self.visit_unless_at_rest(&group).await;
            }
            match page.next {
                Some(next) => cursor = next,
                None => break,
            }
        }
        // What another coordinator deleted is shown no longer than until then.
        for group in unlisted.keys() {
            self.visit(group).await;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn p14_after_a_rest_groups_are_visited_no_faster_than_before() {
        let mut pace = pace();
        pace.tick().await;
        for _ in 0..2 {
            // waits: as between two sweeps; time is the test's own
            tokio::time::sleep(Duration::from_secs(600)).await;
            let begun = Instant::now();
            for _ in 0..=GROUPS_PER_SECOND {
                pace.tick().await;
            }
            assert!(begun.elapsed() >= Duration::from_secs(1));
        }
    }
}
