//! Where the streams of shards stand. What Redis does not tell has no series, and is never 0 (case C25).

use store::{EntryId, GroupOffsets, StreamOffsets};

use super::now::{GroupNow, ShardNow};
use super::text::{Family, Kind, Series};

pub(super) const FAMILIES: &[Family<GroupNow>] = &[
    Family {
        name: "shard_stream_length",
        kind: Kind::Gauge,
        help: "Records in the stream.",
        write: |it, series| number(it, series, |found| found.length),
    },
    Family {
        name: "shard_pending",
        kind: Kind::Gauge,
        help: "Records delivered to the group and not acknowledged.",
        write: |it, series| of_group(it, series, |group| Some(group.pending)),
    },
    Family {
        name: "shard_lag",
        kind: Kind::Gauge,
        help: "Records not delivered to the group yet; absent where that is not known.",
        write: |it, series| of_group(it, series, |group| group.lag),
    },
    Family {
        name: "shard_lag_unknown",
        kind: Kind::Gauge,
        help: "1 where the lag is not known.",
        write: |it, series| {
            for shard in it.shards.iter().filter(|shard| shard.is_sampled) {
                series.put(&shard.labels, u8::from(lag(shard).is_none()));
            }
        },
    },
    Family {
        name: "shard_memory_usage_bytes",
        kind: Kind::Gauge,
        help: "Bytes that the stream takes.",
        write: |it, series| number(it, series, |found| found.memory_bytes),
    },
    Family {
        name: "shard_last_record_ms",
        kind: Kind::Gauge,
        help: "Time part of the id of the last record.",
        write: |it, series| number(it, series, |found| found.last.map(ms)),
    },
    Family {
        name: "shard_last_record_seq",
        kind: Kind::Gauge,
        help: "Sequence part of the id of the last record.",
        write: |it, series| number(it, series, |found| found.last.map(seq)),
    },
    Family {
        name: "shard_last_generated_ms",
        kind: Kind::Gauge,
        help: "Time part of the highest id that the stream ever gave.",
        write: |it, series| number(it, series, |found| found.last_generated.map(ms)),
    },
    Family {
        name: "shard_last_generated_seq",
        kind: Kind::Gauge,
        help: "Sequence part of the highest id that the stream ever gave.",
        write: |it, series| number(it, series, |found| found.last_generated.map(seq)),
    },
    Family {
        name: "shard_group_last_delivered_ms",
        kind: Kind::Gauge,
        help: "Time part of the id up to which the group has been served.",
        write: |it, series| of_group(it, series, |group| Some(group.last_delivered.ms)),
    },
    Family {
        name: "shard_group_last_delivered_seq",
        kind: Kind::Gauge,
        help: "Sequence part of the id up to which the group has been served.",
        write: |it, series| of_group(it, series, |group| Some(group.last_delivered.seq)),
    },
    Family {
        name: "shard_consumer_last_acked_ms",
        kind: Kind::Gauge,
        help: "Time part of the highest id that a member says it acknowledged.",
        write: |it, series| acked(it, series, ms),
    },
    Family {
        name: "shard_consumer_last_acked_seq",
        kind: Kind::Gauge,
        help: "Sequence part of the highest id that a member says it acknowledged.",
        write: |it, series| acked(it, series, seq),
    },
];

const fn ms(id: EntryId) -> u64 {
    id.ms
}

const fn seq(id: EntryId) -> u64 {
    id.seq
}

fn lag(shard: &ShardNow) -> Option<u64> {
    shard.found.as_ref()?.group.as_ref()?.lag
}

fn number(it: &GroupNow, series: &mut Series<'_>, of: fn(&StreamOffsets) -> Option<u64>) {
    for shard in &it.shards {
        series.put_known(&shard.labels, shard.found.as_ref().and_then(of));
    }
}

fn of_group(it: &GroupNow, series: &mut Series<'_>, of: fn(&GroupOffsets) -> Option<u64>) {
    for shard in &it.shards {
        let group = shard.found.as_ref().and_then(|found| found.group.as_ref());
        series.put_known(&shard.labels, group.and_then(of));
    }
}

fn acked(it: &GroupNow, series: &mut Series<'_>, part: fn(EntryId) -> u64) {
    for shard in &it.shards {
        series.put_known(&shard.labels, shard.last_acked.map(part));
    }
}
