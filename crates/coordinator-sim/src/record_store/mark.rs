//! The mark that coordinators leave in the store: since when somebody has been watching (rule M6), and what it shows of lost writes (rule C8).

use coordinator_core::time::{Millis, Timestamp};

use store::Doubt;

use super::{RecordStore, Trouble};

/// The mark of rule M6, the moment it was last refreshed, and what it tells of lost writes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub(crate) since: Timestamp,
    pub(crate) seen: Timestamp,
    pub(crate) doubt: Option<Doubt>,
}

impl RecordStore {
    /// Tells all coordinators, by the mark, that writes may be lost (rule C8).
    pub(crate) fn doubt(&mut self, at: Timestamp, true_ms: u64) -> Result<(), Trouble> {
        if self.is_away(true_ms) {
            return Err(Trouble::Away);
        }
        let now = self.now(true_ms);
        let mark = self.contents.mark.get_or_insert(Mark {
            since: now,
            seen: now,
            doubt: None,
        });
        mark.doubt = mark.doubt.max(Some(Doubt { at, lost_from: at }));
        Ok(())
    }

    /// Says that a coordinator is watching (rule M6). A mark that it left and that is not there any more shows that writes were lost (rule C8).
    pub(crate) fn watch_over(
        &mut self,
        gap: Millis,
        left: Option<Timestamp>,
        true_ms: u64,
    ) -> Result<Mark, Trouble> {
        if self.is_away(true_ms) {
            return Err(Trouble::Away);
        }
        let now = self.now(true_ms);
        let earlier = self.contents.mark;
        let unbroken = earlier.filter(|mark| mark.seen <= now && now.since(mark.seen) <= gap);
        let since = unbroken.map_or(now, |mark| mark.since);
        let known = earlier.and_then(|mark| mark.doubt);
        let seen = earlier.map(|mark| mark.seen);
        let is_lost = left.is_some_and(|left| left <= now && Some(left) > seen);
        let after = |moment: Timestamp| moment.plus(Millis::new(1));
        let at = now.or_after(known.map(|known| known.at));
        let lost = Doubt {
            at,
            lost_from: seen.map_or(at, after),
        };
        let mark = Mark {
            since: if self.faults.watch_without_gaps {
                Timestamp::default()
            } else {
                since
            },
            seen: now,
            doubt: if is_lost && !self.faults.hidden_doubt {
                Some(lost)
            } else {
                known
            },
        };
        self.contents.mark = Some(mark);
        Ok(mark)
    }
}
