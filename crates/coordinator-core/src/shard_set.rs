//! A set of shards, kept sorted. Small in memory, quick to walk, equal whatever order it was built in.

use alloc::vec::Vec;

use crate::numbers::ShardIndex;

/// A sorted set of shards.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ShardSet(Vec<ShardIndex>);

impl ShardSet {
    /// The empty set.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Takes over shards that are already in ascending order, each once.
    pub(crate) fn from_sorted(shards: Vec<ShardIndex>) -> Self {
        debug_assert!(
            shards.is_sorted_by(|a, b| a < b),
            "the shards are sorted and each is there once"
        );
        Self(shards)
    }

    /// Whether the set is `0..len`, without gaps.
    #[must_use]
    pub fn is_contiguous_from_zero(&self) -> bool {
        self.0
            .last()
            .is_none_or(|last| last.as_usize() + 1 == self.0.len())
    }

    /// Whether the shard is in the set.
    #[must_use]
    pub fn contains(&self, shard: ShardIndex) -> bool {
        self.0.binary_search(&shard).is_ok()
    }

    /// Number of shards in the set.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no shard is in the set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The shards in ascending order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = ShardIndex> + ExactSizeIterator {
        self.0.iter().copied()
    }

    /// The shards in ascending order, as a slice.
    #[must_use]
    pub fn as_slice(&self) -> &[ShardIndex] {
        &self.0
    }

    /// Whether every shard of this set is in the other.
    #[must_use]
    pub fn is_subset(&self, other: &Self) -> bool {
        self.iter().all(|shard| other.contains(shard))
    }
}

impl FromIterator<ShardIndex> for ShardSet {
    fn from_iter<I: IntoIterator<Item = ShardIndex>>(shards: I) -> Self {
        let mut shards: Vec<_> = shards.into_iter().collect();
        shards.sort_unstable();
        shards.dedup();
        Self(shards)
    }
}

impl<'a> IntoIterator for &'a ShardSet {
    type Item = ShardIndex;
    type IntoIter = core::iter::Copied<core::slice::Iter<'a, ShardIndex>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter().copied()
    }
}
