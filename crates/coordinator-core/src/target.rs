//! The target assignment: who should own which shard. Says nothing about who may read it already.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::assign::Owners;
use crate::names::MemberId;
use crate::numbers::{ShardCount, ShardIndex};
use crate::record::RecordError;
use crate::shard_set::ShardSet;

static NOTHING: ShardSet = ShardSet::new();

/// The target owner of every assignable shard. Cheap to copy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Target(Arc<Inner>);

#[derive(Debug, Default, PartialEq, Eq, Hash)]
struct Inner {
    /// The owners, sorted.
    members: Vec<MemberId>,
    /// Beside each owner, its shards.
    shards: Vec<ShardSet>,
    /// For each shard index, the position of its owner.
    owners: Vec<Option<u32>>,
}

impl Target {
    /// The target in which `owners` speaks of `members`, which are sorted.
    pub(crate) fn new(members: Vec<MemberId>, owners: &Owners) -> Self {
        let shards = owners.by_candidate(members.len());
        Self::from_sorted(members, shards)
    }

    fn from_sorted(members: Vec<MemberId>, shards: Vec<ShardSet>) -> Self {
        let length = shards
            .iter()
            .filter_map(|own| own.iter().next_back())
            .max()
            .map_or(0, |last| last.as_usize() + 1);
        let mut owners = alloc::vec![None; length];
        for (position, own) in (0_u32..).zip(&shards) {
            for shard in own {
                owners[shard.as_usize()] = Some(position);
            }
        }
        Self(Arc::new(Inner {
            members,
            shards,
            owners,
        }))
    }

    /// The member that should own a shard.
    #[must_use]
    pub fn owner(&self, shard: ShardIndex) -> Option<&MemberId> {
        let position = (*self.0.owners.get(shard.as_usize())?)?;
        self.0.members.get(position as usize)
    }

    /// The shards that a member should own.
    #[must_use]
    pub fn of(&self, member: &MemberId) -> &ShardSet {
        self.0
            .members
            .binary_search(member)
            .map_or(&NOTHING, |position| &self.0.shards[position])
    }

    /// Every member of the target with its shards, in the order of ids.
    pub fn iter(&self) -> impl Iterator<Item = (&MemberId, &ShardSet)> {
        self.0.members.iter().zip(&self.0.shards)
    }

    /// The shards whose owner differs between two targets, in ascending order.
    pub(crate) fn changes<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = ShardIndex> + 'a {
        let length = self.0.owners.len().max(other.0.owners.len());
        (0..u32::try_from(length).unwrap_or(u32::MAX))
            .map(ShardIndex::new)
            .filter(|shard| self.owner(*shard) != other.owner(*shard))
    }
}

impl Target {
    /// Builds a target from what was stored.
    ///
    /// # Errors
    /// [`RecordError`] if a shard has two owners or an index no stream can have.
    pub fn from_stored(
        owners: impl IntoIterator<Item = (MemberId, ShardSet)>,
    ) -> Result<Self, RecordError> {
        let mut owners: Vec<_> = owners.into_iter().collect();
        owners.sort_by(|a, b| a.0.cmp(&b.0));
        let mut taken: Vec<ShardIndex> = owners
            .iter()
            .flat_map(|(_, shards)| shards.iter())
            .collect();
        taken.sort_unstable();
        if let Some(shard) = taken
            .last()
            .filter(|shard| !ShardCount::MAX.contains(**shard))
        {
            return Err(RecordError::ShardOutOfRange { shard: *shard });
        }
        if let Some(pair) = taken.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(RecordError::TwoTargetOwners { shard: pair[0] });
        }
        let (members, shards) = owners.into_iter().unzip();
        Ok(Self::from_sorted(members, shards))
    }
}
