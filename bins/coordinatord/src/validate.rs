//! What of the configuration can't work, and why. Each refusal names the setting.

use std::net::SocketAddr;
use std::time::Duration;

use coordinator_core::assign::Sticky;
use coordinator_core::evidence::DrainProof;
use coordinator_core::numbers::ShardCount;
use coordinator_core::settings::{Settings, SettingsError, Timing};
use coordinator_core::time::Millis;
use coordinator_server::{ConfigError, MAX_STREAM_SHARDS, ServerConfig};
use store_redis::StreamProvisioning;

use crate::access::{self, AccessError};
use crate::config::{Config, Proof, Provisioning};
use crate::duration::HumanDuration;
use crate::reload::Reload;
use crate::secrets::without_password;

/// Ten years of 365.25 days: the longest that what was in a retired shard is kept.
const MAX_RETENTION: HumanDuration = HumanDuration::from_secs(315_576_000);
/// A day: for as long as the routing lease, a shard that leaves stays open to exact publishing.
const MAX_ROUTING_LEASE: HumanDuration = HumanDuration::from_secs(86_400);

/// A day: numbers that are older say nothing.
const MAX_SAMPLING: HumanDuration = HumanDuration::from_secs(86_400);

/// A configuration that can work.
#[derive(Debug)]
pub(crate) struct Valid {
    pub(crate) listen: SocketAddr,
    pub(crate) store: Place,
    /// The nodes of another Redis for the shard streams.
    pub(crate) streams: Option<Vec<String>>,
    pub(crate) provisioning: StreamProvisioning,
    pub(crate) key_prefix: String,
    pub(crate) server: ServerConfig,
    /// What is read again while the coordinator runs.
    pub(crate) reload: Reload,
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
    #[error("{setting} must be at most {most}, not {value}")]
    TooLong {
        setting: &'static str,
        most: HumanDuration,
        value: HumanDuration,
    },
    #[error(transparent)]
    Access(#[from] AccessError),
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
        ("admin-password", config.admin_password.as_ref()),
        ("coordinator-id", config.coordinator_id.as_ref()),
    ] {
        if value.is_some_and(String::is_empty) {
            return Err(Invalid::Empty { setting });
        }
    }
    check_times(config)?;
    let mut server = server(config)?;
    let reload = access::give(config, &mut server)?;
    server.check_address(listen)?;
    Ok(Valid {
        listen,
        store,
        streams,
        provisioning: match config.streams_provisioning {
            Provisioning::On => StreamProvisioning::On,
            Provisioning::Off => StreamProvisioning::Off,
        },
        key_prefix: config.key_prefix.clone(),
        server,
        reload,
    })
}

/// The times that groups do not know of.
fn check_times(config: &Config) -> Result<(), Invalid> {
    if config.shutdown_timeout.0 == Duration::ZERO {
        return Err(SettingsError::Zero {
            setting: "shutdown-timeout",
        }
        .into());
    }
    // Times go to Redis and to clients in milliseconds.
    if config.routing_lease.0.as_millis() == 0 {
        return Err(SettingsError::Zero {
            setting: "routing-lease",
        }
        .into());
    }
    for (setting, value, most) in [
        ("routing-lease", config.routing_lease, MAX_ROUTING_LEASE),
        (
            "shard-sampling-interval",
            config.shard_sampling_interval,
            MAX_SAMPLING,
        ),
        (
            "retired-stream-retention",
            config.retired_stream_retention,
            MAX_RETENTION,
        ),
    ] {
        if value.0 > most.0 {
            return Err(Invalid::TooLong {
                setting,
                most,
                value,
            });
        }
    }
    Ok(())
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
    let proof = match config.drain_proof {
        Proof::Lag => DrainProof::Lag,
        Proof::Entries => DrainProof::Entries,
    };
    server.settings = Settings::validated(timing, &Sticky)?.with_drain_proof(proof);
    server.routing_lease = config.routing_lease.0;
    server.keep_retired = config.retired_stream_retention.0;
    server.shard_sampling_interval = config.shard_sampling_interval.0;
    server.default_shard_count = ShardCount::new(config.default_shard_count);
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
        let server = ServerConfig::new("as the library has it");
        assert_eq!(valid.server.routing_lease, server.routing_lease);
        assert_eq!(valid.server.keep_retired, server.keep_retired);
        assert_eq!(
            valid.server.settings.drain_proof(),
            server.settings.drain_proof()
        );
        assert_eq!(
            valid.server.shard_sampling_interval,
            server.shard_sampling_interval
        );
        assert_eq!(valid.provisioning, StreamProvisioning::default());
    }

    #[test]
    fn g4_settings_of_resharding_reach_the_server() {
        let config = Config {
            streams_provisioning: Provisioning::Off,
            drain_proof: Proof::Entries,
            routing_lease: HumanDuration::from_secs(7),
            retired_stream_retention: HumanDuration::from_secs(0),
            ..Config::default()
        };
        let valid = validate(&config).expect("this can work");
        assert_eq!(valid.provisioning, StreamProvisioning::Off);
        assert_eq!(valid.server.settings.drain_proof(), DrainProof::Entries);
        assert_eq!(valid.server.routing_lease, Duration::from_secs(7));
        assert_eq!(valid.server.keep_retired, Duration::ZERO);
        let longest = Config {
            routing_lease: MAX_ROUTING_LEASE,
            retired_stream_retention: MAX_RETENTION,
            ..config
        };
        assert_eq!(
            validate(&longest).expect("this too").server.keep_retired,
            MAX_RETENTION.0
        );
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
                refusal(|c| c.routing_lease = HumanDuration(Duration::from_micros(999))),
                "routing-lease must be above 0",
            ),
            (
                refusal(|c| c.routing_lease = seconds(86_401)),
                "routing-lease must be at most 1day, not 1day 1s",
            ),
            (
                refusal(|c| c.retired_stream_retention = seconds(315_576_001)),
                "retired-stream-retention must be at most 10years, not 10years 1s",
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
                refusal(|c| c.admin_password = Some(String::new())),
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
