//! The numbers of live members.

use coordinator_core::member::{MemberRecord, MemberState};

use super::now::{GroupNow, MemberNow};
use super::seconds;
use super::text::{Family, Kind, Series};

pub(super) const FAMILIES: &[Family<GroupNow>] = &[
    Family {
        name: "member_active",
        kind: Kind::Gauge,
        help: "1 for a member that works, 0 for one that leaves.",
        write: |it, series| {
            each(it, series, |_, member, record, series| {
                series.put(
                    &member.labels,
                    u8::from(record.state == MemberState::Active),
                );
            });
        },
    },
    Family {
        name: "member_heartbeat_age_seconds",
        kind: Kind::Gauge,
        help: "How long ago the member was heard.",
        write: |it, series| {
            each(it, series, |it, member, record, series| {
                let heard = member.lease_ends.map(|ends| ends.minus(record.lease_ttl));
                let age = heard.zip(it.now).map(|(heard, now)| now.since(heard));
                series.put_known(&member.labels, age.map(seconds));
            });
        },
    },
    Family {
        name: "member_lease_remaining_seconds",
        kind: Kind::Gauge,
        help: "How long the member lives without being heard again.",
        write: |it, series| {
            each(it, series, |it, member, _, series| {
                let left = member
                    .lease_ends
                    .zip(it.now)
                    .map(|(ends, now)| ends.since(now));
                series.put_known(&member.labels, left.map(seconds));
            });
        },
    },
    Family {
        name: "member_runtime_max_concurrency",
        kind: Kind::Gauge,
        help: "Workers that the member may run.",
        write: |it, series| {
            each(it, series, |_, member, record, series| {
                series.put(&member.labels, record.max_concurrency.get());
            });
        },
    },
    Family {
        name: "member_active_workers",
        kind: Kind::Gauge,
        help: "Workers of the member that are busy.",
        write: |it, series| {
            each(it, series, |_, member, record, series| {
                let max = record.max_concurrency.get();
                let busy = member
                    .available
                    .map(|available| max.saturating_sub(available));
                series.put_known(&member.labels, busy);
            });
        },
    },
    Family {
        name: "member_current_shards",
        kind: Kind::Gauge,
        help: "Shards that the member owns.",
        write: |it, series| {
            each(it, series, |it, member, _, series| {
                series.put(&member.labels, it.group.current(&member.id).len());
            });
        },
    },
    Family {
        name: "member_revoking_shards",
        kind: Kind::Gauge,
        help: "Shards that the member is giving up.",
        write: |it, series| {
            each(it, series, |it, member, _, series| {
                series.put(&member.labels, it.group.draining(&member.id).len());
            });
        },
    },
];

type Write = fn(&GroupNow, &MemberNow, &MemberRecord, &mut Series<'_>);

fn each(it: &GroupNow, series: &mut Series<'_>, write: Write) {
    for member in &it.members {
        if let Some(record) = it.group.member(&member.id) {
            write(it, member, record, series);
        }
    }
}
