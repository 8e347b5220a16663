//! A coordinator in this process, on a port of its own, and members that are plain requests.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

pub mod certificates;
pub mod indexes;
pub mod moody;
pub mod plane;
pub mod redis;
pub mod resharding;
pub mod unlucky;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use coordinator_client::{CoordinatorClient, Credentials};
use coordinator_core::assign::Sticky;
use coordinator_core::settings::{Settings, Timing};
use coordinator_core::time::Millis;
use coordinator_server::{Deps, ServerConfig, Witness, serve};
use openapi_check::{Conformity, Judge};
use protocol::{
    CreateStreamRequest, HeartbeatRequest, HeartbeatResponse, RevokeState, RevokingShard,
    RuntimeConsumerCapacity, ShardId,
};
use serde_json::Value;
use store::MemoryStore;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

/// A running coordinator.
pub struct Server {
    pub address: SocketAddr,
    pub client: CoordinatorClient,
    stop: Option<oneshot::Sender<()>>,
    running: Option<JoinHandle<()>>,
    /// Whatever a test is about, nothing may be answered that is not described.
    pub conformity: Conformity,
}

/// Shows whatever is answered to a judge.
fn witness(judge: Judge) -> Witness {
    Witness::new(move |seen| {
        let (path, body) = (seen.uri.path(), seen.body.clone());
        judge.see(&seen.method, path, seen.status, &seen.headers, body);
    })
}

/// Times short enough for a test to see leases end.
pub fn quick() -> Settings {
    let timing = Timing {
        heartbeat_interval: Millis::new(200),
        member_lease_ttl: Millis::new(800),
        rebalance_timeout: Millis::new(2_000),
        stale_member_retention: Millis::new(60_000),
    };
    Settings::validated(timing, &Sticky).unwrap()
}

pub fn config() -> ServerConfig {
    let mut config = ServerConfig::new("test");
    config.settings = quick();
    config.shutdown_timeout = Duration::from_secs(5);
    config
}

pub fn memory() -> Deps {
    let store = Arc::new(MemoryStore::new());
    Deps::new(store)
}

impl Server {
    pub async fn start() -> Self {
        Self::with(memory(), config()).await
    }

    pub async fn with(deps: Deps, mut config: ServerConfig) -> Self {
        let conformity = Conformity::new();
        config.witness = Some(witness(conformity.judge()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let credentials = Credentials::basic("admin", "admin");
        let client = CoordinatorClient::builder([format!("http://{address}")])
            .credentials(credentials)
            .build()
            .unwrap();
        let (stop, stopped) = oneshot::channel();
        let running = tokio::spawn(async move {
            serve(listener, deps, config, async {
                let _ = stopped.await;
            })
            .await
            .unwrap();
        });
        Self {
            address,
            client,
            stop: Some(stop),
            running: Some(running),
            conformity,
        }
    }

    /// Tells the coordinator to end.
    pub fn terminate(&mut self) {
        drop(self.stop.take());
    }

    /// Waits for its end.
    pub async fn ended(&mut self) {
        self.running.take().unwrap().await.unwrap();
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// A request as any HTTP client would send it.
    pub fn request(&self, method: &str, path: &str) -> reqwest::RequestBuilder {
        http().request(method.parse().unwrap(), self.url(path))
    }

    pub async fn create(&self, stream: &str, shards: u32) {
        let request = CreateStreamRequest {
            initial_shard_count: Some(shards),
            requested_by: "test".to_owned(),
            reason: None,
        };
        self.client.create_stream(stream, &request).await.unwrap();
    }

    pub async fn beat(&self, stream: &str, request: &HeartbeatRequest) -> HeartbeatResponse {
        self.client
            .heartbeat(stream, stream, request)
            .await
            .unwrap()
    }
}

pub fn http() -> reqwest::Client {
    // The same provider that the typed client installs; whoever comes first wins.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}

/// The refusal in an answer: its status and its code.
pub async fn refusal(response: reqwest::Response) -> (u16, String, String) {
    let status = response.status().as_u16();
    let body: Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    let text = |field: &str| body[field].as_str().unwrap().to_owned();
    (status, text("errorCode"), text("message"))
}

pub fn heartbeat(member: &str, epoch: i64, version: u64) -> HeartbeatRequest {
    HeartbeatRequest {
        protocol_version: 1,
        request_id: format!("{member}-{epoch}-{version}"),
        member_id: member.to_owned(),
        member_name: None,
        member_epoch: epoch,
        metadata_version: version,
        runtime_consumer_capacity: RuntimeConsumerCapacity {
            runtime_max_concurrency: 1,
            available_concurrency: 1,
        },
        owned_shards: Vec::new(),
        revoking_shards: Vec::new(),
        shard_progress: Vec::new(),
        instance_id: None,
        sequence: None,
        rack: None,
    }
}

/// What an obedient member sends after an answer: it owns what was assigned.
pub fn obey(answer: &HeartbeatResponse) -> HeartbeatRequest {
    HeartbeatRequest {
        owned_shards: answer.assignment.assigned_shards.clone(),
        ..heartbeat(
            &answer.member_id,
            answer.member_epoch,
            answer.metadata_version,
        )
    }
}

pub fn shards(indexes: &[u32]) -> Vec<ShardId> {
    indexes.iter().map(|index| ShardId::new(*index)).collect()
}

pub fn revoked(index: u32) -> RevokingShard {
    RevokingShard {
        shard: ShardId::new(index),
        state: RevokeState::Revoked,
        in_flight: 0,
        acked_at: None,
    }
}
