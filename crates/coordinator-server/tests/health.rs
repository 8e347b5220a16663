//! What health says: of a Redis that works with a loss (case C09), and of periodic work that stands still or breaks.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use coordinator_server::Deps;
use protocol::{Health, HealthStatus};
use redis::aio::MultiplexedConnection;
use store::Eviction;
use store_redis::{RedisConfig, RedisPlane};
use support::moody::{Mood, MoodyStore};
use support::{Server, config, http};
use testkit::{RedisServer, wait_until_async};

const PATIENCE: Duration = Duration::from_secs(20);

async fn set(connection: &mut MultiplexedConnection, name: &str, value: &str) {
    support::redis::ask::<String>(connection, &["CONFIG", "SET", name, value]).await;
}

async fn is_ready(server: &Server) -> u16 {
    let answer = http().get(server.url("/readyz")).send().await.unwrap();
    answer.status().as_u16()
}

fn policies(text: &str) -> Vec<&str> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines
        .filter_map(|line| line.strip_prefix("redis_stream_coord_"))
        .filter(|line| line.contains("_eviction_policy"))
        .collect()
}

async fn shows(server: &Server, wanted: [&str; 2]) {
    let seen = || async {
        let text = server.client.metrics().await.unwrap();
        policies(&text) == wanted
    };
    wait_until_async(PATIENCE, seen)
        .await
        .unwrap_or_else(|_| panic!("{wanted:?}"));
}

#[tokio::test]
async fn c09_an_eviction_policy_that_loses_keys_is_in_health_and_in_the_numbers_until_it_is_mended()
{
    let (redis, server) = support::redis::start(config()).await;
    let mut connection = redis.connection().await.unwrap();
    let health = server.client.health().await.unwrap();
    assert_eq!(
        (health.status, health.redis_detail),
        (HealthStatus::Up, None)
    );
    shows(
        &server,
        [
            "store_eviction_policy{policy=\"noeviction\"} 1",
            "streams_eviction_policy{policy=\"noeviction\"} 1",
        ],
    )
    .await;
    set(&mut connection, "maxmemory-policy", "allkeys-lru").await;
    let health = server.client.health().await.unwrap();
    let statuses = (health.status, health.redis, health.tick_loop);
    let expected = (
        HealthStatus::Degraded,
        HealthStatus::Degraded,
        HealthStatus::Up,
    );
    assert_eq!(statuses, expected);
    let detail = health.redis_detail.unwrap();
    for part in ["allkeys-lru", "noeviction", "groups", "streams"] {
        assert!(detail.contains(part), "{detail}");
    }
    shows(
        &server,
        [
            "store_eviction_policy{policy=\"allkeys-lru\"} 1",
            "streams_eviction_policy{policy=\"allkeys-lru\"} 1",
        ],
    )
    .await;
    assert_eq!(is_ready(&server).await, 200);
    set(&mut connection, "maxmemory-policy", "noeviction").await;
    assert_eq!(
        server.client.health().await.unwrap().status,
        HealthStatus::Up
    );
}

/// Every change is refused then: that is not `UP`.
#[tokio::test]
async fn c09_a_full_redis_is_degraded_and_ready() {
    let (redis, server) = support::redis::start(config()).await;
    let mut connection = redis.connection().await.unwrap();
    set(&mut connection, "maxmemory", "1").await;
    let health = server.client.health().await.unwrap();
    assert_eq!(health.status, HealthStatus::Degraded);
    let detail = health.redis_detail.unwrap();
    assert!(detail.contains("memory limit"), "{detail}");
    assert!(health.redis_latency_ms.is_some(), "it answered");
    assert_eq!(is_ready(&server).await, 200);
    set(&mut connection, "maxmemory", "0").await;
    assert_eq!(
        server.client.health().await.unwrap().status,
        HealthStatus::Up
    );
}

/// What is wrong with both parts for one reason is said once.
#[tokio::test]
async fn c08_a_redis_that_is_gone_is_told_once() {
    let (mut redis, server) = support::redis::start(config()).await;
    redis.kill();
    becomes(&server, |health| {
        let of_loop = health.loop_detail.as_deref();
        health.redis == HealthStatus::Down
            && health.redis_detail.as_deref()
                == Some("the store is unavailable: Redis refuses connections")
            && of_loop == Some("its last round failed for the same reason")
    })
    .await;
}

/// The user of the streams does without the right to ask.
#[tokio::test]
async fn c09_a_policy_that_is_not_known_is_said_and_alarms_nobody() {
    let redis = RedisServer::builder().start().unwrap();
    let mut connection = redis.connection().await.unwrap();
    let words = [
        "ACL", "SETUSER", "limited", "on", ">secret", "~*", "&*", "+@all", "-info",
    ];
    support::redis::ask::<String>(&mut connection, &words).await;
    let url = format!("redis://limited:secret@{}/", redis.address());
    let plane = RedisPlane::connect(RedisConfig::new([url])).await.unwrap();
    let mut deps = support::memory();
    deps.plane = Some(Arc::new(plane));
    let server = Server::with(deps, config()).await;
    let health = server.client.health().await.unwrap();
    assert_eq!(health.status, HealthStatus::Up);
    let detail = health.redis_detail.unwrap();
    assert!(detail.contains("not known"), "{detail}");
    let text = server.client.metrics().await.unwrap();
    assert_eq!(
        policies(&text),
        ["streams_eviction_policy{policy=\"unknown\"} 1"]
    );
}

async fn moody() -> (Arc<MoodyStore>, Server) {
    let store = MoodyStore::new(Some(Eviction::Policy("noeviction".to_owned())));
    let deps = Deps {
        store: store.clone(),
        feed: store.store.clone(),
        plane: None,
        indexes: None,
    };
    let server = Server::with(deps, config()).await;
    becomes(&server, |health| {
        health.status == HealthStatus::Up && health.last_tick_at.is_some()
    })
    .await;
    (store, server)
}

async fn becomes(server: &Server, wanted: impl Fn(&Health) -> bool) {
    let seen = || async { wanted(&server.client.health().await.unwrap()) };
    wait_until_async(PATIENCE, seen).await.unwrap();
}

fn is_degraded_by(health: &Health, reason: &str) -> bool {
    let detail = health.loop_detail.as_deref().unwrap_or_default();
    let is_told = detail.contains(reason);
    is_told && health.tick_loop == HealthStatus::Degraded && health.redis == HealthStatus::Up
}

#[tokio::test]
async fn periodic_work_that_stands_still_shows_in_health() {
    let (store, server) = moody().await;
    store.mood.send_replace(Mood::Waits);
    becomes(&server, |health| is_degraded_by(health, "stood still")).await;
    store.mood.send_replace(Mood::Works);
    becomes(&server, |health| health.status == HealthStatus::Up).await;
}

#[tokio::test]
async fn periodic_work_that_panics_is_started_again_and_told() {
    let (store, server) = moody().await;
    store.mood.send_replace(Mood::Panics);
    becomes(&server, |health| is_degraded_by(health, "the tick broke")).await;
    store.mood.send_replace(Mood::Works);
    let last = server.client.health().await.unwrap().last_tick_at;
    becomes(&server, |health| health.last_tick_at > last).await;
}
