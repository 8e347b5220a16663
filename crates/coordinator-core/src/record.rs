//! Everything that is recorded of a group: what a store keeps and gives back. Plain data without decisions; how it is written down
//! is the store's matter.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::generations::Generations;
use crate::holding::{Holding, Quarantine};
use crate::lineage::Lineage;
use crate::member::MemberRecord;
use crate::migration::Migration;
use crate::names::{GroupId, MemberId, ReshardingId};
use crate::numbers::{AssignmentEpoch, GroupEpoch, MetadataVersion, ShardCount, ShardIndex};
use crate::target::Target;

/// Whether the group's shard streams and consumer groups are known to exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Provisioning {
    /// The creation was recorded and its streams may be half made: no client sees the group yet.
    Pending,
    /// They were made, or the group has no data plane.
    Done,
}

/// The record of one group: the source of truth.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GroupRecord {
    /// Which group it is.
    pub id: GroupId,
    /// The number of shards that producers route to.
    pub shard_count: ShardCount,
    /// Whether its streams exist.
    pub provisioning: Provisioning,
    /// Which life the stream of each shard is in.
    pub generations: Generations,
    /// Rule E2.
    pub metadata_version: MetadataVersion,
    /// Rule E3.
    pub group_epoch: GroupEpoch,
    /// Rule E4.
    pub assignment_epoch: AssignmentEpoch,
    /// Every member, the ended ones that are still remembered included.
    pub members: BTreeMap<MemberId, Arc<MemberRecord>>,
    /// Who should own what.
    pub target: Target,
    /// What nobody may be given yet (rule O6).
    pub quarantines: Vec<Quarantine>,
    /// The change of the shard count that is under way (rules G1 to G11).
    pub migration: Option<Migration>,
    /// Those that are over, the latest last (rule M2).
    pub finished_migrations: Vec<Migration>,
    /// What is known of writes that the store may have lost (rules C1 to C8).
    pub lineage: Lineage,
}

impl GroupRecord {
    /// The record of a new group without members.
    #[must_use]
    pub fn new(id: GroupId, shard_count: ShardCount, provisioning: Provisioning) -> Self {
        Self {
            id,
            shard_count,
            provisioning,
            generations: Generations::default(),
            metadata_version: MetadataVersion::new(1),
            group_epoch: GroupEpoch::new(0),
            assignment_epoch: AssignmentEpoch::new(0),
            members: BTreeMap::new(),
            target: Target::default(),
            quarantines: Vec::new(),
            migration: None,
            finished_migrations: Vec::new(),
            lineage: Lineage::default(),
        }
    }

    /// The record of a further group of a stream: it takes the stream's count and the change that is under way (rule G10). Whoever joins it has seen the
    /// change with its first answer, so that nobody is waited for (rule G4); the versions of the sibling mean nothing here.
    #[must_use]
    pub fn beside(id: GroupId, sibling: &Self, provisioning: Provisioning) -> Self {
        let new = Self::new(id, sibling.shard_count, provisioning);
        let migration = sibling.migration.clone().map(|migration| Migration {
            seen_from: new.metadata_version,
            ..migration
        });
        Self {
            generations: sibling.generations.clone(),
            // What it has not recorded it would be told to begin.
            finished_migrations: sibling.finished_migrations.clone(),
            migration,
            ..new
        }
    }

    /// A change of the shard count that is under way, or over and still remembered.
    #[must_use]
    pub fn change(&self, id: &ReshardingId) -> Option<&Migration> {
        let finished = self.finished_migrations.iter().rev();
        let mut known = self.migration.iter().chain(finished);
        known.find(|change| change.id == *id)
    }

    /// Checks that no decision could have led to something else.
    ///
    /// # Errors
    /// [`RecordError`] names what is wrong. Such a group fails closed (rule C6).
    pub(crate) fn check(&self) -> Result<(), RecordError> {
        if self.shard_count > ShardCount::MAX {
            return Err(RecordError::TooManyShards {
                count: self.shard_count,
            });
        }
        if self.assignment_epoch.get() > self.group_epoch.get() {
            return Err(RecordError::AssignmentAheadOfGroup {
                assignment: self.assignment_epoch,
                group: self.group_epoch,
            });
        }
        if self.lineage.epoch_floor > self.group_epoch {
            return Err(RecordError::FloorAheadOfGroup {
                floor: self.lineage.epoch_floor,
                group: self.group_epoch,
            });
        }
        for (id, member) in &self.members {
            check_holdings(&member.holdings)?;
            if !member.is_live() && !member.holdings.is_empty() {
                return Err(RecordError::EndedMemberHolds { member: id.clone() });
            }
            if member.is_live() && member.epoch.get() > self.assignment_epoch.get() {
                return Err(RecordError::MemberAheadOfAssignment { member: id.clone() });
            }
        }
        for quarantine in &self.quarantines {
            check_holdings(&quarantine.holdings)?;
        }
        for leaving in self
            .migration
            .iter()
            .flat_map(|migration| &migration.leaving)
        {
            if !ShardCount::MAX.contains(leaving.shard) {
                return Err(RecordError::ShardOutOfRange {
                    shard: leaving.shard,
                });
            }
        }
        if let Some(shard) = self.generations.impossible() {
            return Err(RecordError::ShardOutOfRange { shard });
        }
        for (id, _) in self.target.iter() {
            if !self
                .members
                .get(id)
                .is_some_and(|member| member.is_target())
            {
                return Err(RecordError::TargetWithoutMember { member: id.clone() });
            }
        }
        Ok(())
    }
}

fn check_holdings(holdings: &[Holding]) -> Result<(), RecordError> {
    if let Some(pair) = holdings
        .windows(2)
        .find(|pair| pair[0].shard >= pair[1].shard)
    {
        return Err(RecordError::HoldingsOutOfOrder {
            shard: pair[1].shard,
        });
    }
    match holdings
        .last()
        .filter(|holding| !ShardCount::MAX.contains(holding.shard))
    {
        Some(holding) => Err(RecordError::ShardOutOfRange {
            shard: holding.shard,
        }),
        None => Ok(()),
    }
}

/// A record that no decision could have led to. Rule C6: such a group fails closed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// More shards than a stream can have.
    #[error(
        "{count} shards are recorded, a stream has at most {}",
        ShardCount::MAX
    )]
    TooManyShards {
        /// The recorded count.
        count: ShardCount,
    },
    /// Rule E4.
    #[error("the assignment epoch {assignment} is above the group epoch {group}")]
    AssignmentAheadOfGroup {
        /// The assignment epoch.
        assignment: AssignmentEpoch,
        /// The group epoch.
        group: GroupEpoch,
    },
    /// Rule C7.
    #[error("the epoch since the last loss of writes {floor} is above the group epoch {group}")]
    FloorAheadOfGroup {
        /// The epoch since the loss.
        floor: GroupEpoch,
        /// The group epoch.
        group: GroupEpoch,
    },
    /// Rule E5.
    #[error("the epoch of member {member} is above the assignment epoch")]
    MemberAheadOfAssignment {
        /// The member.
        member: MemberId,
    },
    /// A member that can't hold anything does.
    #[error("member {member} has ended and still holds shards")]
    EndedMemberHolds {
        /// The member.
        member: MemberId,
    },
    /// Holdings must be sorted, each shard once.
    #[error("shard {shard} stands out of order among what is held")]
    HoldingsOutOfOrder {
        /// The shard.
        shard: ShardIndex,
    },
    /// A shard index that no stream has.
    #[error(
        "shard {shard} is out of range, a stream has at most {}",
        ShardCount::MAX
    )]
    ShardOutOfRange {
        /// The shard.
        shard: ShardIndex,
    },
    /// Rule A2.
    #[error("shard {shard} has two target owners")]
    TwoTargetOwners {
        /// The shard.
        shard: ShardIndex,
    },
    /// Rule A2.
    #[error("member {member} is a target owner and can't be one")]
    TargetWithoutMember {
        /// The member.
        member: MemberId,
    },
}
