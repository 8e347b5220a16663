//! The coordinator's store and shard plane on Redis: scripts and keys. Knows nothing of HTTP, and decides nothing.
//!
//! ```no_run
//! # async fn open() -> Result<(), store_redis::ConnectError> {
//! use store_redis::{RedisConfig, RedisPlane, RedisStore};
//!
//! let config = RedisConfig::new(["redis://127.0.0.1:6379"]);
//! let store = RedisStore::connect(config.clone()).await?;
//! let plane = RedisPlane::connect(config).await?;
//! # Ok(())
//! # }
//! ```

mod classify;
mod config;
mod connect;
mod feed;
mod keys;
mod link;
mod plane;
mod redis_store;
mod reply;
mod script;

pub use config::{ConfigError, DEFAULT_KEY_PREFIX, RedisConfig};
pub use connect::ConnectError;
pub use plane::{RedisPlane, StreamProvisioning};
pub use redis_store::{IndexNameError, RedisStore};
