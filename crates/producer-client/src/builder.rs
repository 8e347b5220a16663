//! Settings of a producer, checked before it is built. It connects to nothing.

use std::fmt;
use std::num::NonZeroU32;
use std::time::Duration;

use coordinator_client::CoordinatorClient;
use protocol::{check_consumer_group, check_stream_prefix};
use redis::{ConnectionInfo, IntoConnectionInfo};
use tokio::runtime::Handle;

use crate::producer::Producer;
use crate::settings::{MaxLen, Settings};
use crate::streams::{Dialling, Link, Node};

/// A transaction of more records than this would keep Redis from its other clients.
const MAX_IN_FLIGHT_LIMIT: u32 = 65_536;

/// A setting that cannot work, by its name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{setting}: {reason}")]
pub struct BuildError {
    setting: &'static str,
    reason: String,
}

impl BuildError {
    /// The setting by the name of its builder method.
    #[must_use]
    pub const fn setting(&self) -> &'static str {
        self.setting
    }

    fn new(setting: &'static str, reason: impl Into<String>) -> Self {
        Self {
            setting,
            reason: reason.into(),
        }
    }
}

/// Settings of a [`Producer`].
#[derive(Clone)]
pub struct ProducerBuilder {
    coordinator: CoordinatorClient,
    stream_prefix: String,
    redis_urls: Vec<String>,
    consumer_group: Option<String>,
    refresh_interval: Duration,
    routing_lease: Duration,
    max_len: MaxLen,
    connect_timeout: Duration,
    response_timeout: Duration,
    max_in_flight: u32,
}

impl ProducerBuilder {
    pub(crate) fn new(
        coordinator: CoordinatorClient,
        stream_prefix: String,
        redis_urls: Vec<String>,
    ) -> Self {
        Self {
            coordinator,
            stream_prefix,
            redis_urls,
            consumer_group: None,
            refresh_interval: Duration::from_secs(3),
            routing_lease: Duration::from_secs(10),
            max_len: MaxLen::Unlimited,
            connect_timeout: Duration::from_secs(2),
            response_timeout: Duration::from_secs(5),
            max_in_flight: 1_024,
        }
    }

    /// The group whose routing is asked for; the one named like the prefix unless set. All groups of a prefix share its shards.
    #[must_use]
    pub fn consumer_group(mut self, name: impl Into<String>) -> Self {
        self.consumer_group = Some(name.into());
        self
    }

    /// How often to ask for the routing; 3 s unless set.
    #[must_use]
    pub const fn refresh_interval(mut self, interval: Duration) -> Self {
        self.refresh_interval = interval;
        self
    }

    /// How long to go on publishing without a newer routing, unless the coordinator says; 10 s unless set.
    #[must_use]
    pub const fn routing_lease(mut self, lease: Duration) -> Self {
        self.routing_lease = lease;
        self
    }

    /// How long each shard's stream may get; unlimited unless set.
    #[must_use]
    pub const fn max_len(mut self, max_len: MaxLen) -> Self {
        self.max_len = max_len;
        self
    }

    /// How long to try to connect to Redis; 2 s unless set.
    #[must_use]
    pub const fn connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = limit;
        self
    }

    /// How long to wait for an answer of Redis before the outcome counts as unknown; 5 s unless set.
    #[must_use]
    pub const fn response_timeout(mut self, limit: Duration) -> Self {
        self.response_timeout = limit;
        self
    }

    /// How many records may be on their way at once; 1,024 unless set, at most 65,536. Further ones wait.
    #[must_use]
    pub const fn max_in_flight(mut self, records: u32) -> Self {
        self.max_in_flight = records;
        self
    }

    /// Checks the settings and starts the producer, inside a tokio runtime. The routing is asked for in the background;
    /// the first publish waits for it.
    ///
    /// # Errors
    /// The first setting that cannot work, and why.
    pub fn build(self) -> Result<Producer, BuildError> {
        let settings = self.checked_settings()?;
        let dialling = Dialling {
            connect_timeout: self.connect_timeout,
            response_timeout: self.response_timeout,
            queue: usize::try_from(self.max_in_flight).unwrap_or(usize::MAX),
        };
        if self.redis_urls.is_empty() {
            return Err(BuildError::new("redis_urls", "at least one is needed"));
        }
        let infos = self
            .redis_urls
            .iter()
            .map(|url| checked_url(url))
            .collect::<Result<Vec<_>, _>>()?;
        let nodes = infos
            .into_iter()
            .map(|info| Node::new(info, dialling.clone()))
            .collect();
        let runtime =
            Handle::try_current().map_err(|error| BuildError::new("runtime", error.to_string()))?;
        Ok(Producer::start(
            &runtime,
            self.coordinator,
            settings,
            Link::new(nodes),
        ))
    }

    fn checked_settings(&self) -> Result<Settings, BuildError> {
        check_stream_prefix(&self.stream_prefix)
            .map_err(|error| BuildError::new("stream_prefix", error.problem.to_string()))?;
        let consumer_group = self
            .consumer_group
            .as_ref()
            .unwrap_or(&self.stream_prefix)
            .clone();
        check_consumer_group(&consumer_group)
            .map_err(|error| BuildError::new("consumer_group", error.problem.to_string()))?;
        check_limit("refresh_interval", self.refresh_interval)?;
        check_limit("connect_timeout", self.connect_timeout)?;
        check_limit("response_timeout", self.response_timeout)?;
        if self.routing_lease <= self.refresh_interval {
            let reason = format!(
                "must be longer than the refresh interval: {:?} is not longer than {:?}",
                self.routing_lease, self.refresh_interval
            );
            return Err(BuildError::new("routing_lease", reason));
        }
        if matches!(self.max_len, MaxLen::Approximate(0) | MaxLen::Exact(0)) {
            return Err(BuildError::new(
                "max_len",
                "0 would delete every record at once",
            ));
        }
        let max_in_flight = NonZeroU32::new(self.max_in_flight)
            .filter(|records| records.get() <= MAX_IN_FLIGHT_LIMIT)
            .ok_or_else(|| {
                let reason = format!(
                    "must be between 1 and {MAX_IN_FLIGHT_LIMIT}, is {}",
                    self.max_in_flight
                );
                BuildError::new("max_in_flight", reason)
            })?;
        Ok(Settings {
            stream_prefix: self.stream_prefix.clone(),
            consumer_group,
            refresh_interval: self.refresh_interval,
            routing_lease: self.routing_lease,
            max_len: self.max_len,
            max_in_flight,
        })
    }
}

impl fmt::Debug for ProducerBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The URLs may hold a password.
        f.debug_struct("ProducerBuilder")
            .field("stream_prefix", &self.stream_prefix)
            .field("consumer_group", &self.consumer_group)
            .field("redis_urls", &self.redis_urls.len())
            .finish_non_exhaustive()
    }
}

fn check_limit(setting: &'static str, limit: Duration) -> Result<(), BuildError> {
    if limit.is_zero() {
        return Err(BuildError::new(setting, "must be longer than 0"));
    }
    Ok(())
}

/// What is refused is not repeated: it may hold a password.
fn checked_url(url: &str) -> Result<ConnectionInfo, BuildError> {
    if !["redis://", "rediss://", "unix://"]
        .iter()
        .any(|scheme| url.starts_with(scheme))
    {
        return Err(BuildError::new(
            "redis_urls",
            "must begin with redis://, rediss:// or unix://",
        ));
    }
    url.into_connection_info()
        .map_err(|error| BuildError::new("redis_urls", error.category().to_owned()))
}
