//! The words of the crate as types: names, numbers, identities, settings, entries. Nothing here talks to Redis.

mod entry;
mod identity;
mod invalid;
mod keys;
mod names;
mod numbers;
mod options;
mod redelivery;
mod retention;

pub use entry::{Entry, Fields, StreamId};
pub use identity::{Identity, Naming, ShardState};
pub use invalid::InvalidInput;
pub use keys::Keys;
pub use names::{Base, ConsumerName, GroupName, OnceKey, OwnerName};
pub use numbers::{Fence, Generation, Incarnation, MemberEpoch, Token};
pub use options::{Creation, DrainProof, Draining, Reading, Registration};
pub use redelivery::{AckedAndDeleted, Attempt, DeadLettered, Moved, Rejection};
pub use retention::{Retention, Trim, Ttl};

pub(crate) use invalid::check;
pub(crate) use options::check_batch;
