//! How Redis is reached. Checked before anything connects; passwords in it are never shown.

use std::fmt;
use std::time::Duration;

use redis::{ConnectionInfo, IntoConnectionInfo};
use store::LockLimits;

/// What all keys of the control plane begin with, unless something else is chosen.
pub const DEFAULT_KEY_PREFIX: &str = "redis-stream:coord";

/// Where Redis is and how long it is waited for.
///
/// ```
/// use std::time::Duration;
/// use store_redis::RedisConfig;
///
/// let config = RedisConfig::new(["rediss://coordinator:secret@redis.example:6379/0"])
///     .with_key_prefix("shop:coord")
///     .with_response_timeout(Duration::from_secs(1));
/// assert!(!format!("{config:?}").contains("secret"));
/// ```
#[derive(Clone)]
pub struct RedisConfig {
    pub(crate) urls: Vec<String>,
    pub(crate) key_prefix: String,
    pub(crate) connect_timeout: Duration,
    pub(crate) response_timeout: Duration,
    pub(crate) lock_limits: LockLimits,
}

/// A configuration that can't work.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ConfigError {
    /// No URL.
    #[error("no Redis URL is given")]
    NoUrl,
    /// Not a URL of Redis. The URL is not shown, since it may have a password in it.
    #[error("URL {position} is none of Redis (redis://host:port/db, rediss:// with TLS)")]
    BadUrl {
        /// Which one, from 1.
        position: usize,
        /// The driver's error.
        #[source]
        source: redis::RedisError,
    },
    /// The URLs of one cluster do not agree with each other.
    #[error("the URLs can't be those of one cluster")]
    BadCluster {
        /// The driver's error.
        #[source]
        source: redis::RedisError,
    },
    /// A prefix that would break the names of keys.
    #[error(
        "the key prefix {prefix:?} must not be empty nor contain braces, white space or control characters"
    )]
    BadPrefix {
        /// The prefix.
        prefix: String,
    },
    /// A time of zero.
    #[error("{setting} must be above 0")]
    Zero {
        /// The setting.
        setting: &'static str,
    },
}

impl RedisConfig {
    /// One URL names a single Redis, several name nodes of one cluster. Names and passwords of users stand in the URLs.
    ///
    /// Defaults: the key prefix `redis-stream:coord`; 2 s to connect; 2 s for an answer; the limits of [`LockLimits`].
    #[must_use]
    pub fn new<I>(urls: I) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        Self {
            urls: urls.into_iter().map(Into::into).collect(),
            key_prefix: DEFAULT_KEY_PREFIX.to_owned(),
            connect_timeout: Duration::from_secs(2),
            response_timeout: Duration::from_secs(2),
            lock_limits: LockLimits::default(),
        }
    }

    /// What all keys of the control plane begin with.
    #[must_use]
    pub fn with_key_prefix(mut self, prefix: impl Into<String>) -> Self {
        self.key_prefix = prefix.into();
        self
    }

    /// How long a connection may take to be made.
    #[must_use]
    pub fn with_connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// How long an answer may take.
    #[must_use]
    pub fn with_response_timeout(mut self, timeout: Duration) -> Self {
        self.response_timeout = timeout;
        self
    }

    /// How long the right to change a group is kept and waited for.
    #[must_use]
    pub fn with_lock_limits(mut self, limits: LockLimits) -> Self {
        self.lock_limits = limits;
        self
    }

    /// Checks everything that can be checked without connecting.
    pub(crate) fn checked(&self) -> Result<Vec<ConnectionInfo>, ConfigError> {
        let bad =
            |char: char| matches!(char, '{' | '}') || char.is_whitespace() || char.is_control();
        if self.key_prefix.is_empty() || self.key_prefix.contains(bad) {
            let prefix = self.key_prefix.clone();
            return Err(ConfigError::BadPrefix { prefix });
        }
        for (setting, value) in [
            ("connect timeout", self.connect_timeout),
            ("response timeout", self.response_timeout),
            ("lock time-to-live", self.lock_limits.ttl),
        ] {
            if value.is_zero() {
                return Err(ConfigError::Zero { setting });
            }
        }
        if self.urls.is_empty() {
            return Err(ConfigError::NoUrl);
        }
        let parse = |(position, url): (usize, &String)| {
            url.as_str()
                .into_connection_info()
                .map_err(|source| ConfigError::BadUrl { position, source })
        };
        (1..).zip(&self.urls).map(parse).collect()
    }
}

/// Shows where Redis is, and not with which password.
impl fmt::Debug for RedisConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let urls: Vec<String> = self.urls.iter().map(|url| without_user(url)).collect();
        f.debug_struct("RedisConfig")
            .field("urls", &urls)
            .field("key_prefix", &self.key_prefix)
            .field("connect_timeout", &self.connect_timeout)
            .field("response_timeout", &self.response_timeout)
            .field("lock_limits", &self.lock_limits)
            .finish()
    }
}

fn without_user(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, place))) => format!("{scheme}://…@{place}"),
        (None, Some((_, place))) => format!("…@{place}"),
        (_, None) => url.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(config: &RedisConfig) -> String {
        config
            .checked()
            .map_or_else(|error| error.to_string(), |_| String::new())
    }

    #[test]
    fn what_can_not_work_is_refused_with_the_reason() {
        let good = || RedisConfig::new(["redis://127.0.0.1:6379"]);
        assert_eq!(refusal(&good()), "");
        assert_eq!(refusal(&RedisConfig::new([""; 0])), "no Redis URL is given");
        assert_eq!(
            refusal(&RedisConfig::new(["redis://a", "http://user:secret@b"])),
            "URL 2 is none of Redis (redis://host:port/db, rediss:// with TLS)"
        );
        for prefix in ["", "a{b", "a}b", "a b", "a\nb"] {
            assert!(
                refusal(&good().with_key_prefix(prefix)).starts_with("the key prefix"),
                "{prefix:?}"
            );
        }
        assert_eq!(
            refusal(&good().with_connect_timeout(Duration::ZERO)),
            "connect timeout must be above 0"
        );
        assert_eq!(
            refusal(&good().with_response_timeout(Duration::ZERO)),
            "response timeout must be above 0"
        );
    }

    #[test]
    fn neither_name_nor_password_is_shown() {
        for url in [
            "redis://user:secret@host:1/2",
            "redis://:secret@host",
            "user:secret@host",
            "redis://user:se@cret@host",
        ] {
            let shown = format!("{:?}", RedisConfig::new([url]));
            assert!(
                shown.contains("host") && !shown.contains("cret") && !shown.contains("user"),
                "{shown}"
            );
        }
        let shown = format!("{:?}", RedisConfig::new(["redis://host:1/2"]));
        assert!(shown.contains("redis://host:1/2"), "{shown}");
    }
}
