//! The numbers of the process whose labels change, so that they are made anew for each scrape.

use store::Eviction;

use super::now::ProcessNow;
use super::text::{Family, Kind, Series, labels};

pub(super) const FAMILIES: &[Family<ProcessNow>] = &[
    Family {
        name: "store_eviction_policy",
        kind: Kind::Gauge,
        help: "1 for what the Redis of the groups does when it is full: anything but noeviction can lose groups.",
        write: |it, series| policy(it.evictions.groups.as_ref(), series),
    },
    Family {
        name: "streams_eviction_policy",
        kind: Kind::Gauge,
        help: "1 for what the Redis of the streams does when it is full: anything but noeviction can lose streams.",
        write: |it, series| policy(it.evictions.streams.as_ref(), series),
    },
];

fn policy(eviction: Option<&Eviction>, series: &mut Series<'_>) {
    if let Some(eviction) = eviction {
        series.put(&labels(&[("policy", eviction.policy())]), 1);
    }
}
