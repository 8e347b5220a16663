//! What happened to groups lately, numbered, the latest of it kept: whoever lost its connection goes on where it was. A reader that is too slow falls off
//! the end and begins anew; nothing is kept for it.

use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};

use coordinator_core::names::GroupId;
use coordinator_core::numbers::MetadataVersion;
use coordinator_core::state::GroupState;
use tokio::sync::watch;

/// How many events are kept.
const KEPT: usize = 1_024;

/// A group changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GroupNews {
    pub(crate) group: GroupId,
    /// Its version then.
    pub(crate) version: MetadataVersion,
    /// Its state then; none once it is gone.
    pub(crate) state: Option<GroupState>,
}

/// The events of this process.
pub(super) struct EventLog {
    /// Tells this process' numbers from those of others.
    epoch: String,
    kept: Mutex<VecDeque<GroupNews>>,
    /// The number of the last one.
    last: watch::Sender<u64>,
}

impl Default for EventLog {
    fn default() -> Self {
        Self {
            epoch: uuid::Uuid::new_v4().simple().to_string(),
            kept: Mutex::default(),
            last: watch::Sender::new(0),
        }
    }
}

impl EventLog {
    pub(super) fn note(&self, news: GroupNews) {
        let mut kept = self.lock();
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back(news);
        self.last.send_modify(|last| *last += 1);
    }

    /// What an event is called.
    pub(super) fn id(&self, number: u64) -> String {
        format!("{}-{number}", self.epoch)
    }

    /// The number of an event of this process; none where it is another's, or no event's.
    pub(super) fn number(&self, id: &str) -> Option<u64> {
        let (epoch, number) = id.rsplit_once('-')?;
        (epoch == self.epoch).then(|| number.parse().ok()).flatten()
    }

    /// The number of the last event; 0 before the first.
    pub(super) fn last(&self) -> u64 {
        *self.last.borrow()
    }

    /// The event after the one of a number, and its own; none while there is none yet.
    ///
    /// # Errors
    /// [`Missed`]: it is not kept any more, or the number is none that was given.
    pub(super) fn after(&self, number: u64) -> Result<Option<(u64, GroupNews)>, Missed> {
        let kept = self.lock();
        let last = self.last();
        let behind = last.checked_sub(number).ok_or(Missed)?;
        let behind = usize::try_from(behind).map_err(|_| Missed)?;
        if behind == 0 {
            return Ok(None);
        }
        let at = kept.len().checked_sub(behind).ok_or(Missed)?;
        let news = kept.get(at).cloned().ok_or(Missed)?;
        Ok(Some((number + 1, news)))
    }

    /// Resolves once there is an event after the one of a number.
    pub(super) async fn wait_after(&self, number: u64) {
        // The sender is this value's: it is there.
        let _ = self.last.subscribe().wait_for(|last| *last > number).await;
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<GroupNews>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An event is not kept any more, or was never given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Missed;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use coordinator_core::names::StreamPrefix;

    use super::*;

    fn news(version: u64) -> GroupNews {
        GroupNews {
            group: StreamPrefix::parse("orders").unwrap().own_group(),
            version: MetadataVersion::new(version),
            state: None,
        }
    }

    #[test]
    fn events_are_told_in_order_until_they_fall_off_the_end() {
        let log = EventLog::default();
        assert_eq!(log.after(0), Ok(None));
        assert_eq!(log.after(1), Err(Missed), "nobody was given that");
        let count = KEPT as u64 + 10;
        for number in 1..=count {
            log.note(news(number));
            assert_eq!(log.after(number - 1), Ok(Some((number, news(number)))));
            assert_eq!(log.after(number), Ok(None));
        }
        assert_eq!(log.after(10), Ok(Some((11, news(11)))));
        assert_eq!(log.after(9), Err(Missed));
        assert_eq!(log.after(u64::MAX), Err(Missed));
        assert_eq!(log.lock().len(), KEPT);
        assert_eq!(log.number(&log.id(7)), Some(7));
        for id in [
            "",
            "7",
            "-7",
            "other-7",
            &EventLog::default().id(7),
            &format!("{}-x", log.epoch),
        ] {
            assert_eq!(log.number(id), None, "{id}");
        }
    }

    #[tokio::test]
    async fn whoever_waits_is_woken() {
        let log = EventLog::default();
        let (_, ()) = tokio::join!(log.wait_after(0), async { log.note(news(1)) });
        log.wait_after(0).await;
        assert_eq!(log.last(), 1);
    }
}
