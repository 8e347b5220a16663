//! What an assignment strategy is given and what it answers. Holds no decisions.

use alloc::vec;
use alloc::vec::Vec;

use crate::holding::Holding;
use crate::numbers::ShardIndex;
use crate::shard_set::ShardSet;

/// A member that may own shards, as a strategy sees it.
#[derive(Clone, Copy, Debug)]
pub struct Candidate<'a> {
    /// The shards it was the target owner of.
    pub previous: &'a ShardSet,
    /// The shards it holds (rule O2), sorted by shard.
    pub holdings: &'a [Holding],
}

impl Candidate<'_> {
    /// Whether the member holds the shard, so that taking it away means draining it first (rule A6).
    #[must_use]
    pub fn holds(&self, shard: ShardIndex) -> bool {
        self.holdings
            .binary_search_by_key(&shard, |holding| holding.shard)
            .is_ok()
    }
}

/// One assignment to be solved.
#[derive(Clone, Copy, Debug)]
pub struct Problem<'a> {
    /// The members that may own shards, in the order of their ids (rule A5).
    pub candidates: &'a [Candidate<'a>],
    /// The shards that must have an owner (rule A1).
    pub assignable: &'a ShardSet,
}

impl Problem<'_> {
    /// An answer in which no shard has an owner yet.
    #[must_use]
    pub fn no_owners(&self) -> Owners {
        let length = self
            .assignable
            .iter()
            .next_back()
            .map_or(0, |last| last.as_usize() + 1);
        Owners(vec![Owners::NOBODY; length])
    }
}

/// The owner of each shard, as a position in [`Problem::candidates`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owners(Vec<u32>);

impl Owners {
    const NOBODY: u32 = u32::MAX;

    /// The owner of a shard, if it has one.
    #[must_use]
    pub fn get(&self, shard: ShardIndex) -> Option<usize> {
        self.0
            .get(shard.as_usize())
            .filter(|owner| **owner != Self::NOBODY)
            .map(|owner| *owner as usize)
    }

    /// Makes the candidate at `position` the owner of a shard that the problem has.
    pub fn set(&mut self, shard: ShardIndex, position: usize) {
        self.0[shard.as_usize()] = u32::try_from(position).expect("fewer than 2^32 members");
    }

    /// Takes a shard that the problem has from its owner.
    pub fn clear(&mut self, shard: ShardIndex) {
        self.0[shard.as_usize()] = Self::NOBODY;
    }

    /// The shards of each of `candidates` members.
    #[must_use]
    pub fn by_candidate(&self, candidates: usize) -> Vec<ShardSet> {
        let mut shards = vec![Vec::new(); candidates];
        for (index, owner) in (0_u32..).zip(&self.0) {
            if *owner != Self::NOBODY {
                shards[*owner as usize].push(ShardIndex::new(index));
            }
        }
        shards.into_iter().map(ShardSet::from_sorted).collect()
    }
}
