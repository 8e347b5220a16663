//! The store of group records as a simulation needs it: the meaning of the real ones in single steps, and ways to fail that those have.
//! It decides nothing about groups.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use coordinator_core::names::MemberId;
use coordinator_core::numbers::StoreRevision;
use coordinator_core::record::GroupRecord;
use coordinator_core::time::{Millis, Timestamp};
use coordinator_core::write::Write;
use store::{Commit, Effects, Etag, Snapshot, Stamp};

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
}

/// The mark of rule M6, and the moment it was last refreshed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub(crate) since: Timestamp,
    pub(crate) seen: Timestamp,
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
    pub(crate) seen: Seen,
}

/// A group that was read.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) snapshot: Snapshot,
    /// When the store last showed that it may have lost writes (rule C8).
    pub(crate) doubted_at: Option<Timestamp>,
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
    Stale(Seen),
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
    doubted_at: Option<Timestamp>,
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
            doubted_at: None,
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

    fn see(&self, group: usize, true_ms: u64) -> Seen {
        let kept = &self.contents.groups[group];
        let now = self.now(true_ms);
        Seen {
            snapshot: Snapshot::assemble(&kept.record, &kept.leases, kept.stamp.clone(), now),
            doubted_at: self.doubt(),
        }
    }

    fn doubt(&self) -> Option<Timestamp> {
        self.doubted_at.filter(|_| !self.faults.hidden_doubt)
    }

    /// Reads a group with its leases.
    pub(crate) fn load(&self, group: usize, true_ms: u64) -> Result<Seen, Trouble> {
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
            seen: self.see(group, true_ms),
        })
    }

    /// Gives the right back, if it is still this one and the store can be asked to.
    pub(crate) fn release(&mut self, group: usize, token: u64, true_ms: u64) {
        if !self.is_away(true_ms) && self.locks[group].is_some_and(|lock| lock.token == token) {
            self.locks[group] = None;
        }
    }

    /// Writes a record and what belongs to it: all or nothing. The second part says whether it was written, whatever the caller learns.
    pub(crate) fn commit(
        &mut self,
        group: usize,
        token: u64,
        commit: &Commit<'_>,
        true_ms: u64,
    ) -> (Result<Stamp, Trouble>, bool) {
        if self.is_away(true_ms) {
            return (Err(Trouble::Away), false);
        }
        let lost = self.lost_answer.take();
        if lost.is_some_and(|lost| !lost.is_applied) {
            return (Err(Trouble::Away), false);
        }
        let outcome = self.try_commit(group, token, commit, self.now(true_ms));
        self.release(group, token, true_ms);
        let is_written = outcome.is_ok();
        if lost.is_some_and(|lost| !lost.is_read_back) {
            return (Err(Trouble::Away), is_written);
        }
        (outcome, is_written)
    }

    fn try_commit(
        &mut self,
        group: usize,
        token: u64,
        commit: &Commit<'_>,
        now: Timestamp,
    ) -> Result<Stamp, Trouble> {
        let is_ours = self.locks[group].is_some_and(|lock| lock.token == token && now < lock.until);
        let kept = &self.contents.groups[group];
        let is_expected = kept.stamp == commit.expected.stamp;
        if !self.faults.commit_without_stamp_check && !(is_ours && is_expected) {
            return Err(Trouble::Conflict);
        }
        let effects = Effects::of(commit);
        let mut judged = effects.judged.iter();
        let is_judged_rightly =
            judged.all(|(member, seen)| kept.leases.get(*member) == seen.as_ref());
        if !is_judged_rightly && !self.faults.commit_without_lease_check {
            return Err(Trouble::Conflict);
        }
        let etag = self.etag();
        let kept = &mut self.contents.groups[group];
        set_leases(&mut kept.leases, &effects);
        kept.record = Arc::new(commit.record.clone());
        kept.stamp = Stamp {
            revision: kept.stamp.revision.next(),
            etag,
        };
        let stamp = kept.stamp.clone();
        self.raise_doubt(commit.writes);
        self.remember();
        Ok(stamp)
    }

    /// A member knew more than the store: then every group is in doubt (rule C8).
    fn raise_doubt(&mut self, writes: &[Write]) {
        for write in writes {
            if let Write::WritesDoubted { at, .. } = write {
                self.doubted_at = self.doubted_at.max(Some(*at));
            }
        }
    }

    /// Renews leases if the record is still the known one. An empty list confirms the record.
    pub(crate) fn renew(
        &mut self,
        group: usize,
        known: &Snapshot,
        doubt: Option<Timestamp>,
        members: &[MemberId],
        lease: Millis,
        true_ms: u64,
    ) -> Result<Renewed, Trouble> {
        if self.is_away(true_ms) {
            return Err(Trouble::Away);
        }
        let is_known = self.contents.groups[group].stamp == known.stamp && self.doubt() == doubt;
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

    /// Says that a coordinator is watching (rule M6).
    pub(crate) fn watch_over(&mut self, gap: Millis, true_ms: u64) -> Result<Mark, Trouble> {
        if self.is_away(true_ms) {
            return Err(Trouble::Away);
        }
        let now = self.now(true_ms);
        let unbroken = self
            .contents
            .mark
            .filter(|mark| mark.seen <= now && now.since(mark.seen) <= gap);
        let since = unbroken.map_or(now, |mark| mark.since);
        let since = if self.faults.watch_without_gaps {
            Timestamp::default()
        } else {
            since
        };
        let mark = Mark { since, seen: now };
        self.contents.mark = Some(mark);
        Ok(mark)
    }

    fn remember(&mut self) {
        if self.past.len() == PAST {
            self.past.pop_front();
        }
        self.past.push_back(self.contents.clone());
    }

    /// A replica takes over that had not heard of the last commits, nor of the renewals since: record, leases and mark go back together. That
    /// it happened shows in everything that is read from then on (rule C8). Rights to change groups are forgotten.
    pub(crate) fn fail_over(&mut self, behind: usize, true_ms: u64) {
        let keep = self.past.len().saturating_sub(behind).max(1);
        self.past.truncate(keep);
        if let Some(contents) = self.past.back() {
            self.contents = contents.clone();
        }
        self.locks.fill(None);
        self.doubted_at = self.doubted_at.max(Some(self.now(true_ms)));
    }
}

/// Of two deadlines the later counts where a lease was renewed meanwhile: it was promised.
fn set_leases(leases: &mut BTreeMap<MemberId, Timestamp>, effects: &Effects<'_>) {
    for (member, lease) in &effects.leases {
        let current = leases.get(*member).copied();
        let renewed = current.filter(|_| current != lease.seen);
        let deadline = renewed.map_or(lease.deadline, |renewed| renewed.max(lease.deadline));
        leases.insert((*member).clone(), deadline);
    }
    for member in &effects.dropped_leases {
        leases.remove(*member);
    }
}
