//! A member that does as it is told (rules T2, T3, O5b), by itself: no network, no coordinator.

use std::collections::BTreeSet;

use coordinator_core::input::Heartbeat;
use coordinator_core::numbers::ShardIndex;
use coordinator_core::step::{HeartbeatReply, HeartbeatStatus};
use coordinator_core::time::{Millis, Timestamp};

use super::{Beat, join, leave, report};

/// A client's own lease: the member's lease less a tenth (rule T2).
const CLIENT_LEASE: Millis = Millis::new(13_500);

/// What a client is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    Work,
    Leave,
    Out,
}

/// A message whose answer is waited for.
#[derive(Clone, Copy, Debug)]
pub struct Waiting {
    sequence: u64,
    sent: Timestamp,
    /// Whether it said that nothing is held any more.
    let_go: bool,
}

/// A process that obeys.
pub struct Client {
    pub name: String,
    /// What tells it from the other processes under its name.
    process: String,
    /// A plain client neither says which process it is nor numbers its messages.
    is_plain: bool,
    /// Whether it was replaced under its id and lives on.
    pub is_replaced: bool,
    pub wish: Wish,
    sequence: u64,
    epoch: u64,
    version: u64,
    owned: BTreeSet<u32>,
    draining: BTreeSet<u32>,
    lease_until: Option<Timestamp>,
    pub waiting: Option<Waiting>,
}

impl Client {
    pub fn new(name: &str, process: usize, is_plain: bool) -> Self {
        Self {
            name: name.to_owned(),
            process: format!("{name} process {process}"),
            is_plain,
            is_replaced: false,
            wish: Wish::Work,
            sequence: 0,
            epoch: 0,
            version: 0,
            owned: BTreeSet::new(),
            draining: BTreeSet::new(),
            lease_until: None,
            waiting: None,
        }
    }

    pub fn is_plain(&self) -> bool {
        self.is_plain
    }

    pub fn has_joined(&self) -> bool {
        self.epoch != 0
    }

    pub fn is_reading(&self, shard: u32, now: Timestamp) -> bool {
        self.has_lease(now) && (self.owned.contains(&shard) || self.draining.contains(&shard))
    }

    fn has_lease(&self, now: Timestamp) -> bool {
        self.lease_until.is_some_and(|until| now < until)
    }

    /// It begins anew, whatever it was about.
    pub fn start_over(&mut self) {
        self.forget();
        self.wish = Wish::Work;
    }

    /// It reads, hears and says nothing any more; what it said is still under way.
    pub fn die(&mut self) {
        self.forget();
        self.wish = Wish::Out;
    }

    fn forget(&mut self) {
        self.epoch = 0;
        self.owned.clear();
        self.draining.clear();
        self.lease_until = None;
        self.waiting = None;
        if self.wish == Wish::Leave {
            self.wish = Wish::Out;
        }
    }

    /// From now on it lets go of everything.
    pub fn leave(&mut self) {
        self.wish = Wish::Leave;
        self.draining.append(&mut self.owned);
    }

    /// Finishes what is in flight of one shard that it is letting go of.
    pub fn drain_one(&mut self) {
        self.draining.pop_first();
    }

    pub fn drain_all(&mut self) {
        self.draining.clear();
    }

    /// Its next message and the position of it; none if it has nothing to say.
    pub fn send(&mut self, now: Timestamp) -> Option<(u64, Heartbeat)> {
        if !self.has_lease(now) {
            self.forget();
        }
        if self.wish == Wish::Out || (self.wish == Wish::Leave && self.epoch == 0) {
            self.wish = Wish::Out;
            return None;
        }
        self.sequence += 1;
        self.waiting = Some(Waiting {
            sequence: self.sequence,
            sent: now,
            let_go: self.wish == Wish::Leave && self.draining.is_empty(),
        });
        Some((self.sequence, self.message()))
    }

    fn message(&self) -> Heartbeat {
        let shards = |set: &BTreeSet<u32>| set.iter().copied().collect::<Vec<_>>();
        let beat: Beat = match (self.wish, self.epoch) {
            (Wish::Leave, _) => leave(&self.name, self.version).drains(&shards(&self.draining)),
            (_, 0) => join(&self.name),
            (_, epoch) => report(&self.name, epoch, self.version)
                .owns(&shards(&self.owned))
                .drains(&shards(&self.draining)),
        };
        let beat = beat.request(&format!("{} {}", self.process, self.sequence));
        if self.is_plain {
            return beat.build();
        }
        beat.instance(&self.process).sequence(self.sequence).build()
    }

    /// Takes an answer over, if it waits for it. Says whether it was fenced although its lease ran.
    pub fn hear(&mut self, sequence: u64, answer: &HeartbeatReply, now: Timestamp) -> bool {
        let Some(waiting) = self.waiting.filter(|it| it.sequence == sequence) else {
            return false;
        };
        self.waiting = None;
        if answer.status != HeartbeatStatus::Ok {
            let was_good = self.has_lease(now);
            self.forget();
            return was_good;
        }
        let until = waiting.sent.plus(CLIENT_LEASE);
        if now >= until {
            return false;
        }
        if waiting.let_go {
            self.forget();
            return false;
        }
        self.lease_until = Some(until);
        self.version = answer.metadata_version.get();
        self.epoch = answer.member_epoch;
        if self.wish == Wish::Leave {
            // What it was told before it said that it leaves is not started any more.
            return false;
        }
        let assigned: BTreeSet<u32> = answer.assigned.iter().map(ShardIndex::get).collect();
        self.draining
            .extend(self.owned.difference(&assigned).copied());
        self.draining.retain(|shard| !assigned.contains(shard));
        self.owned = assigned;
        false
    }
}
