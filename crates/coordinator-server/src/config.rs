//! How a server is set up. Built by the program around it; texts and files are not parsed here.

use std::fmt;
use std::net::SocketAddr;
use std::time::Duration;

use coordinator_core::numbers::ShardCount;
use coordinator_core::settings::Settings;

use crate::engine::{ReshardingTimes, WatchingTimes};

/// The user name that exists out of the box.
pub const DEFAULT_ADMIN_USERNAME: &str = "admin";
/// The password that exists out of the box. A server with it refuses to listen beyond loopback.
pub const DEFAULT_ADMIN_PASSWORD: &str = "admin";

/// The most shards a stream can be created with: as many as a Redis Cluster has slots, since more would share them.
pub const MAX_STREAM_SHARDS: u32 = 16_384;

/// How a server is set up.
#[derive(Clone, Debug)]
pub struct ServerConfig {
    /// The coordinator's name among its fellows.
    pub coordinator_id: String,
    /// The times that groups live by.
    pub settings: Settings,
    /// The shards of a stream for which no number was asked.
    pub default_shard_count: ShardCount,
    /// The one user.
    pub admin: Credentials,
    /// Whether heartbeats and watches need the role MEMBER.
    pub authenticate_members: bool,
    /// For how long a producer may go on with a routing that it can't refresh.
    pub routing_lease: Duration,
    /// For how long what was in a retired shard is kept under another name.
    pub keep_retired: Duration,
    /// For how long what was read from Redis for one dashboard is told to others, too.
    pub monitoring_cache: Duration,
    /// How often the shard streams of all groups are looked at for the metrics; zero: not at all.
    pub shard_sampling_interval: Duration,
    /// The most that is waited for what has begun, once the server is to end.
    pub shutdown_timeout: Duration,
    /// What one connection may cost.
    pub limits: Limits,
}

/// A user's name and password. Never shown whole.
#[derive(Clone)]
pub struct Credentials {
    /// The name.
    pub username: String,
    /// The password.
    pub password: String,
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials")
            .field("username", &self.username)
            .field("password", &"…")
            .finish()
    }
}

/// What one connection may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of a request's body.
    pub body_bytes: usize,
    /// Time for a request's head to arrive.
    pub header_timeout: Duration,
    /// Time for a request's body to arrive.
    pub body_timeout: Duration,
    /// Connections at the same time.
    pub connections: usize,
    /// Time for an access token to live.
    pub token_ttl: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            body_bytes: 256 * 1024,
            header_timeout: Duration::from_secs(10),
            body_timeout: Duration::from_secs(10),
            connections: 10_000,
            token_ttl: Duration::from_secs(3_600),
        }
    }
}

impl ServerConfig {
    /// A server with the times of protocol version 1 and the default user.
    #[must_use]
    pub fn new(coordinator_id: impl Into<String>) -> Self {
        Self {
            coordinator_id: coordinator_id.into(),
            settings: Settings::default(),
            default_shard_count: ShardCount::new(12),
            admin: Credentials {
                username: DEFAULT_ADMIN_USERNAME.to_owned(),
                password: DEFAULT_ADMIN_PASSWORD.to_owned(),
            },
            authenticate_members: false,
            routing_lease: Duration::from_secs(10),
            keep_retired: Duration::from_secs(3_600),
            monitoring_cache: Duration::from_secs(1),
            shard_sampling_interval: Duration::from_secs(15),
            shutdown_timeout: Duration::from_secs(20),
            limits: Limits::default(),
        }
    }

    /// The times that changes of the shard count go by.
    pub(crate) const fn resharding_times(&self) -> ReshardingTimes {
        ReshardingTimes {
            routing_lease: self.routing_lease,
            keep_retired: self.keep_retired,
        }
    }

    /// The times that looking at groups goes by.
    pub(crate) const fn watching_times(&self) -> WatchingTimes {
        WatchingTimes {
            keep: self.monitoring_cache,
            sampling: self.shard_sampling_interval,
        }
    }

    /// Checks that the server may listen on an address.
    ///
    /// # Errors
    /// [`ConfigError::DefaultPassword`] where anybody who can reach it could change everything.
    pub fn check_address(&self, address: SocketAddr) -> Result<(), ConfigError> {
        if self.admin.password == DEFAULT_ADMIN_PASSWORD && !address.ip().is_loopback() {
            return Err(ConfigError::DefaultPassword { address });
        }
        Ok(())
    }
}

/// A setup that is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The default password beyond loopback.
    #[error(
        "refusing to listen on {address} with the default password; set admin-password (COORDINATORD_ADMIN_PASSWORD), or listen on 127.0.0.1"
    )]
    DefaultPassword {
        /// The address.
        address: SocketAddr,
    },
}
