//! One shard stream of Redis and its life: generations that never get mixed up, publication that happens exactly once, and consumers
//! that can be fenced. It knows nothing of how shards are chosen or assigned.
#![doc = include_str!("../README.md")]

mod error;
mod handle;
mod model;
mod ops;
mod wire;

pub use error::LifecycleError;
pub use handle::{Handle, LazyHandle, ShardRef};
pub use model::{
    AckedAndDeleted, Attempt, Base, ConsumerName, Creation, DeadLettered, DrainProof, Draining,
    Entry, Fence, Fields, Generation, GroupName, Identity, Incarnation, InvalidInput, Keys,
    MemberEpoch, Moved, Naming, OnceKey, OwnerName, Reading, Registration, Rejection, Retention,
    ShardState, StreamId, Token, Trim, Ttl,
};
pub use ops::{
    Acknowledged, Batch, Claiming, DrainEvidence, Ensured, GroupEvidence, GroupStatus, Lease, Page,
    Published, Record, Removal, ShardAdmin, ShardConsumer, ShardInspect, ShardProducer,
    ShardRecovery, ShardRedelivery, Status, StreamStatus,
};
pub use wire::{Reconnecting, RedisLink};

/// The driver, whose types are part of this interface: connections, commands and values.
pub use redis;
