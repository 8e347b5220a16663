//! A coordinator as the engine of the product makes it: what it has in memory of each group, and how far its work on it is. What is decided
//! is the core's matter.

mod ask;
mod chore;
mod long_way;
mod mark;
mod short_way;
mod task;

use std::collections::VecDeque;

use coordinator_core::Group;
use coordinator_core::numbers::GroupEpoch;
use coordinator_core::time::Timestamp;
use store::{Snapshot, Stamp};

pub(crate) use ask::Ask;
pub(crate) use chore::Chore;
pub(crate) use mark::MarkSeen;
pub(crate) use task::Stage;

/// A group as it was last seen, and what proves it.
#[derive(Clone, Debug)]
pub(crate) struct Cached {
    pub(crate) snapshot: Snapshot,
    pub(crate) group: Group,
}

/// The last loss of writes that a record tells of, or that shows in its being read (rule C8).
pub(crate) fn doubt_of(snapshot: &Snapshot) -> Option<Timestamp> {
    snapshot.doubted_at.max(snapshot.record.lineage.doubted_at)
}

/// The work on one group.
#[derive(Debug, Default)]
pub(crate) struct Task {
    pub(crate) cached: Option<Cached>,
    /// The latest version of the record that is known of.
    pub(crate) latest: Option<Stamp>,
    /// When that was seen, by the store's clock.
    pub(crate) latest_at: Option<Timestamp>,
    /// The highest group epoch that was seen (rule C7).
    pub(crate) known_epoch: GroupEpoch,
    /// When the store last had an older record than was known of (rule C8).
    pub(crate) went_back_at: Option<Timestamp>,
    pub(crate) queue: VecDeque<Ask>,
    pub(crate) stage: Stage,
    /// How often the asks in hand have lost a race.
    pub(crate) attempts: u32,
    /// When it began to wait for the right to change the group.
    pub(crate) waits_since: Option<u64>,
    /// The true moment before which nothing goes on by itself.
    pub(crate) ready_at: u64,
}

impl Task {
    pub(crate) fn has_work(&self) -> bool {
        !matches!(self.stage, Stage::Idle) || !self.queue.is_empty()
    }

    /// Whether a tick waits already.
    pub(crate) fn has_tick(&self) -> bool {
        self.queue.iter().any(|ask| matches!(ask, Ask::Tick))
    }
}

/// One coordinator.
#[derive(Debug)]
pub(crate) struct Coordinator {
    pub(crate) is_up: bool,
    pub(crate) paused_until: u64,
    pub(crate) ticks_at: u64,
    pub(crate) mark: Option<MarkSeen>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) chore: Option<Chore>,
    pub(crate) chore_ready_at: u64,
}

impl Coordinator {
    pub(crate) fn new(groups: usize, now: u64) -> Self {
        Self {
            is_up: true,
            paused_until: 0,
            ticks_at: now,
            mark: None,
            tasks: (0..groups).map(|_| Task::default()).collect(),
            chore: None,
            chore_ready_at: 0,
        }
    }

    /// Whether it does anything at this true moment.
    pub(crate) fn is_awake(&self, true_ms: u64) -> bool {
        self.is_up && self.paused_until <= true_ms
    }

    /// The next true moment at which it goes on by itself.
    pub(crate) fn wakes_at(&self) -> Option<u64> {
        if !self.is_up {
            return None;
        }
        let busy = self.tasks.iter().filter(|task| task.has_work());
        let next = busy.map(|task| task.ready_at).min();
        Some(
            next.unwrap_or(u64::MAX)
                .min(self.ticks_at)
                .max(self.paused_until),
        )
    }
}
