//! What is remembered of a world to see whether the invariants hold: the last commit of each group, and who had let go of which shard. It
//! calls the checks and counts what happens.

use std::collections::BTreeMap;

use coordinator_core::Group;
use coordinator_core::member::MemberRecord;
use coordinator_core::migration::MigrationState;
use coordinator_core::names::{InstanceId, MemberId};
use coordinator_core::record::{GroupRecord, RecordError};
use coordinator_core::write::{FenceCause, Write};
use member_client::protocol::HeartbeatStatus;

use super::World;
use crate::invariants;
use crate::options::Happening;
use crate::setup::{Setup, instance};
use crate::violation::Invariant;

/// See the module.
#[derive(Debug)]
pub(crate) struct Watch {
    /// The last commit of each group in the present lineage of the store.
    last: Vec<Group>,
    /// Per group and shard: who let go of it last.
    released_by: Vec<BTreeMap<u32, MemberId>>,
    /// Per group: why members were last fenced, if they were.
    pub(crate) fenced: Vec<BTreeMap<MemberId, FenceCause>>,
    pub(crate) has_lost_writes: bool,
    /// Whether the store's clock jumped: deadlines then have one lease of grace, and no more (rule M6).
    pub(crate) has_jumped: bool,
}

impl Watch {
    pub(crate) fn new(records: &[GroupRecord], setup: &Setup) -> Self {
        let restore = |record: &GroupRecord| {
            Group::restore(record.clone(), setup.settings).expect("a new record can be read")
        };
        Self {
            last: records.iter().map(restore).collect(),
            released_by: vec![BTreeMap::new(); records.len()],
            fenced: vec![BTreeMap::new(); records.len()],
            has_lost_writes: false,
            has_jumped: false,
        }
    }
}

impl World {
    /// A record was committed: everything that must hold of it is checked.
    pub(crate) fn saw_commit(
        &mut self,
        group: usize,
        before: &Group,
        after: &Group,
        writes: &[Write],
    ) {
        self.counts.commits += 1;
        self.counts.saw_state(invariants::digest(after.record()));
        let last = std::mem::replace(&mut self.watch.last[group], after.clone());
        let found = invariants::of_commit(&last, after);
        let clock = coordinator_core::time::Clock {
            now: self.store.now(self.now),
            coordination_since: self.store.now(0),
            doubted_at: after.record().lineage.doubted_at,
        };
        let not_again = invariants::reproducible::check(after, clock);
        for (invariant, seen) in found.into_iter().chain(not_again) {
            self.found(invariant, format!("group {group}: {seen}"));
        }
        for write in writes {
            self.count_write(group, before, write);
        }
    }

    fn count_write(&mut self, group: usize, before: &Group, write: &Write) {
        match write {
            Write::MemberExpired { member, .. } => {
                self.counts.expiries += 1;
                self.note_released(group, before, member);
                self.happened(Happening::Expiry);
            }
            Write::MemberFenced { member, cause, .. } => {
                self.counts.fences += 1;
                self.watch.fenced[group].insert(member.clone(), *cause);
                self.happened(Happening::Fence);
            }
            Write::ShardReleased { member, shard, .. }
            | Write::QuarantineShardReleased { member, shard, .. } => {
                self.watch.released_by[group].insert(shard.get(), member.clone());
            }
            Write::ShardGranted { member, shard, .. } => {
                let earlier = self.watch.released_by[group].remove(&shard.get());
                if earlier.is_some_and(|earlier| earlier != *member) {
                    self.counts.handoffs += 1;
                    self.happened(Happening::Handoff);
                }
            }
            Write::MemberJoined { member, record } => self.note_taken(group, member, record),
            Write::MigrationFinished {
                state: MigrationState::RolledBack,
                ..
            } => {
                self.counts.migrations_rolled_back += 1;
                self.happened(Happening::MigrationRolledBack);
            }
            Write::MigrationFinished { .. } => {
                self.counts.migrations_finished += 1;
                self.happened(Happening::MigrationFinished);
            }
            Write::CorrectionOpened { .. } => {
                self.counts.corrections += 1;
                self.happened(Happening::Correction);
            }
            _ => {}
        }
    }

    /// A process became the member: every other one under its id has lost it, whichever was started first.
    fn note_taken(&mut self, group: usize, member: &MemberId, record: &MemberRecord) {
        let by = record.instance.as_ref().map(InstanceId::as_str);
        for (index, process) in self.processes.iter_mut().enumerate() {
            let is_it = by == Some(instance(index).as_str());
            if process.group == group && process.name == member.as_str() && !is_it {
                process.has_lost_its_id = true;
            }
        }
    }

    fn note_released(&mut self, group: usize, before: &Group, member: &MemberId) {
        let holdings = before.member(member).map(|record| record.holdings.clone());
        for holding in holdings.unwrap_or_default() {
            self.watch.released_by[group].insert(holding.shard.get(), member.clone());
        }
    }

    /// What the options forbid counts as a violation.
    fn happened(&mut self, what: Happening) {
        if self.options.never == Some(what) {
            self.found(Invariant::Forbidden, format!("{what:?} happened"));
        }
    }

    pub(crate) fn saw_fail_over(&mut self) {
        self.counts.fail_overs += 1;
        self.watch.has_lost_writes = true;
        // What was committed before is another lineage.
        for group in 0..self.setup.groups {
            let restored = Group::restore(self.store.record(group).clone(), self.setup.settings);
            match restored {
                Ok(restored) => self.watch.last[group] = restored,
                Err(error) => self.found_unreadable(group, &error),
            }
        }
        self.happened(Happening::FailOver);
    }

    /// A stream is about to be taken away.
    pub(crate) fn saw_retirement(&mut self, shard: u32) {
        self.counts.retired += 1;
        if let Some(seen) = invariants::retired_drained::check(self, shard) {
            self.found(Invariant::RetiredDrained, seen);
        }
        self.happened(Happening::Retired);
    }

    pub(crate) fn found_unreadable(&mut self, group: usize, error: &RecordError) {
        self.found(
            Invariant::Reproducible,
            format!("the record of group {group} can't be read: {error}"),
        );
    }

    /// A process heard that it is not the member while its lease ran.
    pub(crate) fn saw_refusal(&mut self, index: usize, status: HeartbeatStatus) {
        if let Some(seen) = invariants::obedient_stays::check(self, index, status) {
            self.found(Invariant::ObedientStays, seen);
        }
    }

    /// A worker was started.
    pub(crate) fn check_readers(&mut self, index: usize, shard: u32) {
        let group = self.processes[index].group;
        if let Some(seen) = invariants::single_reader::check(self, group, shard) {
            self.found(Invariant::SingleReader, seen);
        }
    }

    pub(crate) fn check_all_readers(&mut self) {
        for group in 0..self.setup.groups {
            for shard in Self::all_shards() {
                if let Some(seen) = invariants::single_reader::check(self, group, shard) {
                    self.found(Invariant::SingleReader, seen);
                }
            }
        }
    }
}
