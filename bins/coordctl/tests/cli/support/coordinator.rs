//! A coordinator in this process, on a port of its own.

use std::sync::Arc;
use std::time::Duration;

use coordinator_client::{ClientBuilder, CoordinatorClient, Credentials};
use coordinator_core::assign::Sticky;
use coordinator_core::settings::{Settings, Timing};
use coordinator_core::time::Millis;
use coordinator_server::{ClientAuth, Deps, Indexes, ServerConfig, Tls, TlsFiles, Witness, serve};
use openapi_check::{Conformity, Judge};
use protocol::GroupState;
use store::{LockLimits, MemoryStore, StoreClock};
use store_redis::{RedisConfig, RedisPlane, RedisStore};
use testkit::{RedisServer, wait_until_async};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::{Authority, Identity, PATIENCE};

/// A running coordinator; it ends with this value.
pub(crate) struct Coordinator {
    pub(crate) url: String,
    pub(crate) client: CoordinatorClient,
    running: JoinHandle<()>,
    /// Whatever a test is about, nothing may be answered that is not described.
    pub(crate) conformity: Conformity,
}

impl Coordinator {
    /// With its groups in memory, and no Redis for shard streams.
    pub(crate) async fn in_memory() -> Self {
        Self::with(memory(MemoryStore::new())).await
    }

    /// The same, encrypted: `authority` is whom to trust, and only who shows a certificate of `clients` is let in.
    pub(crate) async fn encrypted(authority: &Authority, clients: &Authority) -> Self {
        let Identity { certificate, key } = authority.server();
        let files = TlsFiles {
            certificate: certificate.into_bytes(),
            key: key.into_bytes(),
            client_authorities: Some((clients.pem().into_bytes(), ClientAuth::Required)),
        };
        let mut config = config(20_000);
        config.tls = Some(Tls::new(&files).unwrap());
        let shown = clients.client();
        Self::start(memory(MemoryStore::new()), config, "https", |builder| {
            builder
                .root_certificates_pem(authority.pem())
                .client_identity_pem(shown.certificate, shown.key)
        })
        .await
    }

    /// With its groups in a memory that goes by another clock.
    pub(crate) async fn with_clock(clock: Arc<dyn StoreClock>) -> Self {
        Self::with(memory(MemoryStore::with(clock, LockLimits::default()))).await
    }

    /// With groups and shard streams on a Redis.
    pub(crate) async fn on(redis: &RedisServer) -> Self {
        Self::with(on(redis).await).await
    }

    /// The same, with leases that a test can wait for, and with indexes, by which a change may be listed a moment later.
    pub(crate) async fn quick(redis: &RedisServer) -> Self {
        Self::with_lease(indexed(redis).await, 1_000).await
    }

    /// The same as it is in use: what is in the shards may be a second old.
    pub(crate) async fn caching(redis: &RedisServer) -> Self {
        let mut config = config(20_000);
        config.monitoring_cache = Duration::from_secs(1);
        Self::start(on(redis).await, config, "http", |builder| builder).await
    }

    async fn with(deps: Deps) -> Self {
        Self::with_lease(deps, 20_000).await
    }

    async fn with_lease(deps: Deps, lease_ms: u64) -> Self {
        Self::start(deps, config(lease_ms), "http", |builder| builder).await
    }

    async fn start(
        deps: Deps,
        mut config: ServerConfig,
        scheme: &str,
        client: impl FnOnce(ClientBuilder) -> ClientBuilder,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("{scheme}://{}", listener.local_addr().unwrap());
        let builder = CoordinatorClient::builder([&url]);
        let builder = builder.credentials(Credentials::basic("admin", "admin"));
        let conformity = Conformity::new();
        config.witness = Some(witness(conformity.judge()));
        let client = client(builder).build().unwrap();
        let running = tokio::spawn(async move {
            serve(listener, deps, config, std::future::pending())
                .await
                .unwrap();
        });
        Self {
            url,
            client,
            running,
            conformity,
        }
    }

    /// Waits until the group named like the stream is settled.
    pub(crate) async fn settled(&self, stream: &str, group: &str, members: usize) {
        let settled = || async {
            let group = self.client.group(stream, group).await.unwrap();
            group.state == GroupState::Stable && group.target_assignment_summary.len() == members
        };
        wait_until_async(PATIENCE, settled).await.unwrap();
    }

    /// Everything that can be seen of a stream, to be compared.
    pub(crate) async fn seen(&self) -> protocol::GroupList {
        self.client.groups().await.unwrap()
    }

    /// Ends at once, as a process that is killed.
    pub(crate) fn kill(&self) {
        self.running.abort();
    }
}

/// Shows whatever is answered to a judge.
fn witness(judge: Judge) -> Witness {
    Witness::new(move |seen| {
        let (path, body) = (seen.uri.path(), seen.body.clone());
        judge.see(&seen.method, path, seen.status, &seen.headers, body);
    })
}

fn config(lease_ms: u64) -> ServerConfig {
    let timing = Timing {
        heartbeat_interval: Millis::new(200),
        member_lease_ttl: Millis::new(lease_ms),
        rebalance_timeout: Millis::new(10_000),
        stale_member_retention: Millis::new(60_000),
    };
    let mut config = ServerConfig::new("test");
    config.settings = Settings::validated(timing, &Sticky).unwrap();
    config.routing_lease = Duration::from_millis(200);
    // What is shown is what is there at the moment.
    config.monitoring_cache = Duration::ZERO;
    config
}

fn memory(store: MemoryStore) -> Deps {
    Deps::new(Arc::new(store))
}

async fn on(redis: &RedisServer) -> Deps {
    let config = || RedisConfig::new(vec![redis.url()]);
    let store = Arc::new(RedisStore::connect(config()).await.unwrap());
    let plane = RedisPlane::connect(config()).await.unwrap();
    Deps {
        plane: Some(Arc::new(plane)),
        ..Deps::new(store)
    }
}

/// With the indexes that a coordinator on Redis has.
async fn indexed(redis: &RedisServer) -> Deps {
    let config = RedisConfig::new(vec![redis.url()]);
    let store = RedisStore::connect(config).await.unwrap();
    let indexes = Indexes {
        due: store.index("due").unwrap(),
        groups: store.index("groups").unwrap(),
    };
    Deps {
        indexes: Some(indexes),
        ..on(redis).await
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        self.kill();
    }
}
