//! What a scrape of a large fleet costs: 1,000 groups with 10 members and 16 shards each, on the memory store. Figures of one machine, for the page on
//! operations; run it with `--release`. It checks the size of what it measures and nothing else.
#![allow(clippy::unwrap_used)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use coordinator_core::assign::Sticky;
use coordinator_core::names::StreamPrefix;
use coordinator_core::settings::{Settings, Timing};
use coordinator_core::time::Millis;
use futures_util::stream::{self, StreamExt};
use protocol::{HeartbeatRequest, ShardId, ShardProgress};
use store::{EntryId, GroupOffsets, PlaneError, StreamOffsets};
use support::plane::{SlowPlane, Stand, Standing};
use support::{Server, heartbeat, obey};
use tokio::sync::Semaphore;

const GROUPS: usize = 1_000;
const MEMBERS: usize = 10;
const SHARDS: u32 = 16;
const SCRAPES: usize = 20;

/// Streams that all stand at the same place.
struct Filled;

#[async_trait]
impl Stand for Filled {
    async fn of(&self, _: &StreamPrefix) -> Result<StreamOffsets, PlaneError> {
        let id = EntryId {
            ms: 1_769_854_530_123,
            seq: 17,
        };
        Ok(StreamOffsets {
            length: Some(123_456),
            first: Some(id),
            last: Some(id),
            last_generated: Some(id),
            memory_bytes: Some(7_654_321),
            node_endpoint: None,
            node_id: None,
            group: Some(GroupOffsets {
                last_delivered: id,
                pending: 12,
                lag: Some(345),
                unread: Some(345),
                trimmed_unread: 0,
            }),
        })
    }
}

fn working(request: HeartbeatRequest) -> HeartbeatRequest {
    let progress = |shard: &ShardId| ShardProgress {
        shard: *shard,
        stream_key: format!("orders:{}", shard.shard_index),
        last_delivered_id: Some("1769854530123-17".to_owned()),
        last_acked_id: Some("1769854530123-16".to_owned()),
        pending_count: 1,
        updated_at: Some(protocol::IsoTimestamp::from_millis(1_769_854_530_123)),
    };
    HeartbeatRequest {
        shard_progress: request.owned_shards.iter().map(progress).collect(),
        ..request
    }
}

/// A group whose members all have what they should.
async fn fill(server: &Server, stream: String) {
    server.create(&stream, SHARDS).await;
    let mut last = Vec::new();
    for member in 0..MEMBERS {
        let request = heartbeat(&format!("worker-host-{member}"), 0, 0);
        last.push(server.beat(&stream, &request).await);
    }
    for _ in 0..3 {
        for answer in &mut last {
            *answer = server.beat(&stream, &working(obey(answer))).await;
        }
    }
}

#[tokio::main]
async fn main() {
    let timing = Timing {
        heartbeat_interval: Millis::new(3_000),
        member_lease_ttl: Millis::new(3_600_000),
        rebalance_timeout: Millis::new(3_600_000),
        stale_member_retention: Millis::new(3_600_000),
    };
    let mut config = support::config();
    config.settings = Settings::validated(timing, &Sticky).unwrap();
    config.shard_sampling_interval = Duration::from_secs(15);
    let room = Arc::new(Semaphore::new(Semaphore::MAX_PERMITS));
    let mut deps = support::memory();
    deps.plane = Some(Arc::new(Standing(SlowPlane(room), Filled)));
    let server = Server::with(deps, config).await;
    let started = Instant::now();
    stream::iter(0..GROUPS)
        .map(|number| fill(&server, format!("orders-of-shop-{number}")))
        .buffer_unordered(16)
        .collect::<Vec<()>>()
        .await;
    println!("{GROUPS} groups are there after {:?}", started.elapsed());
    let wanted = GROUPS * SHARDS as usize;
    let sampled = || async {
        let text = server.client.metrics().await.unwrap();
        let count = |name: &str| text.lines().filter(|line| line.starts_with(name)).count();
        count("redis_stream_coord_shard_lag{") == wanted
            && count("redis_stream_coord_consumer_shard_pending{") == wanted
    };
    testkit::wait_until_async(Duration::from_secs(120), sampled)
        .await
        .unwrap();
    let http = support::http();
    let text = server.client.metrics().await.unwrap();
    let (lines, bytes) = (text.lines().count(), text.len());
    println!(
        "{lines} lines, {bytes} bytes; {SCRAPES} scrapes each over loopback, the reader included:"
    );
    for (what, pause) in [
        ("made anew", Duration::from_millis(1_100)),
        ("mostly shared", Duration::ZERO),
    ] {
        let mut times = Vec::new();
        for _ in 0..SCRAPES {
            // waits: until what was made for the scrape before is told no more
            tokio::time::sleep(pause).await;
            let started = Instant::now();
            let mut response = http.get(server.url("/metrics")).send().await.unwrap();
            let mut read = 0;
            while let Some(chunk) = response.chunk().await.unwrap() {
                read += chunk.len();
            }
            times.push(started.elapsed());
            assert!(read > bytes / 2, "it is the same text");
        }
        times.sort();
        println!(
            "  {what}: fastest {:?}, median {:?}, slowest {:?}",
            times[0],
            times[SCRAPES / 2],
            times[SCRAPES - 1]
        );
    }
}
