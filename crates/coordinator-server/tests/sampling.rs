//! The looks at all groups for the metrics: a server that does not answer takes its own shards, and nothing else (case C04); what is old is not told.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use coordinator_core::names::StreamPrefix;
use store::{PlaneError, StreamOffsets};
use support::plane::{SlowPlane, Stand, Standing};
use support::{Server, config, heartbeat, obey};
use testkit::wait_until_async;
use tokio::sync::Semaphore;

const PATIENCE: Duration = Duration::from_secs(20);

/// For how long a server that does not answer is waited for.
const GIVEN_UP: Duration = Duration::from_secs(2);

/// Streams whose names begin with `dead` are on a server that does not answer.
struct PartlyDead;

#[async_trait]
impl Stand for PartlyDead {
    async fn of(&self, stream: &StreamPrefix) -> Result<StreamOffsets, PlaneError> {
        if stream.as_str().starts_with("dead") {
            // waits: the server is given up after that
            tokio::time::sleep(GIVEN_UP).await;
            return Err(PlaneError::Failed {
                reason: "no answer in time".to_owned(),
                retryable: true,
                source: None,
            });
        }
        Ok(StreamOffsets {
            length: Some(7),
            ..StreamOffsets::default()
        })
    }
}

async fn has(server: &Server, begin: &str, part: &str) -> bool {
    let text = server.client.metrics().await.unwrap();
    let begin = format!("redis_stream_coord_{begin}{{");
    text.lines()
        .any(|line| line.starts_with(&begin) && line.contains(part))
}

#[tokio::test]
async fn c04_a_server_that_does_not_answer_takes_only_its_own_shards() {
    let mut config = config();
    config.shard_sampling_interval = Duration::from_millis(200);
    let room = Arc::new(Semaphore::new(Semaphore::MAX_PERMITS));
    let mut deps = support::memory();
    deps.plane = Some(Arc::new(Standing(SlowPlane(room), PartlyDead)));
    let server = Server::with(deps, config).await;
    // Looked at in the order of their names.
    for stream in ["dead-1", "dead-2", "dead-3", "living"] {
        server.create(stream, 2).await;
    }
    let is_told = || has(&server, "shard_stream_length", "living");
    wait_until_async(PATIENCE, is_told).await.unwrap();
    let begun = Instant::now();
    while begun.elapsed() < GIVEN_UP * 3 {
        assert!(is_told().await, "{:?}", begun.elapsed());
        assert!(!has(&server, "shard_stream_length", "dead").await);
        // waits: between two looks of this test
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// What members reported is not told for hours by a coordinator whose Redis is away.
#[tokio::test]
async fn what_members_reported_is_gone_when_it_is_old() {
    let mut config = config();
    config.shard_sampling_interval = Duration::from_millis(200);
    let (mut redis, server) = support::redis::start(config).await;
    server.create("orders", 1).await;
    let joined = server.beat("orders", &heartbeat("m", 0, 0)).await;
    let leaving = AtomicBool::new(false);
    let beating = async {
        let mut last = joined;
        while !leaving.load(Ordering::SeqCst) {
            last = server.beat("orders", &obey(&last)).await;
            // waits: the interval of heartbeats
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    let seeing = async {
        let is_told = || has(&server, "member_active_workers", "\"m\"");
        wait_until_async(PATIENCE, is_told).await.unwrap();
        leaving.store(true, Ordering::SeqCst);
    };
    tokio::join!(beating, seeing);
    redis.kill();
    let is_silent = || async {
        let is_shown = has(&server, "member_active", "\"m\"").await;
        is_shown && !has(&server, "member_active_workers", "\"m\"").await
    };
    wait_until_async(PATIENCE, is_silent).await.unwrap();
}
