//! A Redis and coordinators for a measurement.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use coordinator_client::{CoordinatorClient, Credentials};
use protocol::CreateStreamRequest;
use redis::aio::MultiplexedConnection;
use tempfile::TempDir;
use testkit::{RedisServer, free_port, wait_until_async};

use crate::processes::{Failure, Process, build_coordinator, sibling};

/// How long a coordinator may take to start.
const START: Duration = Duration::from_secs(20);

/// Running servers.
pub(super) struct Stage {
    pub(super) redis: RedisServer,
    pub(super) coordinators: Vec<Coordinator>,
    _folder: TempDir,
}

/// A running coordinator.
pub(super) struct Coordinator {
    pub(super) url: String,
    pub(super) client: CoordinatorClient,
    pub(super) process: Process,
}

impl Stage {
    /// Starts a Redis and coordinators on it with the times of protocol version 1.
    pub(super) async fn start(server: &Path, coordinators: usize) -> Result<Self, Failure> {
        Self::with(server, coordinators, &[]).await
    }

    /// The same with further options for the coordinators.
    pub(super) async fn with(
        server: &Path,
        coordinators: usize,
        options: &[&str],
    ) -> Result<Self, Failure> {
        build_coordinator()?;
        let folder = tempfile::tempdir()?;
        let redis = RedisServer::builder().binary(server).start()?;
        let mut running = Vec::new();
        for index in 0..coordinators {
            let url = format!("127.0.0.1:{}", free_port());
            let redis_url = redis.url();
            let arguments = ["--listen", &url, "--store", &redis_url];
            let arguments = arguments.iter().chain(options);
            let arguments: Vec<String> = arguments.map(|it| (*it).to_owned()).collect();
            let errors = folder.path().join(format!("coordinator-{index}.err"));
            let process = Process::start(
                "coordinator",
                &sibling("coordinatord")?,
                &arguments,
                &errors,
            )?;
            let url = format!("http://{url}");
            let client = CoordinatorClient::builder([&url])
                .credentials(Credentials::basic("admin", "admin"))
                .build()?;
            let ready = || async { client.is_ready().await.unwrap_or(false) };
            let what = "the start of the coordinator";
            wait_until_async(START, ready)
                .await
                .map_err(|_| Failure::TookTooLong {
                    what,
                    seconds: START.as_secs(),
                })?;
            running.push(Coordinator {
                url,
                client,
                process,
            });
        }
        Ok(Self {
            redis,
            coordinators: running,
            _folder: folder,
        })
    }

    /// Creates a stream.
    pub(super) async fn create(&self, stream: &str, shards: u32) -> Result<(), Failure> {
        let request = CreateStreamRequest {
            initial_shard_count: Some(shards),
            requested_by: "bench".to_owned(),
            reason: None,
        };
        self.coordinators[0]
            .client
            .create_stream(stream, &request)
            .await?;
        Ok(())
    }
}

/// How often each command was called so far, by INFO commandstats.
pub(super) async fn command_counts(
    redis: &mut MultiplexedConnection,
) -> Result<BTreeMap<String, u64>, Failure> {
    let text: String = redis::cmd("INFO")
        .arg("commandstats")
        .query_async(redis)
        .await?;
    let row = |line: &str| {
        let (name, rest) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
        let calls = rest.split(',').next()?.parse().ok()?;
        Some((name.to_owned(), calls))
    };
    Ok(text.lines().filter_map(row).collect())
}
