//! One Redis node and the connection to it: opened when needed, by one caller for all, and replaced when it broke.
//! What is sent is not known here.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::{
    AsyncConnectionConfig, Client, ConnectionAddr, ConnectionInfo, ErrorKind, Pipeline,
    ProtocolVersion, PushInfo, PushKind, RedisError, Value,
};

use super::AddError;
use super::single_flight::SingleFlight;

/// How connections are made.
#[derive(Debug, Clone)]
pub(crate) struct Dialling {
    pub(crate) connect_timeout: Duration,
    pub(crate) response_timeout: Duration,
    pub(crate) queue: usize,
}

#[derive(Clone)]
struct Live {
    connection: MultiplexedConnection,
    number: u64,
    closed: Arc<AtomicBool>,
}

/// A node.
pub(crate) struct Node {
    host: String,
    address: String,
    info: ConnectionInfo,
    dialling: Dialling,
    live: RwLock<Option<Live>>,
    opened: AtomicU64,
    opening: SingleFlight<Result<Live, RedisError>>,
}

impl Node {
    /// The node at the address of `info`. Nothing is opened yet.
    pub(crate) fn new(info: ConnectionInfo, dialling: Dialling) -> Self {
        let (host, address) = match info.addr() {
            ConnectionAddr::Tcp(host, port) => (host.clone(), format!("{host}:{port}")),
            ConnectionAddr::TcpTls { host, port, .. } => (host.clone(), format!("{host}:{port}")),
            other => (String::new(), other.to_string()),
        };
        // Version 3 of Redis' protocol lets the driver report a connection that was closed while idle.
        let redis = info
            .redis_settings()
            .clone()
            .set_protocol(ProtocolVersion::RESP3);
        let info = info.set_redis_settings(redis);
        Self {
            host,
            address,
            info,
            dialling,
            live: RwLock::new(None),
            opened: AtomicU64::new(0),
            opening: SingleFlight::new(),
        }
    }

    /// Another node of the same cluster: same credentials and TLS, other address.
    pub(crate) fn sibling(&self, address: &str) -> Option<Self> {
        let (host, port) = address.rsplit_once(':')?;
        let host = host
            .trim_start_matches('[')
            .trim_end_matches(']')
            .to_owned();
        let port = port.parse().ok()?;
        let addr = match self.info.addr() {
            ConnectionAddr::TcpTls {
                insecure,
                tls_params,
                ..
            } => ConnectionAddr::TcpTls {
                host,
                port,
                insecure: *insecure,
                tls_params: tls_params.clone(),
            },
            _ => ConnectionAddr::Tcp(host, port),
        };
        Some(Self::new(
            self.info.clone().set_addr(addr),
            self.dialling.clone(),
        ))
    }

    pub(crate) fn host(&self) -> &str {
        &self.host
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Sends `pipeline` and reads a reply for each of its commands, errors among them. The number is the connection's.
    pub(crate) async fn send(&self, pipeline: &Pipeline) -> Result<(Vec<Value>, u64), AddError> {
        let live = self
            .connected()
            .await
            .map_err(|source| self.unreachable(source))?;
        let mut connection = live.connection;
        match connection
            .req_packed_commands(pipeline, 0, pipeline.len())
            .await
        {
            Ok(replies) => Ok((replies, live.number)),
            Err(source) => {
                self.discard(live.number);
                Err(AddError::Lost {
                    address: self.address.clone(),
                    source,
                })
            }
        }
    }

    /// Forgets the connection of this number: the next caller opens another.
    pub(crate) fn discard(&self, number: u64) {
        let mut live = self.live.write().unwrap_or_else(PoisonError::into_inner);
        if live.as_ref().is_some_and(|live| live.number == number) {
            *live = None;
        }
    }

    async fn connected(&self) -> Result<Live, RedisError> {
        if let Some(live) = self.usable() {
            return Ok(live);
        }
        self.opening.run(self.open()).await
    }

    fn usable(&self) -> Option<Live> {
        let live = self.live.read().unwrap_or_else(PoisonError::into_inner);
        live.as_ref()
            .filter(|live| !live.closed.load(Ordering::Acquire))
            .cloned()
    }

    async fn open(&self) -> Result<Live, RedisError> {
        if let Some(live) = self.usable() {
            return Ok(live);
        }
        let closed = Arc::new(AtomicBool::new(false));
        let noticed = Arc::clone(&closed);
        let notice = move |push: PushInfo| -> Result<(), std::convert::Infallible> {
            if push.kind == PushKind::Disconnection {
                noticed.store(true, Ordering::Release);
            }
            Ok(())
        };
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(self.dialling.connect_timeout))
            .set_response_timeout(Some(self.dialling.response_timeout))
            .set_pipeline_buffer_size(self.dialling.queue)
            .set_push_sender(notice);
        let client = Client::open(self.info.clone())?;
        let opening = client.get_multiplexed_async_connection_with_config(&config);
        let connection = tokio::time::timeout(self.dialling.connect_timeout, opening)
            .await
            .map_err(|_| RedisError::from((ErrorKind::Io, "no connection in time")))??;
        let number = self.opened.fetch_add(1, Ordering::Relaxed);
        let live = Live {
            connection,
            number,
            closed,
        };
        *self.live.write().unwrap_or_else(PoisonError::into_inner) = Some(live.clone());
        Ok(live)
    }

    fn unreachable(&self, source: RedisError) -> AddError {
        AddError::Unreachable {
            address: self.address.clone(),
            source,
        }
    }
}

impl std::fmt::Debug for Node {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Node")
            .field("address", &self.address)
            .finish_non_exhaustive()
    }
}
