//! Changes of the shard count as operators ask for them: requests, what was answered, and members that do as they are told.

use std::sync::Arc;
use std::time::Duration;

use coordinator_client::ClientError;
use coordinator_core::assign::Sticky;
use coordinator_core::settings::{Settings, Timing};
use coordinator_core::time::Millis;
use coordinator_server::{Deps, ServerConfig};
use protocol::{
    CreateGroupRequest, HeartbeatResponse, Migration, MigrationState, RollbackRequest,
    ScaleRequest, StreamScaled,
};
use serde_json::{Value, json};
use store::ShardPlane;
use testkit::wait_until_async;

use super::{Server, config, heartbeat, memory, obey};

pub const PATIENCE: Duration = Duration::from_secs(20);

/// Leases that no test outlives: who is silent stays.
fn patient() -> ServerConfig {
    let timing = Timing {
        heartbeat_interval: Millis::new(200),
        member_lease_ttl: Millis::new(120_000),
        rebalance_timeout: Millis::new(120_000),
        stale_member_retention: Millis::new(120_000),
    };
    ServerConfig {
        settings: Settings::validated(timing, &Sticky).unwrap(),
        ..config()
    }
}

/// A coordinator in memory, without shard streams, and `orders` with so many shards.
pub async fn with_shards(shards: u32) -> Server {
    let server = Server::with(memory(), patient()).await;
    server.create("orders", shards).await;
    server
}

/// The same, with shard streams.
pub async fn with_plane(plane: Arc<dyn ShardPlane>, shards: u32) -> Server {
    let deps = Deps {
        plane: Some(plane),
        ..memory()
    };
    let server = Server::with(deps, patient()).await;
    server.create("orders", shards).await;
    server
}

pub fn to(target: u32) -> ScaleRequest {
    ScaleRequest {
        target_shard_count: target,
        requested_by: "test".to_owned(),
        reason: "to see".to_owned(),
        deprecated_after: None,
    }
}

pub async fn scale(server: &Server, target: u32) -> StreamScaled {
    server
        .client
        .scale_stream("orders", &to(target))
        .await
        .unwrap()
}

pub async fn roll_back(server: &Server, group: &str, id: &str) -> Result<Migration, ClientError> {
    let request = RollbackRequest {
        requested_by: "test".to_owned(),
        reason: "to see".to_owned(),
    };
    server.client.roll_back("orders", group, id, &request).await
}

pub async fn create_group(server: &Server, group: &str) -> protocol::Group {
    let request = CreateGroupRequest {
        initial_shard_count: None,
        requested_by: "test".to_owned(),
        reason: None,
    };
    server
        .client
        .create_group("orders", group, &request)
        .await
        .unwrap()
}

pub async fn state(server: &Server, group: &str, id: &str) -> MigrationState {
    let change = server.client.migration("orders", group, id).await;
    change.unwrap().state
}

/// How many shards producers are told of.
pub async fn routed(server: &Server) -> (u32, usize) {
    let routing = server.client.producer_routing("orders", "orders").await;
    let routing = routing.unwrap();
    (routing.shard_count, routing.shards.len())
}

/// Waits until a group is that far with a change; nobody reports meanwhile.
pub async fn becomes(server: &Server, group: &str, id: &str, wanted: MigrationState) {
    let is_there = || async { state(server, group, id).await == wanted };
    wait_until_async(PATIENCE, is_there).await.unwrap();
}

/// The members of a group, by what they were last answered.
pub struct Members {
    group: &'static str,
    answers: Vec<HeartbeatResponse>,
}

impl Members {
    /// They join, and have their shards.
    pub async fn join(server: &Server, group: &'static str, names: &[&str]) -> Self {
        let mut answers = Vec::new();
        for name in names {
            let request = heartbeat(name, 0, 0);
            let answer = server.client.heartbeat("orders", group, &request).await;
            answers.push(answer.unwrap());
        }
        let mut members = Self { group, answers };
        for _ in 0..4 {
            members.report(server).await;
        }
        members
    }

    /// Each reports once, and lets go of what it is not assigned any more.
    pub async fn report(&mut self, server: &Server) {
        for last in &mut self.answers {
            let answer = server
                .client
                .heartbeat("orders", self.group, &obey(last))
                .await;
            *last = answer.unwrap();
        }
    }

    /// They report until the change is that far.
    pub async fn report_until(&mut self, server: &Server, id: &str, wanted: MigrationState) {
        let reporting = async {
            while state(server, self.group, id).await != wanted {
                self.report(server).await;
                // waits: the interval between two reports
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(PATIENCE, reporting).await.unwrap();
    }

    /// What each is assigned.
    pub fn assigned(&self) -> Vec<Vec<u32>> {
        let of = |answer: &HeartbeatResponse| {
            let shards = answer.assignment.assigned_shards.iter();
            shards.map(|shard| shard.shard_index).collect()
        };
        self.answers.iter().map(of).collect()
    }
}

/// An answer to a plain request, with names of changes and times replaced: they differ with every run.
pub async fn asked(server: &Server, method: &str, path: &str, body: Option<Value>) -> (u16, Value) {
    let path = format!("/coord/v1{path}");
    let mut request = server
        .request(method, &path)
        .basic_auth("admin", Some("admin"));
    if let Some(body) = body {
        request = request.body(body.to_string());
    }
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let mut answer = serde_json::from_str(&response.text().await.unwrap()).unwrap();
    blank(&mut answer);
    (status, answer)
}

fn blank(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(blank),
        Value::Object(fields) => {
            for (name, field) in fields {
                match (name.as_str(), &*field) {
                    ("createdAt" | "updatedAt", Value::String(text)) if text.ends_with('Z') => {
                        *field = json!("some time");
                    }
                    ("reshardingId" | "activeReshardingId", Value::String(text))
                        if text.starts_with("reshard-") =>
                    {
                        *field = json!("some change");
                    }
                    _ => blank(field),
                }
            }
        }
        _ => {}
    }
}
