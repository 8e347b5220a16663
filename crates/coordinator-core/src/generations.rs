//! Which life the stream of each shard is in, as far as that was recorded. What a generation is for Redis is not known here.

use alloc::collections::BTreeMap;

use crate::numbers::{ShardCount, ShardIndex, StreamGeneration};

/// The generations of a stream's shards. Empty where lives of streams are not told apart: no data plane, or streams that others make.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Generations(BTreeMap<ShardIndex, StreamGeneration>);

impl Generations {
    /// The generation of a shard; none if it is not known.
    #[must_use]
    pub fn of(&self, shard: ShardIndex) -> Option<StreamGeneration> {
        self.0.get(&shard).copied()
    }

    /// Every shard whose generation is known, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = (ShardIndex, StreamGeneration)> {
        self.0
            .iter()
            .map(|(shard, generation)| (*shard, *generation))
    }

    /// Whether none is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Notes generations over those that were known.
    pub(crate) fn note(&mut self, found: &Self) {
        self.0.extend(found.iter());
    }

    /// Forgets the shards that a stream with this many does not have.
    pub(crate) fn keep(&mut self, count: ShardCount) {
        self.0.retain(|shard, _| count.contains(*shard));
    }

    /// The first shard that no stream can have.
    pub(crate) fn impossible(&self) -> Option<ShardIndex> {
        let mut shards = self.0.keys();
        shards
            .find(|shard| !ShardCount::MAX.contains(**shard))
            .copied()
    }
}

impl FromIterator<(ShardIndex, StreamGeneration)> for Generations {
    fn from_iter<I: IntoIterator<Item = (ShardIndex, StreamGeneration)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}
