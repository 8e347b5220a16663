//! A commit: record and leases together, if both are still what the decision was built on. Rule E1.

use std::collections::BTreeMap;
use std::sync::Arc;

use coordinator_core::names::MemberId;
use coordinator_core::time::Timestamp;
use store::{Commit, Effects, Stamp};

use super::{RecordStore, Trouble};

impl RecordStore {
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
        let is_allowed = is_ours && is_expected;
        if !is_allowed && !self.faults.commit_without_stamp_check {
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
        let history = self.history;
        let kept = &mut self.contents.groups[group];
        kept.history = history;
        set_leases(&mut kept.leases, &effects);
        kept.record = Arc::new(commit.record.clone());
        kept.stamp = Stamp {
            revision: kept.stamp.revision.next(),
            etag,
        };
        let stamp = kept.stamp.clone();
        self.remember();
        Ok(stamp)
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
