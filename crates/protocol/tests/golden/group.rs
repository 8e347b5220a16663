//! Groups, lists of them, and the event that one has changed.

use std::collections::BTreeMap;

use protocol::{Group, GroupChanged, GroupList, GroupProvisioning, GroupState, ListedFrom};

use crate::case::{Case, exact, lenient};
use crate::stream;

pub(crate) fn cases() -> Vec<Case> {
    let changed = |state| GroupChanged {
        stream_prefix: "orders".to_owned(),
        consumer_group: "orders".to_owned(),
        metadata_version: 35,
        state,
    };
    vec![
        exact("group.minimal", minimal()),
        exact("group.full", full()),
        lenient("group.unknown-field", minimal()),
        exact("group-list.minimal", GroupList::default()),
        exact(
            "group-list.full",
            GroupList {
                groups: vec![full(), minimal()],
                next_cursor: Some("orders{orders".to_owned()),
                served_by: Some(ListedFrom::Index),
                index_age_ms: Some(4_200),
            },
        ),
        exact("group-changed.minimal", changed(None)),
        exact("group-changed.full", changed(Some(GroupState::Stable))),
    ]
}

fn minimal() -> Group {
    Group {
        stream_prefix: "orders".to_owned(),
        consumer_group: "orders".to_owned(),
        state: GroupState::Empty,
        group_epoch: 1,
        assignment_epoch: 1,
        metadata_version: 1,
        shard_count: 8,
        active_migration: None,
        target_assignment_summary: BTreeMap::new(),
        current_assignment_summary: BTreeMap::new(),
        provisioning: None,
    }
}

fn full() -> Group {
    let summary = |a, b| BTreeMap::from([("worker-m0".to_owned(), a), ("worker-m1".to_owned(), b)]);
    Group {
        consumer_group: "billing".to_owned(),
        state: GroupState::Reconciling,
        group_epoch: 13,
        assignment_epoch: 13,
        metadata_version: 34,
        active_migration: Some(stream::migration()),
        target_assignment_summary: summary(4, 4),
        current_assignment_summary: summary(5, 0),
        provisioning: Some(GroupProvisioning::Pending),
        ..minimal()
    }
}
