//! Which shard a key belongs to, and which cluster slot a Redis key hashes to. Pure arithmetic: knows no streams and no servers.

mod murmur3;
mod shard_of_key;
mod slot;

pub use murmur3::murmur3_x86_32;
pub use shard_of_key::shard_of_key;
pub use slot::{RedisSlot, redis_slot};
