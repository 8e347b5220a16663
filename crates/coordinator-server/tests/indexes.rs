//! Due work through an index on a real Redis: what it makes cheap, and what happens when it is lost (rule M5); and what both indexes count.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use coordinator_core::assign::Sticky;
use coordinator_core::settings::{Settings, Timing};
use coordinator_core::time::Millis;
use coordinator_server::{Deps, Indexes};
use projection::{
    Answer, Applied, Build, Entry, EntryId, Epoch, Index, IndexError, MemoryIndex, Namespace,
    Range, Version,
};
use protocol::{GroupState, ListedFrom};
use redis::aio::MultiplexedConnection;
use store::MemoryStore;
use support::indexes::{PATIENCE, forget, keys, list, until_indexed};
use support::moody::MoodyStore;
use support::redis::{command_counts, deps, start};
use support::{Server, config, heartbeat};
use testkit::wait_until_async;

async fn is_empty(server: &Server) -> bool {
    let group = server.client.group("orders", "orders").await.unwrap();
    group.state == GroupState::Empty
}

/// The directory and the list say nothing, so that no sweep finds the group: the index of due work alone does.
#[tokio::test]
async fn m5_a_coordinator_that_begins_finds_in_the_index_what_another_one_left_behind() {
    let (redis, mut first) = start(config()).await;
    first.create("orders", 2).await;
    first.beat("orders", &heartbeat("a", 0, 0)).await;
    let mut connection = redis.connection().await.unwrap();
    let due = "{pj:due@redis-stream%3Acoord:*}:z";
    let is_told =
        async |connection: &mut MultiplexedConnection| !keys(connection, due).await.is_empty();
    let deadline = Instant::now() + PATIENCE;
    while !is_told(&mut connection).await {
        assert!(Instant::now() < deadline);
        tokio::task::yield_now().await;
    }
    first.terminate();
    first.ended().await;
    forget(&mut connection, "redis-stream:coord:directory:*").await;
    forget(&mut connection, "{pj:groups*").await;
    let second = Server::with(deps(&redis.url()).await, config()).await;
    let expired = wait_until_async(PATIENCE, || is_empty(&second));
    expired.await.unwrap();
}

/// Both indexes are lost while nobody is there: the directory has everything.
#[tokio::test]
async fn m5_with_the_indexes_lost_expiry_still_happens() {
    let (redis, mut first) = start(config()).await;
    first.create("orders", 2).await;
    first.beat("orders", &heartbeat("a", 0, 0)).await;
    first.terminate();
    first.ended().await;
    let mut connection = redis.connection().await.unwrap();
    forget(&mut connection, "{pj:*").await;
    let second = Server::with(deps(&redis.url()).await, config()).await;
    let expired = wait_until_async(PATIENCE, || is_empty(&second));
    expired.await.unwrap();
    until_indexed(&second).await;
}

/// An index that takes what it is told and answers no question.
struct Hanging(MemoryIndex);

#[async_trait]
impl Index for Hanging {
    async fn read(&self, _: &Namespace, _: &Range) -> Result<Answer, IndexError> {
        std::future::pending().await
    }

    async fn upsert(&self, entry: &Entry) -> Result<Applied, IndexError> {
        self.0.upsert(entry).await
    }

    async fn remove(
        &self,
        namespace: &Namespace,
        id: &EntryId,
        version: Version,
    ) -> Result<Applied, IndexError> {
        self.0.remove(namespace, id, version).await
    }

    async fn begin(&self, build: &mut Build) -> Result<(), IndexError> {
        self.0.begin(build).await
    }

    async fn load(&self, build: &mut Build, entries: &[Entry]) -> Result<(), IndexError> {
        self.0.load(build, entries).await
    }

    async fn renew(&self, build: &Build) -> Result<(), IndexError> {
        self.0.renew(build).await
    }

    async fn commit(&self, build: Build) -> Result<Epoch, IndexError> {
        self.0.commit(build).await
    }

    async fn abandon(&self, build: Build) -> Result<(), IndexError> {
        self.0.abandon(build).await
    }
}

fn indexes(index: impl Fn() -> Arc<dyn Index>) -> Option<Indexes> {
    Some(Indexes {
        due: index(),
        groups: index(),
    })
}

/// Each part is rebuilt by itself, and all of them at the same time when the index was lost.
#[tokio::test]
async fn m5_parts_that_are_rebuilt_together_share_a_walk_of_the_directory() {
    let store = MoodyStore::new(None);
    let deps = Deps {
        store: store.clone(),
        indexes: indexes(|| Arc::new(MemoryIndex::new())),
        ..Deps::new(Arc::clone(&store.store))
    };
    let mut config = config();
    // One sweep, and no other until it is over.
    config.settings = Settings::default();
    let server = Server::with(deps, config).await;
    let line = "redis_stream_coord_index_rebuild_total{index=\"due\",outcome=\"built\"} 16";
    let is_built = || async {
        let metrics = server.client.metrics().await.unwrap();
        metrics.lines().any(|shown| shown == line)
    };
    wait_until_async(PATIENCE, is_built).await.unwrap();
    let pages = store.pages.load(Ordering::SeqCst);
    // Two for the parts, at most as many for the list of groups, and the sweep's own.
    assert!(pages <= 6, "{pages} walks");
}

/// The mark says that somebody has been watching. It is left every 50 ms, and a gap of 200 ms would begin a new watch: the index is waited for for longer.
#[tokio::test]
async fn m6_an_index_that_hangs_keeps_no_dead_member_alive() {
    let timing = Timing {
        heartbeat_interval: Millis::new(500),
        member_lease_ttl: Millis::new(2_000),
        rebalance_timeout: Millis::new(2_000),
        stale_member_retention: Millis::new(60_000),
    };
    let mut config = config();
    config.settings = Settings::validated(timing, &Sticky).unwrap();
    let deps = Deps {
        indexes: indexes(|| Arc::new(Hanging(MemoryIndex::new()))),
        ..Deps::new(Arc::new(MemoryStore::new()))
    };
    let server = Server::with(deps, config).await;
    server.create("orders", 2).await;
    server.beat("orders", &heartbeat("a", 0, 0)).await;
    let expired = wait_until_async(PATIENCE, || is_empty(&server)).await;
    expired.unwrap();
}

/// Numbers of the indexes are shown: who served, why not the index, and repairs.
#[tokio::test]
async fn what_becomes_of_questions_to_the_indexes_is_counted() {
    let mut config = config();
    config.settings = Settings::default();
    let (redis, server) = start(config).await;
    server.create("orders", 1).await;
    // Its lease is something to wait for.
    server.beat("orders", &heartbeat("a", 0, 0)).await;
    until_indexed(&server).await;
    let mut connection = redis.connection().await.unwrap();
    forget(&mut connection, "{pj:groups*").await;
    let unbuilt = list(&server, "").await;
    assert_eq!(unbuilt.served_by, Some(ListedFrom::Records));
    until_indexed(&server).await;
    let due = "redis_stream_coord_index_read_total{index=\"due\",served_by=\"index\"} 0";
    let is_read = || async {
        let metrics = server.client.metrics().await.unwrap();
        !metrics.lines().any(|line| line == due)
    };
    wait_until_async(PATIENCE, is_read).await.unwrap();
    let metrics = server.client.metrics().await.unwrap();
    let number = |series: &str| -> f64 {
        let series = format!("redis_stream_coord_{series} ");
        let line = metrics.lines().find_map(|line| line.strip_prefix(&series));
        let line = line.unwrap_or_else(|| panic!("{series}"));
        line.parse().unwrap()
    };
    for index in ["due", "groups"] {
        let of = |name: &str, label: &str| number(&format!("{name}{{index=\"{index}\"{label}}}"));
        assert!(of("index_read_total", ",served_by=\"index\"") >= 1.0);
        assert!(of("index_rebuild_total", ",outcome=\"built\"") >= 1.0);
        assert!(of("index_repair_total", "") >= 1.0);
        assert!(of("index_fallback_total", ",reason=\"unbuilt\"") >= 1.0);
        for zero in [
            "index_in_doubt",
            "index_circuit_open",
            "index_write_failed_total",
        ] {
            assert!(of(zero, "").abs() < f64::EPSILON, "{zero}");
        }
        assert!((0.0..60.0).contains(&of("index_age_seconds", "")));
    }
    let fallbacks = number("index_fallback_total{index=\"groups\",reason=\"unbuilt\"}");
    let by_source = number("index_read_total{index=\"groups\",served_by=\"source\"}");
    assert!(by_source >= fallbacks && fallbacks >= 2.0);
}

/// What one coordinator changes, another one shows: it visits what is listed in another version than it has seen.
#[tokio::test]
async fn what_another_coordinator_changed_is_seen_without_a_visit_to_all_groups() {
    let (redis, first) = start(config()).await;
    let second = Server::with(deps(&redis.url()).await, config()).await;
    first.create("orders", 2).await;
    until_indexed(&second).await;
    // Its other groups are visited no more.
    first.beat("orders", &heartbeat("a", 0, 0)).await;
    let line = "redis_stream_coord_members{stream_prefix=\"orders\",consumer_group=\"orders\"} 1";
    let shows = || async {
        let metrics = second.client.metrics().await.unwrap();
        metrics.lines().any(|shown| shown == line)
    };
    let beating = async {
        loop {
            first.beat("orders", &heartbeat("a", 0, 0)).await;
            // waits: as a member does between two heartbeats
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    };
    tokio::select! {
        seen = wait_until_async(PATIENCE, shows) => seen.unwrap(),
        () = beating => {}
    }
}

/// Case P14: groups that wait for nothing are not looked at, however many they are.
#[tokio::test]
async fn p14_the_tick_asks_no_more_with_many_idle_groups_than_with_few() {
    let (redis, server) = start(config()).await;
    let mut connection = redis.connection().await.unwrap();
    let mut counts = Vec::new();
    for total in [5, 100] {
        for number in counts.len() * 5..total {
            server.create(&format!("idle-{number}"), 1).await;
        }
        until_indexed(&server).await;
        // waits: for the task of each group to have looked once
        tokio::time::sleep(Duration::from_secs(2)).await;
        let before = command_counts(&mut connection).await;
        // waits: for as long as is counted
        tokio::time::sleep(Duration::from_secs(2)).await;
        let after = command_counts(&mut connection).await;
        let loads = |counts: &std::collections::BTreeMap<String, u64>| {
            // Each read of a record, known or not, asks for its version so.
            counts.get("hmget").copied().unwrap_or_default()
        };
        counts.push(loads(&after) - loads(&before));
    }
    let (few, many) = (counts[0], counts[1]);
    assert!(
        many < few + few / 2 + 50,
        "{few} loads with 5 groups, {many} with 100"
    );
}
