//! A coordinator in this process, and what an operator asks of it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use bytes::Bytes;
use coordinator_client::{CoordinatorClient, Credentials};
use coordinator_core::assign::Sticky;
use coordinator_core::settings::{Settings, Timing};
use coordinator_core::time::Millis;
use coordinator_server::{Deps, ServerConfig, Witness, serve};
use openapi_check::{Conformity, Judge};
use protocol::{CreateGroupRequest, CreateStreamRequest, Migrations};
use reqwest::{Method, Response};
use serde_json::json;
use store::LockLimits;
use store_redis::{RedisConfig, RedisPlane, RedisStore};
use testkit::wait_until_async;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

use super::PATIENCE;
use super::kill::Switch;
use super::plane::{MortalPlane, Removal, StaleWriter};
use super::store::MortalStore;

/// For how long a member stays one without a heartbeat.
pub const LEASE: Duration = Duration::from_millis(800);

/// A running coordinator.
pub struct Coordinator {
    pub client: CoordinatorClient,
    pub operator: Operator,
    pub switch: Arc<Switch>,
    pub plane: Arc<MortalPlane>,
    serving: AbortHandle,
    /// Whatever a test is about, nothing may be answered that is not described.
    pub conformity: Conformity,
}

/// What a coordinator is started with.
pub struct Setup {
    /// The URL of its Redis.
    pub redis: String,
    /// What its keys begin with.
    pub keys: String,
    pub settings: Settings,
    pub removal: Removal,
    pub stale: Option<StaleWriter>,
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

impl Setup {
    pub fn new(redis: &str, keys: &str) -> Self {
        Self {
            redis: redis.to_owned(),
            keys: keys.to_owned(),
            settings: quick(),
            removal: Removal::Atomic,
            stale: None,
        }
    }
}

impl Coordinator {
    pub async fn start(setup: Setup) -> Self {
        // The rights of one that died run out soon.
        let limits = LockLimits {
            ttl: Duration::from_millis(600),
            wait: Duration::from_secs(2),
        };
        let redis = RedisConfig::new([setup.redis])
            .with_key_prefix(setup.keys)
            .with_lock_limits(limits);
        let store = Arc::new(RedisStore::connect(redis.clone()).await.unwrap());
        let switch = Arc::new(Switch::new());
        let plane = Arc::new(MortalPlane {
            redis: Arc::new(RedisPlane::connect(redis).await.unwrap()),
            switch: Arc::clone(&switch),
            is_short: AtomicBool::new(false),
            removal: setup.removal,
            stale: setup.stale,
        });
        let deps = Deps {
            store: Arc::new(MortalStore {
                redis: Arc::clone(&store),
                switch: Arc::clone(&switch),
            }),
            feed: store,
            plane: Some(plane.clone()),
            indexes: None,
        };
        let mut config = ServerConfig::new("test");
        config.settings = setup.settings;
        // Exact publishing to what leaves is refused from the first look on.
        config.routing_lease = Duration::ZERO;
        config.keep_retired = Duration::from_secs(600);
        let conformity = Conformity::new();
        config.witness = Some(witness(conformity.judge()));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let client = CoordinatorClient::builder([&url])
            .credentials(Credentials::basic("admin", "admin"))
            .request_timeout(Duration::from_secs(10))
            .build()
            .unwrap();
        let operator = Operator::new(&url, conformity.judge());
        let serving = tokio::spawn(async move {
            serve(listener, deps, config, std::future::pending())
                .await
                .unwrap();
        });
        Self {
            client,
            operator,
            switch,
            plane,
            serving: serving.abort_handle(),
            conformity,
        }
    }

    /// Nobody reaches it any more.
    pub fn bury(&self) {
        self.serving.abort();
    }

    /// Creates a stream with its groups; the first one is called like the stream.
    pub async fn create(&self, stream: &str, shards: u32, groups: &[String]) {
        let requested_by = "test".to_owned();
        let request = CreateStreamRequest {
            initial_shard_count: Some(shards),
            requested_by: requested_by.clone(),
            reason: None,
        };
        // Refused where the machine is so busy that rights ran out; repeated, it is finished.
        let creating = || async {
            let outcome = self.client.create_stream(stream, &request).await;
            outcome.is_ok()
        };
        wait_until_async(PATIENCE, creating).await.unwrap();
        for group in groups.iter().filter(|group| *group != stream) {
            let request = CreateGroupRequest {
                initial_shard_count: None,
                requested_by: requested_by.clone(),
                reason: None,
            };
            let creating = || async {
                let outcome = self.client.create_group(stream, group, &request).await;
                outcome.is_ok()
            };
            wait_until_async(PATIENCE, creating).await.unwrap();
        }
    }
}

/// Shows whatever is answered to a judge.
fn witness(judge: Judge) -> Witness {
    Witness::new(move |seen| {
        let (path, body) = (seen.uri.path(), seen.body.clone());
        judge.see(&seen.method, path, seen.status, &seen.headers, body);
    })
}

/// Requests of an operator. Each answers the HTTP status.
#[derive(Clone)]
pub struct Operator {
    http: reqwest::Client,
    base: String,
    judge: Judge,
}

impl Operator {
    /// One who asks the coordinator there. The driver is the one of the typed client, which must have been built before.
    pub fn new(url: &str, judge: Judge) -> Self {
        Self {
            http: reqwest::Client::new(),
            base: format!("{url}/coord/v1"),
            judge,
        }
    }

    pub async fn scale(&self, stream: &str, target: u32) -> reqwest::Result<u16> {
        let body = json!({ "targetShardCount": target, "requestedBy": "test", "reason": "a test" });
        self.post(&format!("/streams/{stream}/scale"), &body).await
    }

    pub async fn roll_back(&self, stream: &str, group: &str, id: &str) -> reqwest::Result<u16> {
        let path = format!("/streams/{stream}/groups/{group}/migrations/{id}/rollback");
        let body = json!({ "requestedBy": "test", "reason": "a test" });
        self.post(&path, &body).await
    }

    pub async fn migrations(&self, stream: &str, group: &str) -> reqwest::Result<Migrations> {
        let path = format!("/monitoring/streams/{stream}/groups/{group}/migrations");
        let request = self.http.get(format!("{}{path}", self.base));
        let request = request.timeout(Duration::from_secs(2));
        let answer = request.basic_auth("admin", Some("admin")).send().await?;
        let refused = answer.error_for_status_ref().map(|_| ());
        let body = self.read(&Method::GET, answer).await?;
        refused?;
        Ok(serde_json::from_slice(&body).unwrap())
    }

    async fn post(&self, path: &str, body: &serde_json::Value) -> reqwest::Result<u16> {
        let request = self.http.post(format!("{}{path}", self.base)).json(body);
        let request = request.timeout(Duration::from_secs(10));
        let answer = request.basic_auth("admin", Some("admin")).send().await?;
        let status = answer.status().as_u16();
        self.read(&Method::POST, answer).await?;
        Ok(status)
    }

    /// The body, shown to the judge.
    async fn read(&self, method: &Method, answer: Response) -> reqwest::Result<Bytes> {
        let path = answer.url().path().to_owned();
        let (status, headers) = (answer.status(), answer.headers().clone());
        let body = answer.bytes().await?;
        let shown = Some(body.clone());
        self.judge.see(method, &path, status, &headers, shown);
        Ok(body)
    }
}
