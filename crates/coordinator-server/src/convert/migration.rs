//! Changes of the shard count as operators see them.

use coordinator_core::evidence::Open;
use coordinator_core::migration::{LeavingPhase, LeavingShard, Migration, MigrationState};
use coordinator_core::names::ReshardingId;
use coordinator_core::record::GroupRecord;
use coordinator_core::time::Timestamp;
use protocol::{DrainingShard, Migrations, NOOP_RESHARDING_ID, ShardDrainPhase};

use super::iso;

/// A change.
pub(crate) fn migration(migration: &Migration) -> protocol::Migration {
    let is_draining = !migration.leaving.is_empty() && !migration.state.is_finished();
    protocol::Migration {
        resharding_id: migration.id.as_str().to_owned(),
        from_shard_count: migration.from.get(),
        to_shard_count: migration.to.get(),
        state: state(migration.state),
        created_at: iso(migration.created_at),
        updated_at: iso(migration.updated_at),
        shards: is_draining.then(|| migration.leaving.iter().map(draining).collect()),
    }
}

/// What a request is answered that changes nothing (rule G9).
pub(crate) fn nothing_to_change(record: &GroupRecord, at: Timestamp) -> protocol::Migration {
    let count = record.shard_count.get();
    let now = iso(at);
    protocol::Migration {
        resharding_id: NOOP_RESHARDING_ID.to_owned(),
        from_shard_count: count,
        to_shard_count: count,
        state: protocol::MigrationState::Deprecated,
        created_at: now,
        updated_at: now,
        shards: None,
    }
}

/// The changes of a group, newest first.
pub(crate) fn migrations(record: &GroupRecord) -> Migrations {
    let finished = record.finished_migrations.iter().rev();
    Migrations {
        migrations: record
            .migration
            .iter()
            .chain(finished)
            .map(migration)
            .collect(),
        active_resharding_id: record
            .migration
            .as_ref()
            .map(|active| active.id.as_str().to_owned()),
    }
}

/// One change of a group.
pub(crate) fn migration_of(record: &GroupRecord, id: &ReshardingId) -> Option<protocol::Migration> {
    record.change(id).map(migration)
}

const fn state(state: MigrationState) -> protocol::MigrationState {
    match state {
        MigrationState::Preparing => protocol::MigrationState::Preparing,
        MigrationState::Active => protocol::MigrationState::Active,
        MigrationState::Draining => protocol::MigrationState::Draining,
        MigrationState::Deprecated => protocol::MigrationState::Deprecated,
        MigrationState::RollingBack => protocol::MigrationState::RollingBack,
        MigrationState::RolledBack => protocol::MigrationState::RolledBack,
    }
}

/// The most of any consumer group, of what is known to be open. Of a shard that was not looked at yet, nothing is known.
fn draining(leaving: &LeavingShard) -> DrainingShard {
    let conditions = || leaving.open.iter().flatten().map(|open| open.condition);
    let pending = conditions().filter_map(|open| match open {
        Open::Pending(count) => Some(count),
        _ => None,
    });
    let lags: Vec<Option<u64>> = conditions()
        .filter_map(|open| match open {
            Open::Lag(lag) => Some(lag),
            _ => None,
        })
        .collect();
    let is_missing = conditions().any(|open| open == Open::GroupMissing);
    // Entries are unread, and no lag says how many (case C25).
    let is_untold = lags.is_empty() && conditions().any(|open| open == Open::Unread);
    let is_looked_at = leaving.open.is_some();
    let is_lag_unknown = lags.contains(&None) || is_missing || is_untold || !is_looked_at;
    DrainingShard {
        shard_index: leaving.shard.get(),
        phase: match leaving.phase {
            LeavingPhase::Draining => ShardDrainPhase::Draining,
            LeavingPhase::Drained => ShardDrainPhase::Drained,
            LeavingPhase::Retired => ShardDrainPhase::Retired,
        },
        pending: is_looked_at.then(|| pending.max().unwrap_or_default()),
        lag: (!is_lag_unknown).then(|| lags.into_iter().flatten().max().unwrap_or_default()),
        open: leaving.open.iter().flatten().map(open).collect(),
    }
}

/// Rule G4: which condition is open, and in which consumer group.
fn open(open: &coordinator_core::evidence::OpenCondition) -> protocol::OpenCondition {
    let (condition, count) = match open.condition {
        Open::GroupMissing => (protocol::DrainCondition::GroupMissing, None),
        Open::Pending(count) => (protocol::DrainCondition::Pending, Some(count)),
        Open::Lag(lag) => (protocol::DrainCondition::Lag, lag),
        Open::Unread => (protocol::DrainCondition::Unread, None),
    };
    protocol::OpenCondition {
        consumer_group: open.group.as_str().to_owned(),
        condition,
        count,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use coordinator_core::evidence::OpenCondition;
    use coordinator_core::names::ConsumerGroup;
    use coordinator_core::numbers::ShardIndex;

    fn numbers(open: Option<&[Open]>) -> (Option<u64>, Option<u64>) {
        let group = ConsumerGroup::parse("billing").expect("a name");
        let leaving = LeavingShard {
            shard: ShardIndex::new(3),
            phase: LeavingPhase::Draining,
            open: open.map(|open| {
                let conditions = open.iter().map(|condition| OpenCondition {
                    group: group.clone(),
                    condition: *condition,
                });
                conditions.collect()
            }),
        };
        let shown = draining(&leaving);
        (shown.pending, shown.lag)
    }

    fn lag(open: &[Open]) -> Option<u64> {
        numbers(Some(open)).1
    }

    #[test]
    fn c28_of_a_shard_that_was_not_looked_at_yet_nothing_is_known() {
        assert_eq!(numbers(None), (None, None));
        assert_eq!(numbers(Some(&[])), (Some(0), Some(0)));
        assert_eq!(numbers(Some(&[Open::Pending(2)])), (Some(2), Some(0)));
    }

    #[test]
    fn c25_a_lag_that_was_not_told_is_null_and_never_0() {
        assert_eq!(lag(&[]), Some(0));
        assert_eq!(lag(&[Open::Pending(2)]), Some(0));
        assert_eq!(lag(&[Open::Lag(Some(3)), Open::Unread]), Some(3));
        assert_eq!(lag(&[Open::Lag(None), Open::Unread]), None);
        assert_eq!(lag(&[Open::GroupMissing]), None);
        // Where entries alone are the proof (rule G4), and where the lag is 0 with entries unread.
        assert_eq!(lag(&[Open::Unread]), None);
    }
}
