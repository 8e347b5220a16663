//! What this coordinator last saw of each group, for whoever only looks: the metrics and the stream of events. No decision reads it, and reading it asks
//! no store.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use coordinator_core::names::{GroupId, MemberId};
use coordinator_core::record::{GroupRecord, Provisioning};
use coordinator_core::state::GroupState;
use coordinator_core::time::Timestamp;
use store::Stamp;

use super::asked::Asked;
use super::events::{EventLog, GroupNews};

/// What this coordinator counted of one group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Leases that ran out (rule M1).
    pub(crate) expired: u64,
    /// Members that claimed a shard outside their authority (rule O7).
    pub(crate) trespassed: u64,
    /// Targets that were computed (rule E4).
    pub(crate) rebalanced: u64,
    /// Broken invariants, in all (rule M4).
    pub(crate) violated: u64,
    /// Broken invariants at the last change.
    pub(crate) violations: u64,
    /// What was asked about it.
    pub(crate) asked: Asked,
}

/// What was last seen of one group.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) record: Arc<GroupRecord>,
    /// Leases that this coordinator renewed since the record was read.
    pub(crate) renewed: BTreeMap<MemberId, Timestamp>,
    pub(crate) tally: Tally,
}

struct Seen {
    record: Arc<GroupRecord>,
    stamp: Stamp,
    state: GroupState,
}

#[derive(Default)]
struct Entry {
    seen: Option<Seen>,
    renewed: BTreeMap<MemberId, Timestamp>,
    tally: Tally,
}

/// The groups that this coordinator sees.
#[derive(Default)]
pub(super) struct Views {
    entries: Mutex<BTreeMap<GroupId, Entry>>,
    asked_in_vain: Mutex<Asked>,
    pub(super) events: EventLog,
}

impl Views {
    /// A group was seen, in this version of its record. One that is half created is nobody's business yet.
    pub(super) fn show(
        &self,
        group: &GroupId,
        record: &Arc<GroupRecord>,
        stamp: &Stamp,
        state: impl FnOnce() -> GroupState,
    ) {
        if record.provisioning == Provisioning::Pending {
            return;
        }
        let mut entries = self.lock();
        let entry = entries.entry(group.clone()).or_default();
        let seen = entry.seen.as_ref();
        if seen.is_some_and(|seen| Arc::ptr_eq(&seen.record, record)) {
            return;
        }
        let state = state();
        let is_news = seen.is_none_or(|seen| {
            seen.record.metadata_version != record.metadata_version || seen.state != state
        });
        entry.renewed.clear();
        entry.seen = Some(Seen {
            record: Arc::clone(record),
            stamp: stamp.clone(),
            state,
        });
        if is_news {
            self.events.note(news(record, Some(state)));
        }
    }

    /// A group is gone.
    pub(super) fn forget(&self, group: &GroupId) {
        let mut entries = self.lock();
        let entry = entries.remove(group);
        if let Some(seen) = entry.and_then(|entry| entry.seen) {
            self.events.note(news(&seen.record, None));
        }
    }

    /// Leases were renewed, without a change of the record.
    pub(super) fn renew<'a>(
        &self,
        group: &GroupId,
        members: impl Iterator<Item = &'a MemberId>,
        deadline: Timestamp,
    ) {
        if let Some(entry) = self.lock().get_mut(group) {
            entry
                .renewed
                .extend(members.map(|id| (id.clone(), deadline)));
        }
    }

    /// Counts something of a group.
    pub(super) fn count(&self, group: &GroupId, count: impl FnOnce(&mut Tally)) {
        let mut entries = self.lock();
        count(&mut entries.entry(group.clone()).or_default().tally);
    }

    /// Counts what was asked about a group that is shown, or about a name that is no such group's.
    pub(super) fn count_asked(&self, group: Option<&GroupId>, count: impl FnOnce(&mut Asked)) {
        let mut entries = self.lock();
        match group.and_then(|group| entries.get_mut(group)) {
            Some(entry) => count(&mut entry.tally.asked),
            None => count(&mut self.in_vain()),
        }
    }

    /// What was asked about names that are no group's.
    pub(super) fn asked_in_vain(&self) -> Asked {
        self.in_vain().clone()
    }

    /// Everything, in the order of names.
    pub(super) fn all(&self) -> Vec<View> {
        let view = |entry: &Entry| {
            let seen = entry.seen.as_ref()?;
            Some(View {
                record: Arc::clone(&seen.record),
                renewed: entry.renewed.clone(),
                tally: entry.tally.clone(),
            })
        };
        self.lock().values().filter_map(view).collect()
    }

    /// A group, as last seen.
    pub(super) fn record(&self, group: &GroupId) -> Option<Arc<GroupRecord>> {
        let entries = self.lock();
        let seen = entries.get(group)?.seen.as_ref()?;
        Some(Arc::clone(&seen.record))
    }

    /// In which version of its record a group was last seen, if it is shown.
    pub(super) fn stamp(&self, group: &GroupId) -> Option<Stamp> {
        let entries = self.lock();
        let seen = entries.get(group)?.seen.as_ref()?;
        Some(seen.stamp.clone())
    }

    /// All groups that are shown, and in which version of their records they were seen.
    pub(super) fn stamps(&self) -> BTreeMap<GroupId, Stamp> {
        let entries = self.lock();
        let seen = entries.iter().filter_map(|(id, entry)| {
            let seen = entry.seen.as_ref()?;
            Some((id.clone(), seen.stamp.clone()))
        });
        seen.collect()
    }

    /// Every group as news, and the number of the last event that it is as new as.
    pub(super) fn present(&self) -> (u64, Vec<GroupNews>) {
        let entries = self.lock();
        let seen = entries.values().filter_map(|entry| entry.seen.as_ref());
        let present = seen.map(|seen| news(&seen.record, Some(seen.state)));
        (self.events.last(), present.collect())
    }

    fn in_vain(&self) -> MutexGuard<'_, Asked> {
        let asked = self.asked_in_vain.lock();
        asked.unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<GroupId, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn news(record: &GroupRecord, state: Option<GroupState>) -> GroupNews {
    GroupNews {
        group: record.id.clone(),
        version: record.metadata_version,
        state,
    }
}
