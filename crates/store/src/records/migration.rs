//! How a change of the shard count is written down.

use coordinator_core::evidence::{Open, OpenCondition};
use coordinator_core::migration::{LeavingPhase, LeavingShard, Migration, MigrationState};
use coordinator_core::names::{ConsumerGroup, NameError, ReshardingId};
use coordinator_core::numbers::{MetadataVersion, ShardCount, ShardIndex};
use coordinator_core::time::Timestamp;
use serde::{Deserialize, Serialize};

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct StoredMigration {
    id: String,
    from: u32,
    to: u32,
    state: StoredState,
    created_at_ms: u64,
    updated_at_ms: u64,
    seen_from: u64,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    leaving: Vec<StoredLeaving>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum StoredState {
    Preparing,
    Active,
    Draining,
    RollingBack,
    Deprecated,
    RolledBack,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StoredLeaving {
    shard: u32,
    phase: StoredPhase,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    open: Option<Vec<StoredOpen>>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum StoredPhase {
    Draining,
    Drained,
    Retired,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StoredOpen {
    group: String,
    condition: StoredCondition,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
enum StoredCondition {
    GroupMissing,
    Pending(u64),
    Lag(Option<u64>),
    Unread,
}

impl StoredMigration {
    pub(super) fn write(migration: &Migration) -> Self {
        Self {
            id: migration.id.as_str().to_owned(),
            from: migration.from.get(),
            to: migration.to.get(),
            state: match migration.state {
                MigrationState::Preparing => StoredState::Preparing,
                MigrationState::Active => StoredState::Active,
                MigrationState::Draining => StoredState::Draining,
                MigrationState::RollingBack => StoredState::RollingBack,
                MigrationState::Deprecated => StoredState::Deprecated,
                MigrationState::RolledBack => StoredState::RolledBack,
            },
            created_at_ms: migration.created_at.as_ms(),
            updated_at_ms: migration.updated_at.as_ms(),
            seen_from: migration.seen_from.get(),
            leaving: migration.leaving.iter().map(StoredLeaving::write).collect(),
        }
    }

    pub(super) fn read(self) -> Result<Migration, NameError> {
        Ok(Migration {
            id: ReshardingId::from(self.id),
            from: ShardCount::new(self.from),
            to: ShardCount::new(self.to),
            state: match self.state {
                StoredState::Preparing => MigrationState::Preparing,
                StoredState::Active => MigrationState::Active,
                StoredState::Draining => MigrationState::Draining,
                StoredState::RollingBack => MigrationState::RollingBack,
                StoredState::Deprecated => MigrationState::Deprecated,
                StoredState::RolledBack => MigrationState::RolledBack,
            },
            created_at: Timestamp::from_ms(self.created_at_ms),
            updated_at: Timestamp::from_ms(self.updated_at_ms),
            seen_from: MetadataVersion::new(self.seen_from),
            leaving: self
                .leaving
                .into_iter()
                .map(StoredLeaving::read)
                .collect::<Result<_, _>>()?,
        })
    }
}

impl StoredLeaving {
    fn write(leaving: &LeavingShard) -> Self {
        Self {
            shard: leaving.shard.get(),
            phase: match leaving.phase {
                LeavingPhase::Draining => StoredPhase::Draining,
                LeavingPhase::Drained => StoredPhase::Drained,
                LeavingPhase::Retired => StoredPhase::Retired,
            },
            open: leaving
                .open
                .as_ref()
                .map(|open| open.iter().map(StoredOpen::write).collect()),
        }
    }

    fn read(self) -> Result<LeavingShard, NameError> {
        Ok(LeavingShard {
            shard: ShardIndex::new(self.shard),
            phase: match self.phase {
                StoredPhase::Draining => LeavingPhase::Draining,
                StoredPhase::Drained => LeavingPhase::Drained,
                StoredPhase::Retired => LeavingPhase::Retired,
            },
            open: self
                .open
                .map(|open| open.into_iter().map(StoredOpen::read).collect())
                .transpose()?,
        })
    }
}

impl StoredOpen {
    fn write(open: &OpenCondition) -> Self {
        let condition = match open.condition {
            Open::GroupMissing => StoredCondition::GroupMissing,
            Open::Pending(count) => StoredCondition::Pending(count),
            Open::Lag(lag) => StoredCondition::Lag(lag),
            Open::Unread => StoredCondition::Unread,
        };
        Self {
            group: open.group.as_str().to_owned(),
            condition,
        }
    }

    fn read(self) -> Result<OpenCondition, NameError> {
        let condition = match self.condition {
            StoredCondition::GroupMissing => Open::GroupMissing,
            StoredCondition::Pending(count) => Open::Pending(count),
            StoredCondition::Lag(lag) => Open::Lag(lag),
            StoredCondition::Unread => Open::Unread,
        };
        Ok(OpenCondition {
            group: ConsumerGroup::parse(&self.group)?,
            condition,
        })
    }
}
