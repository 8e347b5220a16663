//! Coordinators as processes, on a Redis of their own.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

pub mod watched;

use std::process::Stdio;
use std::time::Duration;

use coordinator_client::{ClientError, CoordinatorClient, Credentials};
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;
use openapi_check::Conformity;
use protocol::{
    CreateStreamRequest, HeartbeatRequest, HeartbeatResponse, HeartbeatStatus,
    RuntimeConsumerCapacity,
};
use testkit::{RedisServer, wait_until_async};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

pub const PATIENCE: Duration = Duration::from_secs(20);

/// A running coordinatord, killed with this value.
pub struct Daemon {
    pub client: CoordinatorClient,
    pub address: String,
    child: Child,
    /// Whatever a test is about, nothing may be answered that is not described.
    pub conformity: Conformity,
}

impl Daemon {
    /// Starts one on a free port.
    pub async fn start(arguments: &[&str]) -> Self {
        Self::on("127.0.0.1:0", arguments).await
    }

    pub async fn on(listen: &str, arguments: &[&str]) -> Self {
        let mut child = Command::new(env!("CARGO_BIN_EXE_coordinatord"))
            .args(["--listen", listen])
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let line = tokio::time::timeout(PATIENCE, lines.next_line())
            .await
            .unwrap()
            .unwrap()
            .unwrap();
        let url = line.split_whitespace().last().unwrap().to_owned();
        let conformity = Conformity::new();
        let client = watched::watched([&url], conformity.judge())
            .credentials(Credentials::basic("admin", "admin"))
            .request_timeout(Duration::from_secs(5))
            .build()
            .unwrap();
        let address = url.trim_start_matches("http://").to_owned();
        Self {
            client,
            address,
            child,
            conformity,
        }
    }

    /// One on the given Redis, with times that a test can wait for.
    pub async fn quick(redis: &RedisServer) -> Self {
        Self::start(&[
            "--store",
            &redis.url(),
            "--heartbeat-interval",
            "200ms",
            "--member-lease-ttl",
            "1s",
        ])
        .await
    }

    pub fn signal(&self, signal: Signal) {
        let pid = i32::try_from(self.child.id().unwrap()).unwrap();
        kill(Pid::from_raw(pid), signal).unwrap();
    }

    /// The exit code, once it has ended.
    pub async fn ended(&mut self) -> Option<i32> {
        tokio::time::timeout(PATIENCE, self.child.wait())
            .await
            .unwrap()
            .unwrap()
            .code()
    }

    pub async fn ready(&self) {
        let ready = || async { self.client.is_ready().await.unwrap_or(false) };
        wait_until_async(PATIENCE, ready).await.unwrap();
    }

    pub async fn create(&self, stream: &str, shards: u32) {
        let request = CreateStreamRequest {
            initial_shard_count: Some(shards),
            requested_by: "test".to_owned(),
            reason: None,
        };
        self.client.create_stream(stream, &request).await.unwrap();
    }
}

/// A plain client that obeys.
pub struct Plain {
    pub id: String,
    pub last: Option<HeartbeatResponse>,
    sent: u64,
}

impl Plain {
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            last: None,
            sent: 0,
        }
    }

    fn request(&mut self) -> HeartbeatRequest {
        self.sent += 1;
        let last = self.last.as_ref();
        HeartbeatRequest {
            protocol_version: 1,
            request_id: format!("{}-{}", self.id, self.sent),
            member_id: self.id.clone(),
            member_name: None,
            member_epoch: last.map_or(0, |last| last.member_epoch),
            metadata_version: last.map_or(0, |last| last.metadata_version),
            runtime_consumer_capacity: RuntimeConsumerCapacity {
                runtime_max_concurrency: 1,
                available_concurrency: 1,
            },
            owned_shards: last
                .map(|last| last.assignment.assigned_shards.clone())
                .unwrap_or_default(),
            revoking_shards: Vec::new(),
            shard_progress: Vec::new(),
            instance_id: None,
            sequence: None,
            rack: None,
        }
    }

    /// Heartbeats; takes the answer over if it is OK.
    pub async fn beat(
        &mut self,
        client: &CoordinatorClient,
        stream: &str,
    ) -> Result<HeartbeatStatus, ClientError> {
        let answer = self.ask(client, stream).await?;
        let status = answer.status;
        if status == HeartbeatStatus::Ok {
            self.last = Some(answer);
        }
        Ok(status)
    }

    /// Heartbeats as a member does that may be told that writes were lost: refused, it begins anew.
    pub async fn keep_up(
        &mut self,
        client: &CoordinatorClient,
        stream: &str,
    ) -> Result<HeartbeatStatus, ClientError> {
        let answer = self.ask(client, stream).await?;
        let status = answer.status;
        match status {
            HeartbeatStatus::Ok
            | HeartbeatStatus::SyncMetadata
            | HeartbeatStatus::RevokePending => self.last = Some(answer),
            HeartbeatStatus::FencedMemberEpoch | HeartbeatStatus::UnknownMemberId => {
                self.last = None;
            }
            _ => {}
        }
        Ok(status)
    }

    async fn ask(
        &mut self,
        client: &CoordinatorClient,
        stream: &str,
    ) -> Result<HeartbeatResponse, ClientError> {
        let request = self.request();
        client.heartbeat(stream, stream, &request).await
    }

    pub fn shards(&self) -> Vec<u32> {
        let last = self
            .last
            .iter()
            .flat_map(|last| &last.assignment.assigned_shards);
        last.map(|shard| shard.shard_index).collect()
    }
}
