//! The numbers: those of the page and no others, gone with what they are about, unknown where they are, and no question to Redis for a scrape.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use coordinator_core::settings::{Settings, Timing};
use coordinator_core::time::Millis;
use protocol::{HeartbeatRequest, HeartbeatStatus, ScaleRequest, ShardId, ShardProgress};
use serde_json::Value;
use support::{Server, config, heartbeat, obey};
use testkit::{RedisServer, wait_until_async};

const PATIENCE: Duration = Duration::from_secs(20);

/// Names, without what all begin with, and the names of the labels of each.
type Names = BTreeMap<String, BTreeSet<String>>;

fn in_backticks(text: &str) -> Vec<String> {
    text.split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// The table of the page.
fn promised() -> Names {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operations.md");
    let page = std::fs::read_to_string(page).unwrap();
    let section = page.split("### Metrics\n").nth(1).unwrap();
    let section = section.split("\n### ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    let mut names = Names::new();
    for row in rows {
        let cells: Vec<&str> = row.split('|').collect();
        for name in in_backticks(cells[1]) {
            names.insert(name, in_backticks(cells[2]).into_iter().collect());
        }
    }
    names
}

/// The series of a scrape: name, labels, value.
fn series(text: &str) -> Vec<(String, BTreeMap<String, String>, f64)> {
    let lines = text
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty());
    let parse = |line: &str| {
        let (head, value) = line.rsplit_once(' ').unwrap();
        let (name, labels) = head.split_once('{').unwrap_or((head, "}"));
        let name = name.strip_prefix("redis_stream_coord_").unwrap().to_owned();
        let labels = labels.strip_suffix('}').unwrap().split("\",");
        let labels = labels.filter(|label| !label.is_empty()).map(|label| {
            let (name, value) = label.split_once("=\"").unwrap();
            (name.to_owned(), value.trim_end_matches('"').to_owned())
        });
        (name, labels.collect(), value.parse().unwrap())
    };
    lines.map(parse).collect()
}

fn shown(text: &str) -> Names {
    let histograms: Vec<String> = text
        .lines()
        .filter_map(|line| {
            line.strip_prefix("# TYPE redis_stream_coord_")?
                .strip_suffix(" histogram")
        })
        .map(str::to_owned)
        .collect();
    let mut names = Names::new();
    for (name, labels, _) in series(text) {
        let of = |histogram: &&String| {
            let part = name.strip_prefix(histogram.as_str());
            matches!(part, Some("_bucket" | "_sum" | "_count"))
        };
        let name = histograms.iter().find(of).unwrap_or(&name).clone();
        let labels = labels.into_keys().filter(|label| label != "le");
        names.entry(name).or_default().extend(labels);
    }
    names
}

fn value(text: &str, name: &str, wanted: &[(&str, &str)]) -> Option<f64> {
    let fits = |labels: &BTreeMap<String, String>| {
        wanted
            .iter()
            .all(|(name, value)| labels.get(*name).map(String::as_str) == Some(*value))
    };
    let mut all = series(text).into_iter();
    let (_, _, value) = all.find(|(found, labels, _)| found == name && fits(labels))?;
    Some(value)
}

fn working(request: HeartbeatRequest) -> HeartbeatRequest {
    let progress = |shard: &ShardId| ShardProgress {
        shard: *shard,
        stream_key: format!("orders:{}", shard.shard_index),
        last_delivered_id: Some("5-1".to_owned()),
        last_acked_id: Some("4-2".to_owned()),
        pending_count: 1,
        updated_at: Some("2026-01-31T10:15:30.123Z".parse().unwrap()),
    };
    HeartbeatRequest {
        shard_progress: request.owned_shards.iter().map(progress).collect(),
        ..request
    }
}

async fn scrape(server: &Server) -> String {
    server.client.metrics().await.unwrap()
}

/// A member that has joined and owns what it was given.
async fn settle(server: &Server, member: &str) -> HeartbeatRequest {
    let joined = server.beat("orders", &heartbeat(member, 0, 0)).await;
    let request = working(obey(&joined));
    let answer = server.beat("orders", &request).await;
    working(obey(&answer))
}

fn to(target: u32) -> ScaleRequest {
    ScaleRequest {
        target_shard_count: target,
        requested_by: "test".to_owned(),
        reason: "to see".to_owned(),
        deprecated_after: None,
    }
}

/// A coordinator that shows all there is, and what it shows; its Redis lives as long.
async fn with_everything_shown(expected: &Names) -> (RedisServer, Server, String) {
    let mut config = config();
    config.shard_sampling_interval = Duration::from_millis(200);
    config.monitoring_cache = Duration::from_millis(10);
    let (redis, server) = support::redis::start(config).await;
    server.create("orders", 2).await;
    let mut connection = redis.connection().await.unwrap();
    for shard in ["orders:0", "orders:1"] {
        let words = ["XADD", shard, "7-3", "field", "value"];
        support::redis::ask::<String>(&mut connection, &words).await;
    }
    let request = tokio::sync::Mutex::new(settle(&server, "m").await);
    let routing = server.client.producer_routing("orders", "orders").await;
    routing.unwrap();
    server.client.scale_stream("orders", &to(1)).await.unwrap();
    let refused = server.client.scale_stream("orders", &to(5)).await;
    refused.unwrap_err();
    let complete = || async {
        let mut last = request.lock().await;
        let answer = server.beat("orders", &last).await;
        *last = working(obey(&answer));
        let text = scrape(&server).await;
        // Migrations are looked at, and shards are sampled, in their own time.
        let is_open =
            value(&text, "migration_shards_open", &[("condition", "UNREAD")]) == Some(1.0);
        let is_sampled = value(&text, "shard_lag", &[("shard_index", "1")]) == Some(1.0);
        let is_reported = value(&text, "member_active_workers", &[("member_id", "m")]).is_some();
        is_open && is_sampled && is_reported && shown(&text) == *expected
    };
    let outcome = wait_until_async(PATIENCE, complete).await;
    let text = scrape(&server).await;
    assert_eq!(shown(&text), *expected, "{outcome:?}");
    (redis, server, text)
}

/// What existing dashboards go by: by its name the type and the labels of each metric.
fn agreed() -> BTreeMap<String, (String, BTreeSet<String>)> {
    let text = include_str!("../../../fixtures/metrics.json");
    let fixture: Value = serde_json::from_str(text).unwrap();
    assert_eq!(fixture["prefix"], "redis_stream_coord_");
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let metrics = fixture["metrics"].as_array().unwrap().iter().map(|metric| {
        let labels = metric["labels"].as_array().unwrap().iter().map(word);
        let described = (word(&metric["type"]), labels.collect());
        (word(&metric["name"]), described)
    });
    metrics.collect()
}

/// What is shown beyond that.
const OURS: [&str; 17] = [
    "audit_failed_total",
    "index_age_seconds",
    "index_circuit_open",
    "index_fallback_total",
    "index_in_doubt",
    "index_read_total",
    "index_rebuild_total",
    "index_repair_total",
    "index_write_failed_total",
    "migration_shards_open",
    "migration_state",
    "migration_state_age_seconds",
    "ownership_violation_total",
    "shard_lag_unknown",
    "shard_sample_age_seconds",
    "store_eviction_policy",
    "streams_eviction_policy",
];

/// In both directions: what is agreed is shown as agreed, and what is shown is agreed or ours.
#[tokio::test]
async fn names_types_and_labels_are_those_that_were_agreed_and_ours() {
    let (_redis, _server, text) = with_everything_shown(&promised()).await;
    let types = text.lines().filter_map(|line| {
        let (name, kind) = line
            .strip_prefix("# TYPE redis_stream_coord_")?
            .split_once(' ')?;
        Some((name.to_owned(), kind.to_owned()))
    });
    let types: BTreeMap<String, String> = types.collect();
    let shown = shown(&text).into_iter().map(|(name, labels)| {
        let kind = types[&name].clone();
        (name, (kind, labels))
    });
    let (ours, rest): (BTreeMap<_, _>, BTreeMap<_, _>) =
        shown.partition(|(name, _)| OURS.contains(&name.as_str()));
    assert_eq!(rest, agreed());
    assert_eq!(ours.into_keys().collect::<Vec<_>>(), OURS);
}

#[tokio::test]
async fn the_numbers_and_labels_are_those_of_the_page() {
    let (_redis, _server, text) = with_everything_shown(&promised()).await;
    let first = [
        ("stream_prefix", "orders"),
        ("consumer_group", "orders"),
        ("shard_index", "1"),
    ];
    for (name, expected) in [
        ("shard_stream_length", 1.0),
        ("shard_pending", 0.0),
        ("shard_lag", 1.0),
        ("shard_lag_unknown", 0.0),
        ("shard_last_record_ms", 7.0),
        ("shard_last_record_seq", 3.0),
        ("shard_group_last_delivered_ms", 0.0),
        ("shard_consumer_last_acked_seq", 2.0),
        ("consumer_shard_last_delivered_ms", 5.0),
        ("consumer_shard_pending", 1.0),
        (
            "consumer_shard_progress_updated_at_seconds",
            1_769_854_530.123,
        ),
    ] {
        assert_eq!(value(&text, name, &first), Some(expected), "{name}");
    }
    assert_eq!(
        value(&text, "migration_state", &[("state", "DRAINING")]),
        Some(1.0)
    );
    assert_eq!(
        value(&text, "migration_shards_open", &[("condition", "UNREAD")]),
        Some(1.0)
    );
    assert_eq!(
        value(&text, "migration_shards_open", &[("condition", "PENDING")]),
        Some(0.0)
    );
    assert_eq!(
        value(&text, "member_active_workers", &[("member_id", "m")]),
        Some(0.0)
    );
    assert!(
        series(&text).iter().all(|(_, _, value)| *value >= 0.0),
        "nothing is negative"
    );
    let heads = text.lines().filter(|line| line.starts_with("# TYPE"));
    let once: BTreeSet<&str> = heads.clone().collect();
    assert_eq!(once.len(), heads.count());
}

/// Case C25: an unknown lag is no lag of 0. Case C04: the other shard is told of.
#[tokio::test]
async fn c25_c04_what_is_not_known_has_no_series() {
    let mut config = config();
    config.shard_sampling_interval = Duration::from_millis(100);
    // What is told again for longer is too old for the numbers.
    config.monitoring_cache = Duration::from_millis(10);
    let (redis, server) = support::redis::start(config).await;
    server.create("orders", 2).await;
    let mut connection = redis.connection().await.unwrap();
    support::redis::ask::<i64>(&mut connection, &["DEL", "orders:1"]).await;
    support::redis::ask::<String>(&mut connection, &["SET", "orders:1", "no stream"]).await;
    let lag = |text: &str, shard: &str| {
        let shard = [("shard_index", shard)];
        let names = [
            "shard_lag",
            "shard_lag_unknown",
            "shard_stream_length",
            "shard_pending",
        ];
        names.map(|name| value(text, name, &shard))
    };
    let seen = || async {
        let text = scrape(&server).await;
        lag(&text, "0") == [Some(0.0); 4] && lag(&text, "1") == [None, Some(1.0), None, None]
    };
    wait_until_async(PATIENCE, seen).await.unwrap();
}

#[tokio::test]
async fn what_is_gone_has_no_series_any_more() {
    let mut config = config();
    config.shard_sampling_interval = Duration::from_millis(100);
    config.routing_lease = Duration::from_millis(1);
    let (_redis, server) = support::redis::start(config).await;
    server.create("orders", 2).await;
    settle(&server, "m").await;
    let has = |text: &str, label: &str, wanted: &str| {
        let all = series(text);
        all.iter()
            .any(|(_, labels, _)| labels.get(label).is_some_and(|value| value == wanted))
    };
    let becomes = async |label: &str, wanted: &str, there: bool| {
        let seen = || async { has(&scrape(&server).await, label, wanted) == there };
        wait_until_async(PATIENCE, seen)
            .await
            .unwrap_or_else(|_| panic!("{label}={wanted} is {there}"));
    };
    becomes("member_id", "m", true).await;
    becomes("shard_index", "1", true).await;
    // It is heard no more, and its lease ends.
    becomes("member_id", "m", false).await;
    assert_eq!(
        value(&scrape(&server).await, "member_expired_total", &[]),
        Some(1.0)
    );
    // Nothing is in the shard that leaves.
    server.client.scale_stream("orders", &to(1)).await.unwrap();
    becomes("shard_index", "1", false).await;
    becomes("shard_index", "0", true).await;
    let delete = protocol::DeleteGroupRequest {
        requested_by: "test".to_owned(),
        reason: "over".to_owned(),
        force: true,
    };
    server
        .client
        .delete_group("orders", "orders", &delete)
        .await
        .unwrap();
    becomes("stream_prefix", "orders", false).await;
}

/// Between two ticks of the coordinator: not one command of it, for as many scrapes as fit.
#[tokio::test]
async fn a_scrape_asks_redis_nothing() {
    let timing = Timing {
        heartbeat_interval: Millis::new(3_000),
        member_lease_ttl: Millis::new(60_000),
        rebalance_timeout: Millis::new(60_000),
        stale_member_retention: Millis::new(60_000),
    };
    let mut config = config();
    config.settings = Settings::validated(timing, &coordinator_core::assign::Sticky).unwrap();
    config.shard_sampling_interval = Duration::from_secs(3_600);
    let (redis, server) = support::redis::start(config).await;
    server.create("orders", 4).await;
    settle(&server, "m").await;
    let mut connection = redis.connection().await.unwrap();
    let mut quiet = false;
    for _ in 0..200 {
        let before = support::redis::command_counts(&mut connection).await;
        for _ in 0..5 {
            assert!(scrape(&server).await.contains("member_id=\"m\""));
        }
        let mut after = support::redis::command_counts(&mut connection).await;
        // The question for the counts is one itself.
        *after.get_mut("info").unwrap() -= 1;
        quiet |= before == after;
    }
    assert!(quiet, "every five scrapes cost a command");
}

/// Anybody may ask for any name, and with any method: none of that makes a series.
#[tokio::test]
async fn names_that_are_no_groups_and_methods_that_are_none_make_no_series() {
    let server = Server::start().await;
    server.create("orders", 2).await;
    settle(&server, "m").await;
    let routing = |stream: &'static str| server.client.producer_routing(stream, stream);
    routing("orders").await.unwrap();
    server.client.scale_stream("orders", &to(2)).await.unwrap();
    for name in ["nobody-1", "nobody-2"] {
        routing(name).await.unwrap_err();
        server.client.scale_stream(name, &to(3)).await.unwrap_err();
        let request = heartbeat("m", 0, 0);
        let answer = server.client.heartbeat(name, name, &request).await;
        assert_eq!(answer.unwrap().status, HeartbeatStatus::UnknownMemberId);
        let path = format!("/{name}");
        let method = name.to_uppercase();
        let answer = server.request(&method, &path).send().await.unwrap();
        assert!(answer.status().is_client_error());
    }
    let of_group = |text: &str, name: &str, more: &[(&str, &str)]| {
        let group = [("stream_prefix", "orders"), ("consumer_group", "orders")];
        value(text, name, &[&group, more].concat())
    };
    let counted = || async {
        let text = scrape(&server).await;
        let routings = |status: &str| {
            value(
                &text,
                "producer_routing_request_total",
                &[("status", status)],
            )
        };
        of_group(&text, "heartbeat_total", &[("status", "OK")]) >= Some(1.0)
            && of_group(
                &text,
                "producer_routing_request_total",
                &[("status", "200")],
            ) == Some(1.0)
            && of_group(&text, "scale_request_total", &[]) == Some(1.0)
            && routings("404") == Some(2.0)
            && value(&text, "scale_request_failed_total", &[]) == Some(2.0)
            && text.contains("method=\"OTHER\"")
    };
    let outcome = wait_until_async(PATIENCE, counted).await;
    let text = scrape(&server).await;
    outcome.unwrap_or_else(|_| panic!("{text}"));
    assert!(!text.to_lowercase().contains("nobody"), "{text}");
}

/// Who reads a number finds its route in the document, by the same name.
#[tokio::test]
async fn routes_are_called_as_in_the_document() {
    let server = Server::start().await;
    server.create("orders", 2).await;
    settle(&server, "m").await;
    server.client.group("orders", "orders").await.unwrap();
    let document: Value = serde_json::from_str(include_str!("snapshots/openapi.json")).unwrap();
    let paths = document["paths"].as_object().unwrap();
    let text = scrape(&server).await;
    let routes: BTreeSet<&str> = text
        .lines()
        .filter_map(|line| line.split_once("route=\"")?.1.split_once('"'))
        .map(|(route, _)| route)
        .filter(|route| *route != "unknown")
        .collect();
    assert!(routes.iter().any(|it| it.contains('{')), "{routes:?}");
    for route in routes {
        assert!(paths.contains_key(route), "{route}");
    }
}
