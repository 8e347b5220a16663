//! Opening the store, and what all steps share: the connection, the names of keys, the limits.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use store::LockLimits;

use crate::config::{ConfigError, RedisConfig};
use crate::connect::{ConnectError, tolerate_absence};
use crate::feed::Feed;
use crate::keys::Keys;
use crate::link::Connector;

/// The store of group records on Redis: a single one or a cluster, from Redis 7.0 or Valkey 7.2 on.
///
/// Its connection is made when it is needed, and anew when it is of no more use; nothing is assumed across a loss of it.
pub struct RedisStore {
    pub(super) redis: Arc<Connector>,
    pub(super) keys: Keys,
    pub(super) limits: LockLimits,
    pub(super) feed: Feed,
    config: RedisConfig,
}

impl RedisStore {
    /// Opens the store without connecting.
    ///
    /// # Errors
    /// [`ConfigError`] says what can't work.
    pub fn open(config: RedisConfig) -> Result<Self, ConfigError> {
        let redis = Arc::new(Connector::new(&config)?);
        let feed = Feed::new(&config)?;
        Ok(Self {
            redis,
            keys: Keys::new(config.key_prefix.clone()),
            limits: config.lock_limits,
            feed,
            config,
        })
    }

    /// Opens the store and checks what it finds. A Redis that is merely away is no error: the store is then not ready until it is back
    /// (case C08).
    ///
    /// # Errors
    /// [`ConnectError`]: what can't work, a Redis that is too old, a user that is not let in or lacks a permission (case C11).
    pub async fn connect(config: RedisConfig) -> Result<Self, ConnectError> {
        let store = Self::open(config)?;
        tolerate_absence(store.ready().await.map(drop))?;
        Ok(store)
    }

    /// The time after which a right is forgotten.
    pub(super) fn lock_ttl_ms(&self) -> u64 {
        in_ms(self.limits.ttl).max(1)
    }
}

impl fmt::Debug for RedisStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStore")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

pub(super) fn in_ms(span: Duration) -> u64 {
    u64::try_from(span.as_millis()).unwrap_or(u64::MAX)
}
