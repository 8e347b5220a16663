//! The lines of a snapshot, and what became of one that was put back.

use protocol::{
    RestoreOutcome, Restored, RestoredGroup, SNAPSHOT_FORMAT, SNAPSHOT_FORMAT_VERSION, SnapshotEnd,
    SnapshotGroup, SnapshotHeader, SnapshotLine, SnapshotUnreadable,
};

use crate::case::{AT, Case, exact};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        exact("snapshot-header.full", SnapshotLine::Header(header())),
        exact("snapshot-group.full", SnapshotLine::Group(group())),
        exact(
            "snapshot-unreadable.full",
            SnapshotLine::Unreadable(unreadable()),
        ),
        exact("snapshot-end.full", SnapshotLine::End(end())),
        exact(
            "restored.full",
            Restored {
                groups: vec![
                    restored("audit", RestoreOutcome::Repaired, 3, 1),
                    restored("billing", RestoreOutcome::Replaced, 18, 7),
                    restored("orders", RestoreOutcome::Created, 2, 0),
                ],
            },
        ),
        exact("restored.minimal", Restored::default()),
    ]
}

fn header() -> SnapshotHeader {
    SnapshotHeader {
        format: SNAPSHOT_FORMAT.to_owned(),
        format_version: SNAPSHOT_FORMAT_VERSION,
        coordinator_version: "0.1.0".to_owned(),
        coordinator_id: "c-1".to_owned(),
        taken_at: AT,
        groups: 2,
    }
}

fn group() -> SnapshotGroup {
    SnapshotGroup {
        stream_prefix: "orders".to_owned(),
        consumer_group: "billing".to_owned(),
        revision: 41,
        shard_count: 16,
        metadata_version: 18,
        group_epoch: 7,
        members: 2,
        record: r#"{"schemaVersion":1}"#.to_owned(),
        sha256: "0e9561cfb83d50990a103b3896fe249a11fe27fa28985448187f93ec12116d72".to_owned(),
    }
}

fn unreadable() -> SnapshotUnreadable {
    SnapshotUnreadable {
        stream_prefix: "orders".to_owned(),
        consumer_group: "audit".to_owned(),
        reason: "its schema version is 9, this program reads 1".to_owned(),
    }
}

fn end() -> SnapshotEnd {
    SnapshotEnd {
        groups: 1,
        sha256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855".to_owned(),
    }
}

fn restored(group: &str, outcome: RestoreOutcome, version: u64, epoch: u64) -> RestoredGroup {
    RestoredGroup {
        stream_prefix: "orders".to_owned(),
        consumer_group: group.to_owned(),
        outcome,
        metadata_version: version,
        group_epoch: (1 << 32) + epoch,
    }
}
