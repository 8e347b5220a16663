//! Routed publishing to a sharded Redis Stream.
//!
//! A [`Producer`] asks the coordinator where the shards are, sends every key to its shard, and notices by itself when that
//! has changed. It never creates a stream: where the coordinator's word and Redis disagree it asks again, once, and then says so.
//! It retries nothing that may have been added; that decision is the caller's.
//!
//! ```no_run
//! use coordinator_client::CoordinatorClient;
//! use producer_client::{MaxLen, Producer};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let coordinator = CoordinatorClient::builder(["http://127.0.0.1:8080"]).build()?;
//! let producer = Producer::builder(coordinator, "orders", ["redis://127.0.0.1:6379"])
//!     .max_len(MaxLen::Approximate(1_000_000))
//!     .build()?;
//! let published = producer.publish("customer-7", [("order", "o-1"), ("total", "12.50")]).await?;
//! println!("{} in {}", published.id, published.stream_key);
//! producer.close().await;
//! # Ok(())
//! # }
//! ```

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
