//! Counts what was asked about groups, for the metrics. What is asked about a name that is no group's is counted for all such names together: anybody may ask
//! for any name, and none of them is to cost memory.

use std::collections::BTreeMap;

use coordinator_core::names::GroupId;

use super::Engine;

/// What was asked about a group, as this coordinator counted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    /// Heartbeats, by the status of the answer.
    pub(crate) heartbeats: BTreeMap<&'static str, u64>,
    /// Questions for the routing, by the HTTP status of the answer.
    pub(crate) routings: BTreeMap<u16, u64>,
    /// Changes of the shard count.
    pub(crate) scales: u64,
    /// Those of them that were refused or failed.
    pub(crate) scales_failed: u64,
}

impl Engine {
    /// Counts what was asked about a group, or about a name that is none's as far as this coordinator has seen.
    pub(crate) fn count_asked(&self, group: Option<&GroupId>, count: impl FnOnce(&mut Asked)) {
        self.0.views.count_asked(group, count);
    }

    /// What was asked about names that are no group's.
    pub(crate) fn asked_in_vain(&self) -> Asked {
        self.0.views.asked_in_vain()
    }
}
