//! Routed publishing to a sharded Redis Stream. It makes no streams, and retries nothing that may have been added unless that is safe.
#![doc = include_str!("../README.md")]

mod builder;
mod counters;
mod error;
mod patience;
mod producer;
mod record;
mod router;
mod routing_table;
mod settings;
mod shards;
mod streams;

pub use builder::{BuildError, ProducerBuilder};
pub use counters::ProducerCounters;
pub use error::{PublishError, ShardProblem};
pub use producer::Producer;
pub use record::{Published, PublishedOnce, Record};
pub use router::RefreshError;
pub use routing_table::{NoShards, Route, RoutingError, RoutingTable, RoutingTimes};
pub use settings::MaxLen;
