//! The command line. Every flag can be given in the environment too; a flag wins over the environment, that over the file.

use std::path::PathBuf;

use clap::Parser;
use serde::Serialize;

use crate::config::{ClientCertificate, LogFormat, Proof, Provisioning};
use crate::duration::HumanDuration;

/// The coordinator for sharded Redis Streams.
///
/// Without any argument it keeps its groups in memory and listens on 127.0.0.1:8080: good for a first look, gone with the process.
/// Flags win over the environment, the environment over the file, the file over the defaults.
#[derive(Debug, Parser, Serialize)]
#[command(version, about, max_term_width = 100)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Cli {
    /// Address to listen on [default: 127.0.0.1:8080]
    #[arg(long, env = "COORDINATORD_LISTEN", value_name = "ADDRESS:PORT")]
    #[serde(skip_serializing_if = "Option::is_none")]
    listen: Option<String>,

    /// Where groups are kept: memory, or redis:// or rediss:// URLs; several, separated by commas, are the nodes of one cluster [default: memory]
    #[arg(
        long,
        env = "COORDINATORD_STORE",
        value_delimiter = ',',
        value_name = "memory|URL[,URL…]",
        hide_env_values = true
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    store: Option<Vec<String>>,

    /// The Redis that holds the shard streams, if it is another than the store's [default: the store's; none with memory]
    #[arg(
        long,
        env = "COORDINATORD_STREAMS",
        value_delimiter = ',',
        value_name = "URL[,URL…]",
        hide_env_values = true
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    streams: Option<Vec<String>>,

    /// Whether the coordinator makes the shard streams and their consumer groups [default: on]
    #[arg(
        long,
        env = "COORDINATORD_STREAMS_PROVISIONING",
        value_enum,
        value_name = "WHETHER"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    streams_provisioning: Option<Provisioning>,

    /// What every key of the store begins with [default: redis-stream:coord]
    #[arg(long, env = "COORDINATORD_KEY_PREFIX", value_name = "PREFIX")]
    #[serde(skip_serializing_if = "Option::is_none")]
    key_prefix: Option<String>,

    /// This coordinator's name among its fellows [default: host name and a random part]
    #[arg(long, env = "COORDINATORD_COORDINATOR_ID", value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    coordinator_id: Option<String>,

    /// How often a member reports [default: 3s]
    #[arg(long, env = "COORDINATORD_HEARTBEAT_INTERVAL", value_name = "DURATION")]
    #[serde(skip_serializing_if = "Option::is_none")]
    heartbeat_interval: Option<HumanDuration>,

    /// How long a member lives after its last report; at least twice the heartbeat interval [default: 15s]
    #[arg(long, env = "COORDINATORD_MEMBER_LEASE_TTL", value_name = "DURATION")]
    #[serde(skip_serializing_if = "Option::is_none")]
    member_lease_ttl: Option<HumanDuration>,

    /// How long a member may keep a shard that it should release [default: 1m]
    #[arg(long, env = "COORDINATORD_REBALANCE_TIMEOUT", value_name = "DURATION")]
    #[serde(skip_serializing_if = "Option::is_none")]
    rebalance_timeout: Option<HumanDuration>,

    /// How long an expired or fenced member is remembered [default: 10m]
    #[arg(
        long,
        env = "COORDINATORD_STALE_MEMBER_RETENTION",
        value_name = "DURATION"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    stale_member_retention: Option<HumanDuration>,

    /// Shards of a stream that is created without a number [default: 12]
    #[arg(long, env = "COORDINATORD_DEFAULT_SHARD_COUNT", value_name = "COUNT")]
    #[serde(skip_serializing_if = "Option::is_none")]
    default_shard_count: Option<u32>,

    /// How long a producer may go on with a routing that it cannot refresh; a shard that leaves is closed to exact publishing after that [default: 10s]
    #[arg(long, env = "COORDINATORD_ROUTING_LEASE", value_name = "DURATION")]
    #[serde(skip_serializing_if = "Option::is_none")]
    routing_lease: Option<HumanDuration>,

    /// What shows that a shard that leaves is read to its end [default: lag]
    #[arg(
        long,
        env = "COORDINATORD_DRAIN_PROOF",
        value_enum,
        value_name = "PROOF"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    drain_proof: Option<Proof>,

    /// How long the stream of a shard that left is kept under another name; 0s drops it at once [default: 1h]
    #[arg(
        long,
        env = "COORDINATORD_RETIRED_STREAM_RETENTION",
        value_name = "DURATION"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    retired_stream_retention: Option<HumanDuration>,

    /// How often the shard streams of all groups are looked at for the metrics; one coordinator of several is enough, 0s switches it off in the others [default: 15s]
    #[arg(
        long,
        env = "COORDINATORD_SHARD_SAMPLING_INTERVAL",
        value_name = "DURATION"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    shard_sampling_interval: Option<HumanDuration>,

    /// Name of the user that may do everything [default: admin]
    #[arg(long, env = "COORDINATORD_ADMIN_USERNAME", value_name = "NAME")]
    #[serde(skip_serializing_if = "Option::is_none")]
    admin_username: Option<String>,

    /// Its password; the default is refused beyond loopback. Better in the environment or the file than on the command line [default: admin]
    #[arg(
        long,
        env = "COORDINATORD_ADMIN_PASSWORD",
        value_name = "PASSWORD",
        hide_env_values = true
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    admin_password: Option<String>,

    /// An argon2id hash of that password, instead of the password itself
    #[arg(
        long,
        env = "COORDINATORD_ADMIN_PASSWORD_HASH",
        value_name = "HASH",
        hide_env_values = true
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    admin_password_hash: Option<String>,

    /// A TOML file of further users; read again on SIGHUP
    #[arg(long, env = "COORDINATORD_USERS_FILE", value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    users_file: Option<String>,

    /// What access tokens are signed under, 32 bytes or more and the same for all coordinators; needed beyond loopback [default: a random one of the process]
    #[arg(
        long,
        env = "COORDINATORD_TOKEN_SECRET",
        value_name = "SECRET",
        hide_env_values = true
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    token_secret: Option<String>,

    /// Demand credentials of members too [default: false]
    #[arg(long, env = "COORDINATORD_AUTHENTICATE_MEMBERS", num_args = 0..=1, default_missing_value = "true", value_name = "BOOL")]
    #[serde(skip_serializing_if = "Option::is_none")]
    authenticate_members: Option<bool>,

    /// The certificate to listen with, in PEM, those between it and its authority after it; without one the coordinator speaks plain HTTP
    #[arg(long, env = "COORDINATORD_TLS_CERT", value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    tls_cert: Option<String>,

    /// The key of that certificate, in PEM
    #[arg(long, env = "COORDINATORD_TLS_KEY", value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    tls_key: Option<String>,

    /// The authorities whose certificates clients have to show, in PEM
    #[arg(long, env = "COORDINATORD_TLS_CLIENT_CA", value_name = "FILE")]
    #[serde(skip_serializing_if = "Option::is_none")]
    tls_client_ca: Option<String>,

    /// Whether clients must show a certificate [default: required]
    #[arg(
        long,
        env = "COORDINATORD_TLS_CLIENT_AUTH",
        value_enum,
        value_name = "WHETHER"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    tls_client_auth: Option<ClientCertificate>,

    /// Changes a minute that one user may make to one group or stream; 0 is no limit [default: 60]
    #[arg(long, env = "COORDINATORD_ADMIN_RATE_LIMIT", value_name = "COUNT")]
    #[serde(skip_serializing_if = "Option::is_none")]
    admin_rate_limit: Option<u32>,

    /// Changes that it may make at once [default: 30]
    #[arg(long, env = "COORDINATORD_ADMIN_RATE_BURST", value_name = "COUNT")]
    #[serde(skip_serializing_if = "Option::is_none")]
    admin_rate_burst: Option<u32>,

    /// How long the end of the process waits for what was begun [default: 20s]
    #[arg(long, env = "COORDINATORD_SHUTDOWN_TIMEOUT", value_name = "DURATION")]
    #[serde(skip_serializing_if = "Option::is_none")]
    shutdown_timeout: Option<HumanDuration>,

    /// How the log is written; RUST_LOG says how much [default: text]
    #[arg(
        long,
        env = "COORDINATORD_LOG_FORMAT",
        value_enum,
        value_name = "FORMAT"
    )]
    #[serde(skip_serializing_if = "Option::is_none")]
    log_format: Option<LogFormat>,

    /// A TOML file with any of these settings, named as the flags are
    #[arg(long, env = "COORDINATORD_CONFIG", value_name = "FILE")]
    #[serde(skip)]
    pub(crate) config: Option<PathBuf>,

    /// Print the configuration as it would be used, secrets hidden, and end
    #[arg(long)]
    #[serde(skip)]
    pub(crate) print_config: bool,

    /// Check the configuration and end: 0 if it can work, 2 if not
    #[arg(long)]
    #[serde(skip)]
    pub(crate) check_config: bool,
}
