//! A coordinator in this process, on a port of its own.

use std::sync::Arc;
use std::time::Duration;

use coordinator_client::{CoordinatorClient, Credentials};
use coordinator_core::assign::Sticky;
use coordinator_core::settings::{Settings, Timing};
use coordinator_core::time::Millis;
use coordinator_server::{Deps, ServerConfig, serve};
use protocol::GroupState;
use store::{LockLimits, MemoryStore, StoreClock};
use store_redis::{RedisConfig, RedisPlane, RedisStore};
use testkit::{RedisServer, wait_until_async};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::PATIENCE;

/// A running coordinator; it ends with this value.
pub(crate) struct Coordinator {
    pub(crate) url: String,
    pub(crate) client: CoordinatorClient,
    running: JoinHandle<()>,
}

impl Coordinator {
    /// With its groups in memory, and no Redis for shard streams.
    pub(crate) async fn in_memory() -> Self {
        let store = Arc::new(MemoryStore::new());
        Self::with(Deps::new(store)).await
    }

    /// With its groups in a memory that goes by another clock.
    pub(crate) async fn with_clock(clock: Arc<dyn StoreClock>) -> Self {
        let store = Arc::new(MemoryStore::with(clock, LockLimits::default()));
        Self::with(Deps::new(store)).await
    }

    /// With groups and shard streams on a Redis.
    pub(crate) async fn on(redis: &RedisServer) -> Self {
        Self::with(on(redis).await).await
    }

    /// The same, with leases that a test can wait for.
    pub(crate) async fn quick(redis: &RedisServer) -> Self {
        Self::with_lease(on(redis).await, 1_000).await
    }

    async fn with(deps: Deps) -> Self {
        Self::with_lease(deps, 20_000).await
    }

    async fn with_lease(deps: Deps, lease_ms: u64) -> Self {
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
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let client = CoordinatorClient::builder([&url])
            .credentials(Credentials::basic("admin", "admin"))
            .build()
            .unwrap();
        let running = tokio::spawn(async move {
            serve(listener, deps, config, std::future::pending())
                .await
                .unwrap();
        });
        Self {
            url,
            client,
            running,
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

async fn on(redis: &RedisServer) -> Deps {
    let config = || RedisConfig::new(vec![redis.url()]);
    let store = Arc::new(RedisStore::connect(config()).await.unwrap());
    let plane = RedisPlane::connect(config()).await.unwrap();
    Deps {
        plane: Some(Arc::new(plane)),
        ..Deps::new(store)
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        self.kill();
    }
}
