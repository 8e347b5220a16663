//! The numbers of whole groups, and of their changes of the shard count.

use coordinator_core::evidence::Open;
use coordinator_core::migration::{Migration, MigrationState};
use coordinator_core::time::Timestamp;

use super::now::GroupNow;
use super::seconds;
use super::text::{Family, Kind, Series};

pub(super) const FAMILIES: &[Family<GroupNow>] = &[
    Family {
        name: "group_epoch",
        kind: Kind::Gauge,
        help: "Epoch of the membership.",
        write: |it, series| series.put(&it.labels, it.group.record().group_epoch),
    },
    Family {
        name: "assignment_epoch",
        kind: Kind::Gauge,
        help: "Epoch of the assignment.",
        write: |it, series| series.put(&it.labels, it.group.record().assignment_epoch),
    },
    Family {
        name: "members",
        kind: Kind::Gauge,
        help: "Live members.",
        write: |it, series| series.put(&it.labels, it.members.len()),
    },
    Family {
        name: "revoke_pending",
        kind: Kind::Gauge,
        help: "Shards that members hold and are to let go of.",
        write: |it, series| series.put(&it.labels, revoke_pending(it)),
    },
    Family {
        name: "invariant_violations",
        kind: Kind::Gauge,
        help: "Broken invariants at the last change: anything but 0 is a defect.",
        write: |it, series| series.put(&it.labels, it.tally.violations),
    },
    Family {
        name: "invariant_violation_total",
        kind: Kind::Counter,
        help: "Broken invariants, in all changes of this coordinator.",
        write: |it, series| series.put(&it.labels, it.tally.violated),
    },
    Family {
        name: "member_expired_total",
        kind: Kind::Counter,
        help: "Leases that ran out.",
        write: |it, series| series.put(&it.labels, it.tally.expired),
    },
    Family {
        name: "ownership_violation_total",
        kind: Kind::Counter,
        help: "Members that claimed a shard that was not theirs.",
        write: |it, series| series.put(&it.labels, it.tally.trespassed),
    },
    Family {
        name: "rebalance_total",
        kind: Kind::Counter,
        help: "Targets that were computed.",
        write: |it, series| series.put(&it.labels, it.tally.rebalanced),
    },
    Family {
        name: "migration_active",
        kind: Kind::Gauge,
        help: "Whether a change of the shard count is under way.",
        write: |it, series| series.put(&it.labels, u8::from(active(it).is_some())),
    },
    Family {
        name: "migration_active_age_seconds",
        kind: Kind::Gauge,
        help: "How long the change of the shard count has been under way.",
        write: |it, series| age(it, series, |migration| migration.created_at),
    },
    Family {
        name: "migration_state",
        kind: Kind::Gauge,
        help: "1 for the state in which the change of the shard count is.",
        write: |it, series| {
            if let Some(migration) = active(it) {
                series.put_with(&it.labels, ("state", state(migration.state)), 1);
            }
        },
    },
    Family {
        name: "migration_state_age_seconds",
        kind: Kind::Gauge,
        help: "How long the change of the shard count has been in its state.",
        write: |it, series| age(it, series, |migration| migration.updated_at),
    },
    Family {
        name: "migration_shards_open",
        kind: Kind::Gauge,
        help: "Shards that leave and against whose retirement this stands.",
        write: shards_open,
    },
    Family {
        name: "shard_sample_age_seconds",
        kind: Kind::Gauge,
        help: "How old the numbers of the group's shards are.",
        write: |it, series| {
            let age = it.sample_age.map(|age| age.as_secs_f64());
            series.put_known(&it.labels, age);
        },
    },
];

fn revoke_pending(it: &GroupNow) -> usize {
    let record = it.group.record();
    let of_member = |(id, member): (&_, &coordinator_core::member::MemberRecord)| {
        let target = record.target.of(id);
        let held = member.holdings.iter();
        held.filter(|holding| !target.contains(holding.shard))
            .count()
    };
    it.group.live_members().map(of_member).sum()
}

fn active(it: &GroupNow) -> Option<&Migration> {
    it.group.record().migration.as_ref()
}

fn age(it: &GroupNow, series: &mut Series<'_>, from: fn(&Migration) -> Timestamp) {
    let age = active(it)
        .zip(it.now)
        .map(|(migration, now)| now.since(from(migration)));
    series.put_known(&it.labels, age.map(seconds));
}

fn shards_open(it: &GroupNow, series: &mut Series<'_>) {
    let Some(migration) = active(it) else { return };
    for wanted in ["PENDING", "LAG", "UNREAD", "GROUP_MISSING"] {
        let has = |open: &[coordinator_core::evidence::OpenCondition]| {
            open.iter().any(|open| condition(open.condition) == wanted)
        };
        let count = migration
            .leaving
            .iter()
            .filter(|shard| has(shard.open.as_deref().unwrap_or_default()))
            .count();
        series.put_with(&it.labels, ("condition", wanted), count);
    }
}

const fn condition(open: Open) -> &'static str {
    match open {
        Open::GroupMissing => "GROUP_MISSING",
        Open::Pending(_) => "PENDING",
        Open::Lag(_) => "LAG",
        Open::Unread => "UNREAD",
    }
}

const fn state(state: MigrationState) -> &'static str {
    match state {
        MigrationState::Preparing => "PREPARING",
        MigrationState::Active => "ACTIVE",
        MigrationState::Draining => "DRAINING",
        MigrationState::Deprecated => "DEPRECATED",
        MigrationState::RollingBack => "ROLLING_BACK",
        MigrationState::RolledBack => "ROLLED_BACK",
    }
}
