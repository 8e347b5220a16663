//! The configuration as it is written: defaults, file, environment, flags, each over the one before. Whether it can work is checked
//! elsewhere.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use figment::Figment;
use figment::error::Kind;
use figment::providers::{Format, Serialized, Toml};
use serde::{Deserialize, Serialize};

use crate::cli::Cli;
use crate::duration::HumanDuration;

/// How the log is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum LogFormat {
    /// For people.
    Text,
    /// A JSON object a line.
    Json,
}

/// Who makes the shard streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Provisioning {
    /// The coordinator.
    On,
    /// Others: streams and their consumer groups must be there before they are asked for.
    Off,
}

/// What shows that a shard is read to its end (rule G4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Proof {
    /// A lag of 0 that Redis can tell, nothing pending, no entry left to deliver.
    Lag,
    /// Nothing pending and no entry left to deliver; for a Redis that cannot tell the lag.
    Entries,
}

/// Whether clients show a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ClientCertificate {
    /// Without a valid one there is no connection.
    Required,
    /// Who shows one must show a valid one.
    Optional,
}

/// A user beside the admin, as it is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct UserEntry {
    pub(crate) name: String,
    pub(crate) password_hash: String,
    pub(crate) roles: Vec<String>,
}

/// Everything that can be configured.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(crate) struct Config {
    pub(crate) listen: String,
    pub(crate) store: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) streams: Option<Vec<String>>,
    pub(crate) streams_provisioning: Provisioning,
    pub(crate) key_prefix: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) coordinator_id: Option<String>,
    pub(crate) heartbeat_interval: HumanDuration,
    pub(crate) member_lease_ttl: HumanDuration,
    pub(crate) rebalance_timeout: HumanDuration,
    pub(crate) stale_member_retention: HumanDuration,
    pub(crate) default_shard_count: u32,
    pub(crate) routing_lease: HumanDuration,
    pub(crate) drain_proof: Proof,
    pub(crate) retired_stream_retention: HumanDuration,
    pub(crate) shard_sampling_interval: HumanDuration,
    pub(crate) admin_username: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) admin_password: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) admin_password_hash: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) users_file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) token_secret: Option<String>,
    pub(crate) authenticate_members: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tls_cert: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tls_key: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tls_client_ca: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tls_client_auth: Option<ClientCertificate>,
    pub(crate) admin_rate_limit: u32,
    pub(crate) admin_rate_burst: u32,
    pub(crate) shutdown_timeout: HumanDuration,
    pub(crate) log_format: LogFormat,
    /// Only a file has them. Last: TOML wants tables behind everything else.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) users: Vec<UserEntry>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:8080".to_owned(),
            store: vec!["memory".to_owned()],
            streams: None,
            streams_provisioning: Provisioning::On,
            key_prefix: "redis-stream:coord".to_owned(),
            coordinator_id: None,
            heartbeat_interval: HumanDuration::from_secs(3),
            member_lease_ttl: HumanDuration::from_secs(15),
            rebalance_timeout: HumanDuration::from_secs(60),
            stale_member_retention: HumanDuration::from_secs(600),
            default_shard_count: 12,
            routing_lease: HumanDuration::from_secs(10),
            drain_proof: Proof::Lag,
            retired_stream_retention: HumanDuration::from_secs(3_600),
            shard_sampling_interval: HumanDuration::from_secs(15),
            admin_username: coordinator_server::DEFAULT_ADMIN_USERNAME.to_owned(),
            admin_password: None,
            admin_password_hash: None,
            users_file: None,
            token_secret: None,
            authenticate_members: false,
            tls_cert: None,
            tls_key: None,
            tls_client_ca: None,
            tls_client_auth: None,
            admin_rate_limit: 60,
            admin_rate_burst: 30,
            shutdown_timeout: HumanDuration::from_secs(20),
            log_format: LogFormat::Text,
            users: Vec::new(),
        }
    }
}

/// A configuration that can't be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoadError {
    #[error("there is no configuration file {path}")]
    NoFile { path: String },
    #[error("{}", told(error, file.as_deref()))]
    Setting {
        file: Option<PathBuf>,
        error: Box<figment::Error>,
    },
}

/// Where the mistake is, by the file's name as it was given and the setting's, and what it is.
fn told(error: &figment::Error, file: Option<&Path>) -> String {
    let source = error
        .metadata
        .as_ref()
        .and_then(|known| known.source.as_ref());
    let is_in_file = source.is_some_and(|source| source.file_path().is_some());
    let place = file
        .filter(|_| is_in_file)
        .map(|file| format!("{}: ", file.display()));
    let what = match &error.kind {
        Kind::UnknownField(name, known) => {
            let of = match error.path.as_slice() {
                [] | [_] => String::new(),
                [of @ .., _] => format!("{}: ", setting(of)),
            };
            format!(
                "{of}there is no setting {name}; there are {}",
                known.join(", ")
            )
        }
        kind if error.path.is_empty() => kind.to_string(),
        kind => format!("{}: {kind}", setting(&error.path)),
    };
    format!(
        "{}{}",
        place.unwrap_or_default(),
        without_lines_of_the_file(&what)
    )
}

/// A refusal without the lines that a parser shows of the file: there may be a password in them.
fn without_lines_of_the_file(what: &str) -> String {
    let is_of_file = |line: &&str| {
        let rest = line
            .trim_start()
            .trim_start_matches(|c: char| c.is_ascii_digit());
        rest.trim_start().starts_with('|')
    };
    let told: Vec<_> = what
        .trim_end()
        .lines()
        .filter(|line| !is_of_file(line))
        .collect();
    told.join(": ")
}

/// A setting by where it stands: `users[2].roles`.
fn setting(path: &[String]) -> String {
    let mut text = String::new();
    for part in path {
        if part.bytes().all(|byte| byte.is_ascii_digit()) {
            text.push_str(&format!("[{part}]"));
        } else {
            let dot = if text.is_empty() { "" } else { "." };
            text.push_str(&format!("{dot}{part}"));
        }
    }
    text
}

/// Reads the configuration.
pub(crate) fn load(cli: &Cli) -> Result<Config, LoadError> {
    let mut figment = Figment::from(Serialized::defaults(Config::default()));
    if let Some(path) = &cli.config {
        if !path.is_file() {
            return Err(LoadError::NoFile {
                path: path.display().to_string(),
            });
        }
        figment = figment.merge(Toml::file_exact(path));
    }
    figment
        .merge(Serialized::defaults(cli))
        .extract()
        .map_err(|error| LoadError::Setting {
            file: cli.config.clone(),
            error: Box::new(error),
        })
}
