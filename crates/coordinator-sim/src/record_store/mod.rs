//! The store of group records as a simulation needs it: the meaning of the real ones in single steps, and ways to fail that those have.
//! It decides nothing about groups.

mod commit;
mod mark;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use coordinator_core::names::MemberId;
use coordinator_core::numbers::StoreRevision;
use coordinator_core::record::GroupRecord;
use coordinator_core::time::{Millis, Timestamp};
use store::{Etag, Snapshot, Stamp};

pub(crate) use mark::Mark;

use crate::choices::mix;
use crate::options::StoreFaults;

/// The store's time at the true beginning.
const START_MS: i64 = 1_000_000;
/// How many commits are remembered for a fail-over.
const PAST: usize = 12;

/// One group.
#[derive(Clone, Debug)]
struct Kept {
    record: Arc<GroupRecord>,
    stamp: Stamp,
    leases: BTreeMap<MemberId, Timestamp>,
    /// The history of the store in which the record was written (rule C8).
    history: u64,
}

/// Everything that a fail-over takes back together.
#[derive(Clone, Debug)]
struct Contents {
    groups: Vec<Kept>,
    mark: Option<Mark>,
}

#[derive(Clone, Copy, Debug)]
struct Lock {
    token: u64,
    until: Timestamp,
}

/// What becomes of the next commit whose answer is lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LostAnswer {
    pub(crate) is_applied: bool,
    pub(crate) is_read_back: bool,
}

/// A group that was locked and read in one step.
#[derive(Debug)]
pub(crate) struct Begun {
    pub(crate) token: u64,
    pub(crate) snapshot: Snapshot,
}

/// Why the store did not do it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Trouble {
    /// It does not answer, or its answer was lost: what it did is not known.
    Away,
    /// Somebody else has the right to change the group.
    Locked,
    /// The right was lost, the record is another one, or a lease was renewed.
    Conflict,
}

/// What came of a renewal.
#[derive(Debug)]
pub(crate) enum Renewed {
    Done,
    Stale(Snapshot),
}

/// See the module.
#[derive(Debug)]
pub(crate) struct RecordStore {
    seed: u64,
    contents: Contents,
    past: VecDeque<Contents>,
    locks: Vec<Option<Lock>>,
    drawn: u64,
    ahead_ms: i64,
    pub(crate) away_until_ms: u64,
    pub(crate) lost_answer: Option<LostAnswer>,
    /// Rises with every fail-over.
    history: u64,
    faults: StoreFaults,
}

impl RecordStore {
    pub(crate) fn new(seed: u64, records: Vec<GroupRecord>, faults: StoreFaults) -> Self {
        let mut store = Self {
            seed,
            contents: Contents {
                groups: Vec::new(),
                mark: None,
            },
            past: VecDeque::new(),
            locks: vec![None; records.len()],
            drawn: 0,
            ahead_ms: START_MS,
            away_until_ms: 0,
            lost_answer: None,
            history: 0,
            faults,
        };
        for record in records {
            let stamp = Stamp {
                revision: StoreRevision::new(1),
                etag: store.etag(),
            };
            store.contents.groups.push(Kept {
                record: Arc::new(record),
                stamp,
                leases: BTreeMap::new(),
                history: 0,
            });
        }
        store.remember();
        store
    }

    fn draw(&mut self) -> u64 {
        self.drawn += 1;
        mix(self.seed, 7_000_000 + self.drawn)
    }

    fn etag(&mut self) -> Etag {
        Etag::from_stored(&format!("{:016x}", self.draw()))
    }

    /// Its clock.
    pub(crate) fn now(&self, true_ms: u64) -> Timestamp {
        let shown = i64::try_from(true_ms)
            .unwrap_or(i64::MAX)
            .saturating_add(self.ahead_ms);
        Timestamp::from_ms(u64::try_from(shown).unwrap_or(0))
    }

    pub(crate) fn jump(&mut self, ms: i64) {
        self.ahead_ms = (self.ahead_ms + ms).max(0);
    }

    pub(crate) fn is_away(&self, true_ms: u64) -> bool {
        true_ms < self.away_until_ms
    }

    /// What is recorded, whoever looks: for checks and for producers, who have their own way to it.
    pub(crate) fn record(&self, group: usize) -> &GroupRecord {
        &self.contents.groups[group].record
    }

    fn see(&self, group: usize, true_ms: u64) -> Snapshot {
        let kept = &self.contents.groups[group];
        let (stamp, now) = (kept.stamp.clone(), self.now(true_ms));
        let is_of_this_history = kept.history == self.history || self.faults.hidden_doubt;
        Snapshot::assemble(&kept.record, &kept.leases, stamp, now, is_of_this_history)
    }

    /// Reads a group with its leases.
    pub(crate) fn load(&self, group: usize, true_ms: u64) -> Result<Snapshot, Trouble> {
        if self.is_away(true_ms) {
            return Err(Trouble::Away);
        }
        Ok(self.see(group, true_ms))
    }

    /// Takes the right to change a group and reads it.
    pub(crate) fn begin(
        &mut self,
        group: usize,
        true_ms: u64,
        limit_ms: u64,
    ) -> Result<Begun, Trouble> {
        if self.is_away(true_ms) {
            return Err(Trouble::Away);
        }
        let now = self.now(true_ms);
        if self.locks[group].is_some_and(|lock| now < lock.until) {
            return Err(Trouble::Locked);
        }
        let token = self.draw();
        let until = now.plus(Millis::new(limit_ms));
        self.locks[group] = Some(Lock { token, until });
        Ok(Begun {
            token,
            snapshot: self.see(group, true_ms),
        })
    }

    /// Gives the right back, if it is still this one and the store can be asked to.
    pub(crate) fn release(&mut self, group: usize, token: u64, true_ms: u64) {
        if !self.is_away(true_ms) && self.locks[group].is_some_and(|lock| lock.token == token) {
            self.locks[group] = None;
        }
    }

    /// Renews leases if the record is still the known one. An empty list confirms the record.
    pub(crate) fn renew(
        &mut self,
        group: usize,
        known: &Snapshot,
        members: &[MemberId],
        lease: Millis,
        true_ms: u64,
    ) -> Result<Renewed, Trouble> {
        if self.is_away(true_ms) {
            return Err(Trouble::Away);
        }
        let kept = &self.contents.groups[group];
        let is_of_this_history = kept.history == self.history || self.faults.hidden_doubt;
        let is_known = kept.stamp == known.stamp && is_of_this_history;
        if !is_known && !self.faults.renew_without_stamp_check {
            return Ok(Renewed::Stale(self.see(group, true_ms)));
        }
        let deadline = self.now(true_ms).plus(lease);
        let leases = &mut self.contents.groups[group].leases;
        for member in members.iter().filter(|member| known.has_live(member)) {
            let lease = leases.entry(member.clone()).or_insert(deadline);
            *lease = deadline.max(*lease);
        }
        Ok(Renewed::Done)
    }

    fn remember(&mut self) {
        if self.past.len() == PAST {
            self.past.pop_front();
        }
        self.past.push_back(self.contents.clone());
    }

    /// A replica takes over that had not heard of the last commits, nor of the renewals since: record, leases and mark go back together, and
    /// another history begins (rule C8). Rights to change groups are forgotten.
    pub(crate) fn fail_over(&mut self, behind: usize) {
        let keep = self.past.len().saturating_sub(behind).max(1);
        self.past.truncate(keep);
        if let Some(contents) = self.past.back() {
            self.contents = contents.clone();
        }
        self.locks.fill(None);
        self.history += 1;
    }
}
