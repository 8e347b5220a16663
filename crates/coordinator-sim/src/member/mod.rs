//! A member's process as the driver of the product makes it: a client that decides, workers that go by its lease, a clock of its own. What
//! clients decide is not known here.

mod client;
mod plain;
mod worker;

use std::collections::BTreeMap;

use member_client::machine::GrantId;

pub(crate) use client::Client;
pub(crate) use plain::PlainClient;
pub(crate) use worker::{Order, Worker, WorkerDid};

use crate::setup::LocalClock;
use member_client::machine::Event;

/// Whether a process runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    Running,
    /// Nothing runs; it goes on at this true moment.
    PausedUntil(u64),
    /// It ended, with or without a word.
    Over,
}

/// The heartbeat that the driver waits for.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub(crate) request_id: String,
    pub(crate) epoch: i64,
    /// By its own clock.
    pub(crate) gives_up_at: u64,
}

/// One process of a member.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) member: usize,
    pub(crate) group: usize,
    pub(crate) name: String,
    pub(crate) clock: LocalClock,
    pub(crate) client: Client,
    pub(crate) life: Life,
    /// What workers go by: until when, by its own clock (rule T2).
    pub(crate) lease_until: Option<u64>,
    pub(crate) workers: BTreeMap<u32, Worker>,
    pub(crate) waiting: Option<Waiting>,
    /// What arrived while it was paused.
    pub(crate) inbox: Vec<Event>,
    /// Whether another process of the same member was started since.
    pub(crate) is_replaced: bool,
    /// Whether another process became the member in its place.
    pub(crate) has_lost_its_id: bool,
    /// The longest that one of its workers has been told to stop and has not, in true time.
    pub(crate) longest_drain_ms: u64,
}

impl Process {
    pub(crate) fn is_paused(&self) -> bool {
        matches!(self.life, Life::PausedUntil(_))
    }

    pub(crate) fn is_over(&self) -> bool {
        self.life == Life::Over
    }

    /// Whether its workers may read and handle (rule T2). Every worker looks before each step, also after a pause.
    pub(crate) fn has_lease(&self, true_ms: u64) -> bool {
        let now = self.clock.show(true_ms);
        self.lease_until.is_some_and(|until| now < until)
    }

    /// Whether a worker of it may be reading a shard. One that was told to stop and has not ended counts; one that was told to drop everything
    /// handles nothing any more.
    pub(crate) fn may_read(&self, shard: u32, true_ms: u64) -> bool {
        let worker = self.workers.get(&shard);
        let may_read = worker.is_some_and(|worker| worker.order < Order::Abandon);
        may_read && !self.is_over() && self.has_lease(true_ms)
    }

    /// The next true moment at which its client is to be woken.
    pub(crate) fn wakes_at(&self) -> Option<u64> {
        if let Life::PausedUntil(until) = self.life {
            return Some(until);
        }
        if self.is_over() {
            return None;
        }
        let deadlines = [
            self.client.next_deadline(),
            self.waiting.as_ref().map(|waiting| waiting.gives_up_at),
        ];
        let first = deadlines.into_iter().flatten().min()?;
        Some(self.clock.shows_at(first))
    }

    pub(crate) fn start_worker(&mut self, shard: u32, grant: GrantId) {
        self.workers.insert(shard, Worker::new(grant));
    }

    /// Notes for how long workers have been told to stop.
    pub(crate) fn note_drains(&mut self, true_ms: u64) {
        for worker in self.workers.values() {
            if let Some(since) = worker.told_at {
                self.longest_drain_ms = self.longest_drain_ms.max(true_ms - since);
            }
        }
    }

    pub(crate) fn end(&mut self) {
        self.life = Life::Over;
        self.workers.clear();
        self.lease_until = None;
        self.waiting = None;
        self.inbox.clear();
    }
}
