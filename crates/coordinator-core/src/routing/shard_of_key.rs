//! The shard of a key, every shard getting an equal range of hashes. Knows nothing of shard names or owners.

use super::murmur3_x86_32;
use crate::numbers::{ShardCount, ShardIndex};

const HASHES: u64 = 1 << 32;

/// The shard that `key` belongs to when there are `shards` of them; `None` when there are none.
///
/// Routing version 1: a hash at or above the largest multiple of the count is drawn again under
/// another seed, so that no shard is favoured by the remainder.
#[must_use]
pub fn shard_of_key(key: &[u8], shards: ShardCount) -> Option<ShardIndex> {
    let count = u64::from(shards.get());
    if count == 0 {
        return None;
    }
    let limit = HASHES - HASHES % count;
    let mut hash = murmur3_x86_32(key, 0);
    let mut attempt = 0_u32;
    while u64::from(hash) >= limit {
        attempt = attempt.wrapping_add(1);
        hash = murmur3_x86_32(key, murmur3_x86_32(&attempt.to_le_bytes(), 0));
    }
    Some(ShardIndex::new(hash % shards.get()))
}
