//! Makes connections, one attempt at a time, and shares what came of it. A connection that is of no more use is dropped and made anew:
//! after a failover an idle one would lead to a replica for ever (case C05).

use std::sync::Mutex as SyncMutex;
use std::sync::{Once, PoisonError};
use std::time::Duration;

use redis::cluster::ClusterClient;
use redis::io::tcp::TcpSettings;
use redis::{AsyncConnectionConfig, Client, ConnectionInfo, ErrorKind, RedisError, Value};
use store::{Eviction, StoreError};
use tokio::sync::Mutex;
use tokio::time::{Instant, timeout};

use super::redis_link::Link;
use super::server::Server;
use crate::classify::{classify, classify_connecting, wants_new_connection};
use crate::config::{ConfigError, RedisConfig};
use crate::reply::Reply;
use crate::script::Call;

/// How often the driver repeats a command in a cluster: for redirections, and for a node that was replaced.
const CLUSTER_RETRIES: u32 = 3;

/// Makes and shares the connection.
pub(crate) struct Connector {
    target: Target,
    connect_timeout: Duration,
    current: Mutex<Current>,
    eviction: SyncMutex<Eviction>,
}

enum Target {
    Single(Client, AsyncConnectionConfig),
    Cluster(ClusterClient),
}

#[derive(Default)]
struct Current {
    /// Counts connections, so that nobody drops one made since.
    number: u64,
    link: Option<Link>,
    /// The last attempt that failed: whoever has been waiting meanwhile shares its outcome.
    failed: Option<(Instant, StoreError)>,
}

/// Why a command has no answer.
#[derive(Debug)]
pub(crate) struct Failure {
    /// What it means.
    pub(crate) error: StoreError,
    /// Whether the command was sent, so that it may have run or may still run.
    pub(crate) sent: bool,
    /// Whether the connection was at fault, so that a new one may do better at once.
    pub(crate) broken: bool,
}

impl Connector {
    pub(crate) fn new(config: &RedisConfig) -> Result<Self, ConfigError> {
        install_crypto();
        let nodes: Vec<ConnectionInfo> = config
            .checked()?
            .into_iter()
            .map(|info| info.set_tcp_settings(tcp_settings()))
            .collect();
        let target = match <[ConnectionInfo; 1]>::try_from(nodes) {
            Ok([node]) => single(config, node)?,
            Err(nodes) => cluster(config, nodes)?,
        };
        Ok(Self {
            target,
            connect_timeout: config.connect_timeout,
            current: Mutex::default(),
            eviction: SyncMutex::default(),
        })
    }

    /// The eviction policy, as last heard.
    pub(crate) fn eviction(&self) -> Eviction {
        let eviction = self.eviction.lock().unwrap_or_else(PoisonError::into_inner);
        eviction.clone()
    }

    /// Runs a script once.
    pub(crate) async fn run(&self, call: &Call<'_>) -> Result<Reply, Failure> {
        let (number, mut link) = self.link().await.map_err(Failure::not_sent)?;
        match call.run(&mut link).await {
            Ok(value) => self.read(call, value),
            Err(error) => Err(self.failed(number, error).await),
        }
    }

    /// Runs a script that may be repeated, and repeats it once where only the connection was at fault.
    pub(crate) async fn run_again(&self, call: &Call<'_>) -> Result<Reply, StoreError> {
        match self.run(call).await {
            Err(failure) if failure.broken => self.run(call).await.map_err(|failure| failure.error),
            outcome => outcome.map_err(|failure| failure.error),
        }
    }

    /// Sends a command that may be repeated, and repeats it once where only the connection was at fault.
    pub(crate) async fn send_again(&self, command: &redis::Cmd) -> Result<Value, Failure> {
        match self.send(command).await {
            Err(failure) if failure.broken => self.send(command).await,
            outcome => outcome,
        }
    }

    async fn send(&self, command: &redis::Cmd) -> Result<Value, Failure> {
        let (number, mut link) = self.link().await.map_err(Failure::not_sent)?;
        match command.query_async(&mut link).await {
            Ok(value) => Ok(value),
            Err(error) => Err(self.failed(number, error).await),
        }
    }

    fn read(&self, call: &Call<'_>, value: Value) -> Result<Reply, Failure> {
        Reply::read(call.script().name(), value).map_err(|error| Failure {
            error,
            sent: true,
            broken: false,
        })
    }

    async fn failed(&self, number: u64, error: RedisError) -> Failure {
        let broken = wants_new_connection(&error) && !error.is_timeout();
        self.note_error(number, &error).await;
        Failure {
            error: classify(error),
            sent: true,
            broken,
        }
    }

    /// Drops the connection on which an error came, if it is of no more use.
    pub(crate) async fn note_error(&self, number: u64, error: &RedisError) {
        let wants_new = match &self.target {
            Target::Single(..) => wants_new_connection(error),
            // The driver mends its own connections to the nodes, unless it has none left.
            Target::Cluster(_) => error.kind() == ErrorKind::ClusterConnectionNotFound,
        };
        if wants_new {
            self.discard(number).await;
        }
    }

    /// The shared connection, made if there is none.
    pub(crate) async fn link(&self) -> Result<(u64, Link), StoreError> {
        let asked = Instant::now();
        let mut current = self.current.lock().await;
        if let Some(link) = &current.link {
            return Ok((current.number, link.clone()));
        }
        if let Some((when, error)) = &current.failed
            && *when >= asked
        {
            return Err(error.clone());
        }
        match self.connect().await {
            Ok(link) => {
                current.number += 1;
                current.link = Some(link.clone());
                current.failed = None;
                Ok((current.number, link))
            }
            Err(error) => {
                current.failed = Some((Instant::now(), error.clone()));
                Err(error)
            }
        }
    }

    async fn discard(&self, number: u64) {
        let mut current = self.current.lock().await;
        if current.number == number {
            current.link = None;
        }
    }

    async fn connect(&self) -> Result<Link, StoreError> {
        let connecting = async {
            match &self.target {
                Target::Single(client, config) => {
                    let connecting = client.get_multiplexed_async_connection_with_config(config);
                    connecting.await.map(Link::Single)
                }
                Target::Cluster(client) => client.get_async_connection().await.map(Link::Cluster),
            }
        };
        // A cluster may ask some nodes in vain first.
        let connected = timeout(self.connect_timeout * 2, connecting).await;
        let mut link = match connected {
            Ok(outcome) => outcome.map_err(|error| match &self.target {
                Target::Single(client, _) => {
                    let address = client.get_connection_info().addr().to_string();
                    classify_connecting(error, &address)
                }
                Target::Cluster(_) => classify(error),
            })?,
            Err(elapsed) => {
                return Err(StoreError::Unavailable {
                    reason: "Redis did not accept the connection in time".to_owned(),
                    source: Some(std::sync::Arc::new(elapsed)),
                });
            }
        };
        let is_cluster = matches!(&self.target, Target::Cluster(_));
        let server = Server::ask(&mut link, is_cluster).await?;
        self.note_eviction(server.eviction);
        Ok(link)
    }

    /// Remembers the eviction policy, and warns of one that loses keys when it is news.
    pub(crate) fn note_eviction(&self, found: Eviction) {
        let mut eviction = self.eviction.lock().unwrap_or_else(PoisonError::into_inner);
        if found.loses_keys() && *eviction != found {
            tracing::warn!(
                policy = found.policy(),
                "Redis throws keys away when it is full: groups and streams can be lost; set maxmemory-policy to noeviction"
            );
        }
        *eviction = found;
    }
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        failure.error
    }
}

impl Failure {
    const fn not_sent(error: StoreError) -> Self {
        Self {
            error,
            sent: false,
            broken: false,
        }
    }
}

fn single(config: &RedisConfig, node: ConnectionInfo) -> Result<Target, ConfigError> {
    let client = Client::open(node).map_err(|source| ConfigError::BadUrl {
        position: 1,
        source,
    })?;
    let connection = AsyncConnectionConfig::new()
        .set_connection_timeout(Some(config.connect_timeout))
        .set_response_timeout(Some(config.response_timeout));
    Ok(Target::Single(client, connection))
}

fn cluster(config: &RedisConfig, nodes: Vec<ConnectionInfo>) -> Result<Target, ConfigError> {
    let client = ClusterClient::builder(nodes)
        .connection_timeout(config.connect_timeout)
        .response_timeout(config.response_timeout)
        .tcp_settings(tcp_settings())
        .retries(CLUSTER_RETRIES)
        .min_retry_wait(10)
        .max_retry_wait(200)
        .build();
    client
        .map(Target::Cluster)
        .map_err(|source| ConfigError::BadCluster { source })
}

/// Small commands must not wait for more to be sent with them.
fn tcp_settings() -> TcpSettings {
    TcpSettings::default().set_nodelay(true)
}

/// The driver takes the process's default; whoever chose one before keeps it.
fn install_crypto() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        // An error says that one is installed already.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}
