//! What the driver asks of Redis: connections to the right node, the commands of one shard, and what errors mean. It knows
//! nothing of members, leases or handlers.

mod connector;
mod exact;
mod redelivery;
mod reply;
mod shard_stream;
mod trouble;

pub(crate) use connector::{Connector, Link};
pub(crate) use exact::Life;
pub(crate) use redelivery::{Counted, Deleted};
pub(crate) use reply::Entry;
pub(crate) use shard_stream::{Identity, Reader, ShardStream};
pub(crate) use trouble::Trouble;
