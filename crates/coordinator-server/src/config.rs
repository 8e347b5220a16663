//! How a server is set up. Built by the program around it; texts and files are not parsed here.

use std::net::SocketAddr;
use std::time::Duration;

use coordinator_core::numbers::ShardCount;
use coordinator_core::settings::Settings;

use crate::auth::{MIN_TOKEN_SECRET_BYTES, Password, TokenSecret, User, Users};
use crate::engine::{ReshardingTimes, WatchingTimes};
use crate::serve::Tls;

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
    /// Who may ask: the admin, and others.
    pub users: Users,
    /// The secret that access tokens are signed under; without one they are good in this process only.
    pub token_secret: Option<TokenSecret>,
    /// How often one user may change one group; without limit if there is none.
    pub change_rate: Option<ChangeRate>,
    /// What connections are encrypted with; plain HTTP if there is nothing.
    pub tls: Option<Tls>,
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
    /// Who is shown every request and its answer.
    #[cfg(feature = "testing")]
    pub witness: Option<crate::http::Witness>,
}

/// How often one user may change one group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeRate {
    /// Changes a minute in the long run; 0 is no limit.
    pub per_minute: u32,
    /// Changes at once after a time without any; at least 1.
    pub burst: u32,
}

impl Default for ChangeRate {
    fn default() -> Self {
        Self {
            per_minute: 60,
            burst: 30,
        }
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
    /// Time for a TLS handshake.
    pub handshake_timeout: Duration,
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
            handshake_timeout: Duration::from_secs(10),
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
            users: Users::new(default_admin()),
            token_secret: None,
            change_rate: Some(ChangeRate::default()),
            tls: None,
            authenticate_members: false,
            routing_lease: Duration::from_secs(10),
            keep_retired: Duration::from_secs(3_600),
            monitoring_cache: Duration::from_secs(1),
            shard_sampling_interval: Duration::from_secs(15),
            shutdown_timeout: Duration::from_secs(20),
            limits: Limits::default(),
            #[cfg(feature = "testing")]
            witness: None,
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
    /// [`ConfigError::DefaultPassword`] where anybody who can reach it could change everything;
    /// [`ConfigError::NoTokenSecret`] where tokens would end with each restart and be good at one coordinator only.
    pub fn check_address(&self, address: SocketAddr) -> Result<(), ConfigError> {
        if address.ip().is_loopback() {
            return Ok(());
        }
        if self.users.admin().password().is_default() {
            return Err(ConfigError::DefaultPassword { address });
        }
        if self.token_secret.is_none() {
            return Err(ConfigError::NoTokenSecret { address });
        }
        Ok(())
    }
}

fn default_admin() -> User {
    let password = Password::Plain(DEFAULT_ADMIN_PASSWORD.to_owned());
    User::admin(DEFAULT_ADMIN_USERNAME, password).expect("the default name is a name")
}

/// A setup that is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// The default password beyond loopback.
    #[error(
        "refusing to listen on {address} with the default password; set admin-password (COORDINATORD_ADMIN_PASSWORD) or admin-password-hash, or listen on 127.0.0.1"
    )]
    DefaultPassword {
        /// The address.
        address: SocketAddr,
    },
    /// No secret for tokens beyond loopback.
    #[error(
        "refusing to listen on {address} without a secret for access tokens; set token-secret (COORDINATORD_TOKEN_SECRET) to {MIN_TOKEN_SECRET_BYTES} bytes or more, the same for all coordinators, or listen on 127.0.0.1"
    )]
    NoTokenSecret {
        /// The address.
        address: SocketAddr,
    },
}
