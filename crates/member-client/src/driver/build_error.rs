//! What is wrong with a client's settings. What they mean is told by the builder.

use crate::machine::SettingsError;

/// A setting that can't work, by the name of its builder method.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The setting itself.
    #[error("{setting}: {problem}")]
    Setting {
        /// The name of its builder method.
        setting: &'static str,
        /// What is wrong with it.
        problem: String,
    },
    /// The Redis driver does not accept a URL.
    #[error("redis_urls: not a URL of Redis")]
    RedisUrl(#[source] redis::RedisError),
}

impl BuildError {
    /// The name of the builder method.
    #[must_use]
    pub fn setting(&self) -> &'static str {
        match self {
            Self::Setting { setting, .. } => setting,
            Self::RedisUrl(_) => "redis_urls",
        }
    }

    pub(super) fn new(setting: &'static str, problem: impl Into<String>) -> Self {
        Self::Setting {
            setting,
            problem: problem.into(),
        }
    }
}

/// Settings of the machine by the names of the builder's methods.
pub(super) fn from_settings(error: SettingsError) -> BuildError {
    let setting = match error.setting {
        "member_id" => "member_base",
        "heartbeat_interval_ms" => "heartbeat_interval",
        "member_lease_ttl_ms" => "member_lease_ttl",
        "shutdown_timeout_ms" => "shutdown_timeout",
        other => other,
    };
    BuildError::new(setting, error.problem)
}
