//! What was asked about groups, and about names that are no group's: those have no names in the labels, so that nobody can make series by asking.

use super::now::{GroupNow, ProcessNow};
use super::text::{Family, Kind, Series, with};
use crate::engine::Asked;

/// A family that has series of groups and of none.
pub(super) struct Both {
    pub(super) of_groups: Family<GroupNow>,
    pub(super) of_names: Family<ProcessNow>,
}

/// Writes what was asked, after the labels that say about what.
type Write = fn(&Asked, &str, &mut Series<'_>);

macro_rules! families {
    ($($name:literal, $help:literal, $write:expr;)*) => {
        pub(super) const FAMILIES: &[Both] = &[$(Both {
            of_groups: Family {
                name: $name,
                kind: Kind::Counter,
                help: $help,
                write: |it, series| {
                    let write: Write = $write;
                    write(&it.tally.asked, &it.labels, series);
                },
            },
            of_names: Family {
                name: $name,
                kind: Kind::Counter,
                help: $help,
                write: |it, series| {
                    let write: Write = $write;
                    write(&it.asked, "", series);
                },
            },
        }),*];
    };
}

families! {
    "heartbeat_total", "Heartbeats, by answer.", heartbeats;
    "producer_routing_request_total", "Questions for a routing, by status.", routings;
    "scale_request_total", "Changes of a shard count that were asked for.",
        |asked, labels, series| series.put(labels, asked.scales);
    "scale_request_failed_total", "Those of them that were refused or failed.",
        |asked, labels, series| series.put(labels, asked.scales_failed);
}

/// The answers that a heartbeat can get.
const HEARTBEATS: [&str; 8] = [
    "OK",
    "RETRY",
    "SYNC_METADATA",
    "REVOKE_PENDING",
    "UNKNOWN_MEMBER_ID",
    "FENCED_MEMBER_EPOCH",
    "UNSUPPORTED_PROTOCOL",
    "INVALID_REQUEST",
];

/// Each answer of a group is there before its first time, so that the first one is seen as a rise.
fn heartbeats(asked: &Asked, labels: &str, series: &mut Series<'_>) {
    for status in HEARTBEATS {
        let count = asked.heartbeats.get(status).copied();
        series.put(&with(labels, ("status", status)), count.unwrap_or_default());
    }
}

fn routings(asked: &Asked, labels: &str, series: &mut Series<'_>) {
    for (status, count) in &asked.routings {
        series.put(&with(labels, ("status", &status.to_string())), count);
    }
}
