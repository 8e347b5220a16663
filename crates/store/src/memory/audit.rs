//! Audit events in memory.

use std::collections::{BTreeMap, VecDeque};

use async_trait::async_trait;
use coordinator_core::names::GroupId;

use super::store::MemoryStore;
use crate::{AUDIT_CAP, AuditEntry, AuditFilter, AuditSink, StoreError};

type Events = VecDeque<String>;

/// What a memory store keeps of events, newest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Audit {
    groups: BTreeMap<GroupId, Events>,
    fleet: Events,
    unproved: Events,
}

impl Audit {
    fn record(&mut self, entry: &AuditEntry, group_exists: bool) {
        if !entry.is_proved {
            return push(&mut self.unproved, &entry.event);
        }
        push(&mut self.fleet, &entry.event);
        let Some(group) = &entry.group else { return };
        if group_exists {
            push(self.groups.entry(group.clone()).or_default(), &entry.event);
        } else if let Some(events) = self.groups.get_mut(group) {
            push(events, &entry.event);
        }
    }

    fn latest(&self, filter: &AuditFilter, limit: usize) -> Vec<String> {
        let events = match filter {
            AuditFilter::Group(group) => self.groups.get(group),
            AuditFilter::Fleet => Some(&self.fleet),
            AuditFilter::Unproved => Some(&self.unproved),
        };
        let latest = events.into_iter().flatten().take(limit);
        latest.cloned().collect()
    }
}

fn push(events: &mut Events, event: &str) {
    events.push_front(event.to_owned());
    events.truncate(AUDIT_CAP);
}

#[async_trait]
impl AuditSink for MemoryStore {
    async fn record(&self, entry: &AuditEntry) -> Result<(), StoreError> {
        let mut state = self.state();
        let group = entry.group.as_ref();
        let exists = group.is_some_and(|group| state.groups.contains_key(group));
        state.audit.record(entry, exists);
        Ok(())
    }

    async fn latest(&self, filter: &AuditFilter, limit: usize) -> Result<Vec<String>, StoreError> {
        Ok(self.state().audit.latest(filter, limit))
    }
}
