//! How far members say they have come in the shards that they hold.

use coordinator_core::time::Timestamp;
use store::{EntryId, ShardProgress};

use super::now::GroupNow;
use super::seconds;
use super::text::{Family, Kind, Series};

pub(super) const FAMILIES: &[Family<GroupNow>] = &[
    Family {
        name: "consumer_shard_last_delivered_ms",
        kind: Kind::Gauge,
        help: "Time part of the last id that the member was given.",
        write: |it, series| id(it, series, |row| row.last_delivered_id.as_ref(), |id| id.ms),
    },
    Family {
        name: "consumer_shard_last_delivered_seq",
        kind: Kind::Gauge,
        help: "Sequence part of the last id that the member was given.",
        write: |it, series| {
            id(
                it,
                series,
                |row| row.last_delivered_id.as_ref(),
                |id| id.seq,
            )
        },
    },
    Family {
        name: "consumer_shard_last_acked_ms",
        kind: Kind::Gauge,
        help: "Time part of the last id that the member acknowledged.",
        write: |it, series| id(it, series, |row| row.last_acked_id.as_ref(), |id| id.ms),
    },
    Family {
        name: "consumer_shard_last_acked_seq",
        kind: Kind::Gauge,
        help: "Sequence part of the last id that the member acknowledged.",
        write: |it, series| id(it, series, |row| row.last_acked_id.as_ref(), |id| id.seq),
    },
    Family {
        name: "consumer_shard_pending",
        kind: Kind::Gauge,
        help: "Records that the member was given and has not acknowledged.",
        write: |it, series| {
            each(it, |labels, row| series.put(labels, row.pending_count));
        },
    },
    Family {
        name: "consumer_shard_progress_updated_at_seconds",
        kind: Kind::Gauge,
        help: "When the member measured that, by its own clock.",
        write: |it, series| {
            each(it, |labels, row| {
                let at = row
                    .updated_at
                    .map(|at| seconds(at.since(Timestamp::from_ms(0))));
                series.put_known(labels, at);
            });
        },
    },
    Family {
        name: "consumer_shard_progress_age_seconds",
        kind: Kind::Gauge,
        help: "How long ago the member measured that, by its own clock.",
        write: |it, series| {
            each(it, |labels, row| {
                let age = row.updated_at.zip(it.now).map(|(at, now)| now.since(at));
                series.put_known(labels, age.map(seconds));
            });
        },
    },
];

fn each(it: &GroupNow, mut write: impl FnMut(&str, &ShardProgress)) {
    let rows = it.members.iter().flat_map(|member| &member.progress);
    rows.for_each(|(labels, row)| write(labels, row));
}

fn id(
    it: &GroupNow,
    series: &mut Series<'_>,
    of: fn(&ShardProgress) -> Option<&String>,
    part: fn(EntryId) -> u64,
) {
    each(it, |labels, row| {
        // Anybody may report anything.
        let id = of(row).and_then(|id| EntryId::parse(id));
        series.put_known(labels, id.map(part));
    });
}
