//! The typed HTTP client of the coordinator's API, for members, producers and tools.
//!
//! It sends one call at a time and says what came back: it keeps no state of a group, repeats nothing on its own
//! except at another coordinator, and never touches Redis.
//!
//! ```no_run
//! use coordinator_client::{CoordinatorClient, Credentials};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = CoordinatorClient::builder(["http://127.0.0.1:8080"])
//!     .credentials(Credentials::basic("admin", "secret"))
//!     .build()?;
//! let group = client.group("orders", "orders").await?;
//! println!("{} shards, {:?}", group.shard_count, group.state);
//! # Ok(())
//! # }
//! ```

mod answer;
mod builder;
mod calls;
mod client;
mod credentials;
mod endpoints;
mod error;
mod observer;
mod path;
mod tls;
mod transport;

pub use builder::{BuildError, ClientBuilder};
pub use calls::{Event, Events};
pub use client::CoordinatorClient;
pub use credentials::Credentials;
pub use error::ClientError;
pub use observer::Exchange;
