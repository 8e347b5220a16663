//! A coordinator that does as the test says: it assigns what it is told to, and remembers every heartbeat. It enforces no rule.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use axum::extract::{Path, Query, State};
use axum::http::StatusCode;
use axum::routing::{get, post};
use axum::{Json, Router};
use coordinator_client::CoordinatorClient;
use openapi_check::Conformity;
use protocol::{
    AssignedStream, Assignment, ErrorBody, ErrorCode, HeartbeatRequest, HeartbeatResponse,
    HeartbeatStatus, ShardId, WatchQuery, WatchResponse,
};
use tokio::net::TcpListener;
use tokio::sync::watch;

/// What the test decides.
#[derive(Debug, Clone)]
pub(crate) struct Script {
    /// Shards per member.
    pub(crate) assigned: BTreeMap<String, Vec<u32>>,
    /// Shards whose lives are told apart: key and generation.
    pub(crate) streams: BTreeMap<u32, (String, u64)>,
    /// Refuse the next heartbeat of these members.
    pub(crate) fence: Vec<String>,
    /// Answer every call with 503.
    pub(crate) down: bool,
    /// Refuse every message as malformed.
    pub(crate) unwelcome: bool,
    /// Raise the member's epoch with every answer.
    pub(crate) restless: bool,
    pub(crate) interval_ms: u64,
    pub(crate) lease_ms: u64,
    pub(crate) heartbeats: Vec<HeartbeatRequest>,
    epoch: i64,
}

#[derive(Clone)]
struct Shared {
    script: Arc<Mutex<Script>>,
    version: Arc<watch::Sender<u64>>,
}

/// The server. It ends with the test's runtime.
pub(crate) struct Coordinator {
    shared: Shared,
    address: String,
    /// It answers nothing that the real one can't.
    conformity: Conformity,
}

impl Coordinator {
    pub(crate) async fn start() -> Self {
        let script = Script {
            assigned: BTreeMap::new(),
            streams: BTreeMap::new(),
            fence: Vec::new(),
            down: false,
            unwelcome: false,
            restless: false,
            interval_ms: 50,
            lease_ms: 2_000,
            heartbeats: Vec::new(),
            epoch: 0,
        };
        let shared = Shared {
            script: Arc::new(Mutex::new(script)),
            version: Arc::new(watch::Sender::new(1)),
        };
        let router = Router::new()
            .route(
                "/coord/v1/streams/{p}/groups/{g}/members/{m}/heartbeat",
                post(heartbeat),
            )
            .route("/coord/v1/streams/{p}/groups/{g}/watch", get(watch_version))
            .with_state(shared.clone());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self {
            shared,
            address,
            conformity: Conformity::new(),
        }
    }

    pub(crate) fn client(&self) -> CoordinatorClient {
        self.through(&self.address)
    }

    /// A client that reaches it at another address.
    pub(crate) fn through(&self, address: &str) -> CoordinatorClient {
        let judge = self.conformity.judge();
        CoordinatorClient::builder([format!("http://{address}")])
            .observer(move |seen| {
                let body = seen.body.cloned();
                judge.see(seen.method, seen.target, seen.status, seen.headers, body);
            })
            .build()
            .unwrap()
    }

    /// `host:port`.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    /// Changes the script and raises the version.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Script)) {
        change(&mut self.shared.script.lock().unwrap());
        self.shared.version.send_modify(|version| *version += 1);
    }

    /// As the real one, it gives out a new assignment under a new epoch.
    pub(crate) fn assign(&self, member: &str, shards: &[u32]) {
        self.change(|script| {
            script.epoch += 1;
            script.assigned.insert(member.to_owned(), shards.to_vec());
        });
    }

    /// Says from now on that the shard is read in this life.
    pub(crate) fn tell(&self, shard: u32, generation: u64) {
        let stream = (protocol::stream_key("orders", shard), generation);
        self.change(|script| {
            script.streams.insert(shard, stream);
        });
    }

    pub(crate) fn heartbeats(&self) -> Vec<HeartbeatRequest> {
        self.shared.script.lock().unwrap().heartbeats.clone()
    }

    pub(crate) fn last_heartbeat(&self, member: &str) -> Option<HeartbeatRequest> {
        self.heartbeats()
            .into_iter()
            .rev()
            .find(|request| request.member_id == member)
    }
}

async fn heartbeat(
    State(shared): State<Shared>,
    Path((_, _, member)): Path<(String, String, String)>,
    Json(request): Json<HeartbeatRequest>,
) -> Result<Json<HeartbeatResponse>, (StatusCode, Json<ErrorBody>)> {
    let mut script = shared.script.lock().unwrap();
    if script.down {
        return Err(refusal(ErrorCode::CoordinatorTerminating, "down"));
    }
    if script.unwelcome {
        return Err(refusal(ErrorCode::InvalidRequest, "this is no heartbeat"));
    }
    script.heartbeats.push(request.clone());
    let fenced = script.fence.iter().position(|fenced| *fenced == member);
    if let Some(position) = fenced {
        script.fence.remove(position);
    }
    if request.is_join() || script.restless {
        script.epoch += 1;
    }
    let mut assigned = script.assigned.get(&member).cloned().unwrap_or_default();
    if request.is_leave() || fenced.is_some() {
        assigned.clear();
    }
    let metadata_version = *shared.version.borrow();
    let told = |shard: &u32| {
        let (stream_key, generation) = script.streams.get(shard)?.clone();
        Some(AssignedStream {
            shard_index: *shard,
            stream_key,
            generation,
        })
    };
    let shard_streams = assigned.iter().filter_map(told).collect();
    Ok(Json(HeartbeatResponse {
        response_to: request.request_id,
        status: if fenced.is_some() {
            HeartbeatStatus::FencedMemberEpoch
        } else {
            HeartbeatStatus::Ok
        },
        member_id: member,
        member_epoch: if fenced.is_some() { 0 } else { script.epoch },
        heartbeat_interval_ms: script.interval_ms,
        rebalance_timeout_ms: 60_000,
        group_epoch: 1,
        assignment_epoch: 1,
        metadata_version,
        assignment: Assignment {
            assigned_shards: assigned.into_iter().map(ShardId::new).collect(),
            pending_shards: vec![],
            metadata_version,
            shard_streams,
        },
        member_lease_ttl_ms: Some(script.lease_ms),
    }))
}

fn refusal(code: ErrorCode, message: &str) -> (StatusCode, Json<ErrorBody>) {
    let status = StatusCode::from_u16(code.http_status()).unwrap();
    (status, Json(ErrorBody::new(code, message)))
}

async fn watch_version(
    State(shared): State<Shared>,
    Query(query): Query<WatchQuery>,
) -> Json<WatchResponse> {
    let mut version = shared.version.subscribe();
    let wait = std::time::Duration::from_millis(query.wait_ms);
    let seen = tokio::time::timeout(wait, version.wait_for(|version| *version > query.after)).await;
    let changed = seen.is_ok();
    drop(seen);
    let metadata_version = *shared.version.borrow();
    Json(WatchResponse {
        metadata_version,
        changed,
    })
}
