//! Changes of the shard count: what is recorded of one, and what is known of the shards that leave. Decides nothing.

use alloc::vec::Vec;
use core::fmt;

use crate::evidence::OpenCondition;
use crate::names::ReshardingId;
use crate::numbers::{MetadataVersion, ShardCount, ShardIndex};
use crate::time::Timestamp;

/// How many finished migrations are remembered. Rule M2.
pub const FINISHED_KEPT: usize = 100;

/// How far a migration is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MigrationState {
    /// Recorded; its streams may not exist yet (rule G1).
    Preparing,
    /// Producers are routed to the new count (rule G2).
    Active,
    /// The shards that leave are being read to their end (rule G4).
    Draining,
    /// Taken back; the shards that it had added are being read to their end (rule G8).
    RollingBack,
    /// Done.
    Deprecated,
    /// Taken back, and done.
    RolledBack,
}

impl fmt::Display for MigrationState {
    /// As it is called wherever it is shown.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Preparing => "PREPARING",
            Self::Active => "ACTIVE",
            Self::Draining => "DRAINING",
            Self::RollingBack => "ROLLING_BACK",
            Self::Deprecated => "DEPRECATED",
            Self::RolledBack => "ROLLED_BACK",
        })
    }
}

impl MigrationState {
    /// Whether nothing more happens.
    #[must_use]
    pub const fn is_finished(self) -> bool {
        matches!(self, Self::Deprecated | Self::RolledBack)
    }

    /// Rule G8: whether it can still be taken back, since no shard has left the assignable set.
    #[must_use]
    pub const fn may_be_taken_back(self) -> bool {
        matches!(self, Self::Preparing | Self::Active)
    }

    /// Whether it is taken back, or was.
    #[must_use]
    pub const fn is_taken_back(self) -> bool {
        matches!(self, Self::RollingBack | Self::RolledBack)
    }
}

/// How far a shard that leaves is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LeavingPhase {
    /// It may hold entries that nobody has handled: it stays assignable (rule G3).
    Draining,
    /// It was proven empty and is no longer assignable; its owner lets go of it (rule G5).
    Drained,
    /// Its stream is gone.
    Retired,
}

/// A shard that leaves.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LeavingShard {
    /// The shard.
    pub shard: ShardIndex,
    /// How far it is.
    pub phase: LeavingPhase,
    /// What stood against its being drained when it was last looked at (rule G4); none while it was not looked at yet.
    pub open: Option<Vec<OpenCondition>>,
}

/// One change of the shard count. All groups of a stream share it (rule G10).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Migration {
    /// Its name.
    pub id: ReshardingId,
    /// The count before.
    pub from: ShardCount,
    /// The count that was asked for.
    pub to: ShardCount,
    /// How far it is.
    pub state: MigrationState,
    /// When it was recorded.
    pub created_at: Timestamp,
    /// When its state last changed.
    pub updated_at: Timestamp,
    /// The version that members must have seen before shards are looked at for being drained (rule G4).
    pub seen_from: MetadataVersion,
    /// The shards that leave, in ascending order. Empty before they do.
    pub leaving: Vec<LeavingShard>,
}

impl Migration {
    /// A migration that was just asked for.
    #[must_use]
    pub const fn new(id: ReshardingId, from: ShardCount, to: ShardCount, now: Timestamp) -> Self {
        Self {
            id,
            from,
            to,
            state: MigrationState::Preparing,
            created_at: now,
            updated_at: now,
            seen_from: MetadataVersion::new(0),
            leaving: Vec::new(),
        }
    }

    /// The shards that leave and are in one phase.
    pub fn leaving_in(&self, phase: LeavingPhase) -> impl Iterator<Item = ShardIndex> {
        self.leaving
            .iter()
            .filter(move |leaving| leaving.phase == phase)
            .map(|leaving| leaving.shard)
    }
}

/// The shards that one count has and another has not, about to be read to their end.
pub(crate) fn leaving(all: ShardCount, kept: ShardCount) -> Vec<LeavingShard> {
    all.shards_beyond(kept)
        .map(|shard| LeavingShard {
            shard,
            phase: LeavingPhase::Draining,
            open: None,
        })
        .collect()
}
