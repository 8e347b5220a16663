//! References to a shard, and handles bound to one life of it. What can be done with a handle is told by the capabilities.

mod bound;
mod lazy;
mod shard_ref;

pub use bound::Handle;
pub use lazy::LazyHandle;
pub use shard_ref::ShardRef;
