//! One request of each kind, and what an answer looks like in the table.

use std::time::{Duration, Instant};

use futures_util::future::join_all;
use openapi_check::Judge;
use protocol::HeartbeatRequest;
use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::support::Daemon;
use crate::support::watched::{begun, read};

/// The longest that an answer may take.
const BOUND: Duration = Duration::from_secs(15);

/// A kind of request: how the page calls it, and one of it.
type Kind = (&'static str, &'static str, &'static str, fn() -> Value);

fn nothing() -> Value {
    Value::Null
}

fn asked() -> Value {
    json!({"requestedBy": "test", "reason": "to see", "initialShardCount": 2})
}

fn scaled() -> Value {
    json!({"requestedBy": "test", "reason": "to see", "targetShardCount": 6})
}

fn deleted() -> Value {
    json!({"requestedBy": "test", "reason": "to see"})
}

fn log_in() -> Value {
    json!({"username": "admin", "password": "admin"})
}

fn joining() -> Value {
    json!({
        "protocolVersion": 1, "requestId": "r", "memberId": "late", "memberEpoch": 0, "metadataVersion": 0,
        "runtimeConsumerCapacity": {"runtimeMaxConcurrency": 1, "availableConcurrency": 1}
    })
}

/// Stands for the body of a member that has nothing new to say.
const STEADY: &str = "heartbeat of a member with nothing new";

const LOG_IN: &str = "log-in";
/// An answer without an end.
const EVENTS: &str = "events";

#[rustfmt::skip]
const KINDS: &[Kind] = &[
    ("liveness", "GET", "/healthz", nothing),
    ("readiness", "GET", "/readyz", nothing),
    ("metrics", "GET", "/metrics", nothing),
    ("health", "GET", "/coord/v1/monitoring/health", nothing),
    (LOG_IN, "POST", "/coord/v1/auth/login", log_in),
    ("session, compatibility", "GET", "/coord/v1/monitoring/session", nothing),
    ("list of groups", "GET", "/coord/v1/monitoring/groups", nothing),
    ("group, members, assignments, changes", "GET", "/coord/v1/monitoring/streams/orders/groups/orders/members", nothing),
    ("offsets", "GET", "/coord/v1/monitoring/streams/orders/groups/orders/offsets", nothing),
    ("messages", "GET", "/coord/v1/monitoring/streams/orders/groups/orders/shards/0/messages", nothing),
    ("one change", "GET", "/coord/v1/streams/moving/groups/moving/migrations/{change}", nothing),
    ("what members report", "GET", "/coord/v1/monitoring/streams/orders/groups/orders/consumption", nothing),
    ("audit", "GET", "/coord/v1/monitoring/audit", nothing),
    (EVENTS, "GET", "/coord/v1/monitoring/events", nothing),
    ("rows for dashboards", "GET", "/coord/v1/monitoring/grafana/groups", nothing),
    ("rows of records for dashboards", "GET", "/coord/v1/monitoring/grafana/messages?streamPrefix=orders&limit=1", nothing),
    ("choices for dashboards", "GET", "/coord/v1/monitoring/grafana/options/streams", nothing),
    ("routing", "GET", "/coord/v1/streams/orders/groups/orders/producer-routing", nothing),
    (STEADY, "POST", "/coord/v1/streams/orders/groups/orders/members/a/heartbeat", nothing),
    ("heartbeat that joins", "POST", "/coord/v1/streams/orders/groups/orders/members/late/heartbeat", joining),
    ("watch", "GET", "/coord/v1/streams/orders/groups/orders/watch?after=0&waitMs=0", nothing),
    ("create a stream", "POST", "/coord/v1/streams/fresh", asked),
    ("create a group", "POST", "/coord/v1/streams/spare/groups/fresh", asked),
    ("scale", "POST", "/coord/v1/streams/orders/scale", scaled),
    ("take a change back", "POST", "/coord/v1/streams/moving/groups/moving/migrations/{change}/rollback", deleted),
    ("delete", "DELETE", "/coord/v1/streams/spare/groups/spare", deleted),
    ("save a snapshot", "GET", "/coord/v1/admin/snapshot", nothing),
    ("restore a snapshot", "POST", "/coord/v1/admin/snapshot/restore?force=true", nothing),
];

/// How the page calls them, in its order.
pub fn names() -> Vec<&'static str> {
    KINDS.iter().map(|(name, ..)| *name).collect()
}

/// What the requests need to know of the scene.
pub struct Steady {
    pub heartbeat: HeartbeatRequest,
    /// A change that is under way.
    pub change: String,
    /// A snapshot that was taken before.
    pub snapshot: String,
}

/// What the table says of a request that is not asked: it would do what it is for.
const NOT_ASKED: &str = "–";

/// Asks one of each kind, all at the same time, and gives what the table says of each. Changes are asked for only where none can take place.
pub async fn ask_all(
    daemon: &Daemon,
    steady: &Steady,
    with_changes: bool,
) -> Vec<(&'static str, String)> {
    let http = reqwest::Client::builder().build().unwrap();
    let (address, judge) = (&daemon.address, &daemon.conformity.judge());
    let asked = KINDS.iter().map(async |(name, method, path, body)| {
        let is_change = *method != "GET" && *name != STEADY && *name != LOG_IN;
        if is_change && !with_changes {
            return (*name, NOT_ASKED.to_owned());
        }
        let path = path.replace("{change}", &steady.change);
        let method: Method = method.parse().unwrap();
        let request = http
            .request(method.clone(), format!("http://{address}{path}"))
            .basic_auth("admin", Some("admin"));
        let request = match body() {
            _ if *name == STEADY => request.json(&steady.heartbeat),
            _ if path.contains("restore") => request.body(steady.snapshot.clone()),
            Value::Null => request,
            body => request.json(&body),
        };
        let started = Instant::now();
        let answer = request.send().await.unwrap();
        let cell = match *name {
            EVENTS => begun(judge, &method, &answer).as_u16().to_string(),
            _ => cell(judge, &method, answer).await,
        };
        let took = started.elapsed();
        eprintln!("{name}: {cell} in {took:?}");
        assert!(took < BOUND, "{name}: {took:?}");
        (*name, cell)
    });
    join_all(asked).await
}

/// Status, code, and a plus where the answer says when to come back.
async fn cell(judge: &Judge, method: &Method, answer: Response) -> String {
    let status = answer.status();
    let Ok((_, headers, text)) = read(judge, method, answer).await else {
        return format!("{} cut off", status.as_u16());
    };
    let comes_back = headers.get("retry-after");
    let body: Value = serde_json::from_slice(&text).unwrap_or_default();
    let mut cell = status.as_u16().to_string();
    if let Some(code) = body["errorCode"].as_str() {
        cell = format!("{cell} `{code}`");
    } else if body.get("coordinatorId").is_some() {
        let status = body["status"].as_str().unwrap();
        cell = format!("{cell} `{status}`");
    } else if let Some(shards) = body["shards"].as_array().or(body.as_array())
        && shards
            .iter()
            .any(|shard| shard.get("problem").is_some_and(|it| !it.is_null()))
    {
        cell = format!("{cell} with reasons");
    }
    if let Some(seconds) = comes_back {
        assert!(seconds.to_str().unwrap().parse::<u32>().unwrap() >= 1);
        cell.push_str(" +");
    }
    cell
}
