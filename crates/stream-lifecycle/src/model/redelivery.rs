//! What is known of entries that have to be handled again, and of those that are given up.

use std::time::Duration;

use super::entry::StreamId;
use super::invalid::{InvalidInput, check};

/// The longest reason in bytes.
const LONGEST_REASON: usize = 1_024;
/// The most dead letters that a limit can allow.
const MOST_LETTERS: u64 = 1 << 40;

/// What is recorded of a pending entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Attempt {
    /// How many attempts at handling it were counted, this one included.
    pub count: u64,
    /// Before when it is not to be handled, in milliseconds since 1970 by Redis' clock; 0 if it was never postponed.
    pub due_ms: u64,
    /// What the time was, by the same clock.
    pub now_ms: u64,
}

impl Attempt {
    pub(crate) const fn new(count: u64, due_ms: u64, now_ms: u64) -> Self {
        Self {
            count,
            due_ms,
            now_ms,
        }
    }

    /// How long it is still not to be handled; zero if it is due.
    #[must_use]
    pub const fn wait(&self) -> Duration {
        Duration::from_millis(self.due_ms.saturating_sub(self.now_ms))
    }

    /// Whether it may be handled now.
    #[must_use]
    pub const fn is_due(&self) -> bool {
        self.due_ms <= self.now_ms
    }
}

/// Why entries are given up, and how many of them are kept.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Rejection {
    pub(crate) reason: String,
    pub(crate) most: Option<u64>,
}

impl Rejection {
    /// For this reason, of which the first 1,024 bytes are kept. Every dead letter is kept.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        let mut reason = reason.into();
        reason.truncate(reason.floor_char_boundary(LONGEST_REASON));
        Self { reason, most: None }
    }

    /// Keeps at most so many dead letters of the group, 1 to 2^40: the oldest are dropped.
    #[must_use]
    pub const fn most(mut self, most: u64) -> Self {
        self.most = Some(most);
        self
    }

    /// The limit as the script takes it.
    pub(crate) fn limit(&self) -> Result<String, InvalidInput> {
        let Some(most) = self.most else {
            return Ok(String::new());
        };
        check((1..=MOST_LETTERS).contains(&most), "most", || {
            format!("{most} is not between 1 and {MOST_LETTERS}")
        })?;
        Ok(most.to_string())
    }
}

/// An entry and its copy among the dead letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Moved {
    /// The entry in the stream of the shard.
    pub from: StreamId,
    /// Its copy.
    pub to: StreamId,
}

impl Moved {
    pub(crate) const fn new(from: StreamId, to: StreamId) -> Self {
        Self { from, to }
    }
}

/// What became of entries that were given up. Every id is in one of the lists.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeadLettered {
    /// Copied and acknowledged.
    pub moved: Vec<Moved>,
    /// Acknowledged, but trimmed or deleted meanwhile: there was nothing to copy (case C15).
    pub lost: Vec<StreamId>,
    /// Not pending, therefore not touched: what a repetition finds.
    pub unknown: Vec<StreamId>,
}

/// What became of entries that were acknowledged and are not needed any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AckedAndDeleted {
    /// How many are acknowledged now.
    pub acknowledged: u64,
    /// How many of these are no longer in the stream.
    pub deleted: u64,
    /// How many of these stay in the stream: another group needs them, or the server can't tell.
    pub kept: u64,
    /// How many were not pending: acknowledged before, or never delivered.
    pub unknown: u64,
}

impl AckedAndDeleted {
    /// Of so many that were sent; none if the numbers don't fit.
    pub(crate) fn of(sent: usize, acknowledged: u64, deleted: u64) -> Option<Self> {
        let sent = u64::try_from(sent).ok()?;
        Some(Self {
            acknowledged,
            deleted,
            kept: acknowledged.checked_sub(deleted)?,
            unknown: sent.checked_sub(acknowledged)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_reason_is_cut_between_characters() {
        let long = Rejection::new("ä".repeat(600) + "x");
        assert_eq!(long.reason, "ä".repeat(512));
        let odd = Rejection::new(format!("x{}", "ä".repeat(600)));
        assert_eq!(odd.reason.len(), 1_023);
        assert!(Rejection::new("").most(0).limit().is_err());
    }

    #[test]
    fn an_entry_is_due_when_its_time_has_come() {
        assert_eq!(Attempt::new(1, 500, 200).wait(), Duration::from_millis(300));
        assert!(!Attempt::new(1, 500, 499).is_due() && Attempt::new(1, 500, 500).is_due());
        assert_eq!(Attempt::new(1, 0, 200).wait(), Duration::ZERO);
    }
}
