//! What of the configuration can't work, and why. Each refusal names the setting.

use std::net::SocketAddr;
use std::time::Duration;

use coordinator_core::assign::Sticky;
use coordinator_core::numbers::ShardCount;
use coordinator_core::settings::{Settings, SettingsError, Timing};
use coordinator_core::time::Millis;
use coordinator_server::{ConfigError, Credentials, MAX_STREAM_SHARDS, ServerConfig};

use crate::config::Config;
use crate::duration::HumanDuration;
use crate::secrets::without_password;

/// A configuration that can work.
#[derive(Debug)]
pub(crate) struct Valid {
    pub(crate) listen: SocketAddr,
    pub(crate) store: Place,
    /// The nodes of another Redis for the shard streams.
    pub(crate) streams: Option<Vec<String>>,
    pub(crate) key_prefix: String,
    pub(crate) server: ServerConfig,
}

/// Where groups are kept.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Memory,
    Redis(Vec<String>),
}

/// A setting that can't work.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Invalid {
    #[error("listen: {value:?} is not an address and a port, such as 127.0.0.1:8080")]
    Listen { value: String },
    #[error("{setting}: {value:?} is neither memory nor a redis:// or rediss:// URL")]
    Url {
        setting: &'static str,
        value: String,
    },
    #[error("{setting}: memory does not go together with other places")]
    Mixed { setting: &'static str },
    #[error(
        "streams: shard streams can't be kept in memory; name a redis:// or rediss:// URL, or leave the setting out"
    )]
    StreamsInMemory,
    #[error("{setting} must not be empty")]
    Empty { setting: &'static str },
    #[error("key-prefix: {value:?} must not contain braces, white space or control characters")]
    KeyPrefix { value: String },
    #[error("default-shard-count must be 1 to {MAX_STREAM_SHARDS}, not {value}")]
    ShardCount { value: u32 },
    #[error(transparent)]
    Timing(#[from] SettingsError),
    #[error(transparent)]
    Server(#[from] ConfigError),
}

/// Checks a configuration.
pub(crate) fn validate(config: &Config) -> Result<Valid, Invalid> {
    let listen: SocketAddr = config.listen.parse().map_err(|_| Invalid::Listen {
        value: config.listen.clone(),
    })?;
    let store = place("store", &config.store)?;
    let streams = match config
        .streams
        .as_deref()
        .map(|urls| place("streams", urls))
        .transpose()?
    {
        None => None,
        Some(Place::Redis(urls)) => Some(urls),
        Some(Place::Memory) => return Err(Invalid::StreamsInMemory),
    };
    let is_odd = |c: char| c.is_control() || c.is_whitespace() || matches!(c, '{' | '}');
    if config.key_prefix.is_empty() {
        return Err(Invalid::Empty {
            setting: "key-prefix",
        });
    }
    if config.key_prefix.contains(is_odd) {
        return Err(Invalid::KeyPrefix {
            value: config.key_prefix.clone(),
        });
    }
    if !(1..=MAX_STREAM_SHARDS).contains(&config.default_shard_count) {
        return Err(Invalid::ShardCount {
            value: config.default_shard_count,
        });
    }
    for (setting, value) in [
        ("admin-username", Some(&config.admin_username)),
        ("admin-password", Some(&config.admin_password)),
        ("coordinator-id", config.coordinator_id.as_ref()),
    ] {
        if value.is_some_and(String::is_empty) {
            return Err(Invalid::Empty { setting });
        }
    }
    if config.shutdown_timeout.0 == Duration::ZERO {
        return Err(SettingsError::Zero {
            setting: "shutdown-timeout",
        }
        .into());
    }
    let server = server(config)?;
    server.check_address(listen)?;
    Ok(Valid {
        listen,
        store,
        streams,
        key_prefix: config.key_prefix.clone(),
        server,
    })
}

fn server(config: &Config) -> Result<ServerConfig, Invalid> {
    let millis = |duration: HumanDuration| {
        Millis::new(u64::try_from(duration.0.as_millis()).unwrap_or(u64::MAX))
    };
    let timing = Timing {
        heartbeat_interval: millis(config.heartbeat_interval),
        member_lease_ttl: millis(config.member_lease_ttl),
        rebalance_timeout: millis(config.rebalance_timeout),
        stale_member_retention: millis(config.stale_member_retention),
    };
    let id = config.coordinator_id.clone().unwrap_or_else(default_id);
    let mut server = ServerConfig::new(id);
    server.settings = Settings::validated(timing, &Sticky)?;
    server.default_shard_count = ShardCount::new(config.default_shard_count);
    server.admin = Credentials {
        username: config.admin_username.clone(),
        password: config.admin_password.clone(),
    };
    server.authenticate_members = config.authenticate_members;
    server.shutdown_timeout = config.shutdown_timeout.0;
    Ok(server)
}

/// The host's name and a random part: unique, and telling.
fn default_id() -> String {
    let random = uuid::Uuid::new_v4().simple().to_string();
    format!(
        "{}-{}",
        gethostname::gethostname().to_string_lossy(),
        &random[..8]
    )
}

fn place(setting: &'static str, values: &[String]) -> Result<Place, Invalid> {
    let is_url = |value: &String| value.starts_with("redis://") || value.starts_with("rediss://");
    match values {
        [] => Err(Invalid::Empty { setting }),
        [only] if only == "memory" => Ok(Place::Memory),
        values if values.iter().any(|value| value == "memory") => Err(Invalid::Mixed { setting }),
        values => match values.iter().find(|value| !is_url(value)) {
            Some(value) => Err(Invalid::Url {
                setting,
                value: without_password(value),
            }),
            None => Ok(Place::Redis(values.to_vec())),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(change: impl FnOnce(&mut Config)) -> String {
        let mut config = Config::default();
        change(&mut config);
        validate(&config).expect_err("this can't work").to_string()
    }

    #[test]
    fn the_defaults_can_work() {
        let valid = validate(&Config::default()).expect("the defaults can work");
        assert_eq!(valid.store, Place::Memory);
        assert_eq!(valid.listen.to_string(), "127.0.0.1:8080");
    }

    #[test]
    fn h21_what_cannot_work_is_refused_with_the_setting() {
        let seconds = HumanDuration::from_secs;
        for (refusal, says) in [
            (
                refusal(|c| c.member_lease_ttl = seconds(5)),
                "member-lease-ttl (5000 ms) must be at least twice",
            ),
            (
                refusal(|c| c.heartbeat_interval = seconds(0)),
                "heartbeat-interval must be above 0",
            ),
            (
                refusal(|c| c.rebalance_timeout = seconds(1)),
                "rebalance-timeout (1000 ms) must be at least",
            ),
            (
                refusal(|c| c.shutdown_timeout = seconds(0)),
                "shutdown-timeout must be above 0",
            ),
            (
                refusal(|c| c.listen = "8080".to_owned()),
                "listen: \"8080\" is not an address",
            ),
            (
                refusal(|c| c.store = vec!["http://x".to_owned()]),
                "store: \"http://x\" is neither",
            ),
            (
                refusal(|c| c.store = vec!["memory".to_owned(), "redis://x".to_owned()]),
                "store: memory does not",
            ),
            (
                refusal(|c| c.streams = Some(vec!["memory".to_owned()])),
                "streams: shard streams can't be kept in memory",
            ),
            (refusal(|c| c.key_prefix = "a{b".to_owned()), "key-prefix"),
            (
                refusal(|c| c.default_shard_count = 0),
                "default-shard-count must be 1 to 16384, not 0",
            ),
            (
                refusal(|c| c.admin_password = String::new()),
                "admin-password must not be empty",
            ),
            (
                refusal(|c| c.listen = "0.0.0.0:80".to_owned()),
                "default password",
            ),
        ] {
            assert!(refusal.contains(says), "{refusal:?} should say {says:?}");
        }
    }
}
