//! Rows for dashboards, page by page, by an index on a real Redis and by the records.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;
use std::time::Duration;

use coordinator_core::settings::Settings;
use coordinator_server::Deps;
use serde_json::Value;
use store::MemoryStore;
use support::indexes::{forget, until_indexed};
use support::redis::{ask, start};
use support::{Server, config, heartbeat};

/// A page of rows for dashboards: who served it, the rows, and where the next one begins.
async fn rows(server: &Server, path: &str) -> (String, Vec<Value>, Option<String>) {
    let path = format!("/coord/v1/monitoring/grafana/{path}");
    let request = server.request("GET", &path);
    let answer = request.basic_auth("admin", Some("admin")).send().await;
    let answer = answer.unwrap();
    assert_eq!(answer.status(), 200, "{path}");
    let header = |name: &str| {
        let value = answer.headers().get(name)?;
        Some(value.to_str().unwrap().to_owned())
    };
    let (served_by, next) = (header("x-served-by").unwrap(), header("x-next-cursor"));
    let has_age = header("x-index-age").is_some();
    assert_eq!(served_by == "INDEX", has_age, "{path}");
    (served_by, answer.json().await.unwrap(), next)
}

/// All pages of so many rows, none of them longer, and who served them.
async fn paged(server: &Server, path: &str, limit: usize) -> (String, Vec<Value>) {
    let first = format!("{path}?limit={limit}");
    let (served_by, mut all, mut next) = rows(server, &first).await;
    assert!(all.len() <= limit);
    while let Some(cursor) = next {
        let (served, more, behind) = rows(server, &format!("{first}&cursor={cursor}")).await;
        assert_eq!(served, served_by);
        assert!(more.len() <= limit);
        all.extend(more);
        next = behind;
    }
    (served_by, all)
}

async fn dashboards_have_pages(server: &Server, served_by: &str) {
    let kinds = [
        ("groups", 9),
        ("shards", 27),
        ("assignments", 27),
        ("members", 1),
        ("options/streams", 9),
        ("options/consumer-groups", 9),
        ("options/shards", 3),
    ];
    for (kind, count) in kinds {
        let (served, all, next) = rows(server, kind).await;
        assert_eq!(
            (served.as_str(), all.len(), next),
            (served_by, count, None),
            "{kind}"
        );
        // Within groups, at their ends, and all at once.
        for limit in [1, 4, 9, 100] {
            let (served, told) = match kind {
                "options/shards" => continue,
                kind => paged(server, kind, limit).await,
            };
            assert_eq!(served, served_by, "{kind} by {limit}");
            let same = told.len() == all.len() && all.iter().all(|row| told.contains(row));
            assert!(same, "{kind} by {limit}");
        }
    }
    let (_, one, next) = rows(server, "shards?streamPrefix=orders-3&limit=2").await;
    assert_eq!(one.len(), 2);
    let cursor = next.unwrap();
    let path = format!("shards?streamPrefix=orders-3&limit=2&cursor={cursor}");
    let (_, rest, next) = rows(server, &path).await;
    let rest: Vec<&Value> = rest.iter().map(|row| &row["shardIndex"]).collect();
    assert_eq!((rest, next), (vec![&Value::from(2)], None));
    let path = "/coord/v1/monitoring/grafana/groups?cursor=nonsense";
    let request = server.request("GET", path);
    let answer = request.basic_auth("admin", Some("admin")).send().await;
    assert_eq!(answer.unwrap().status(), 400);
}

async fn nine_groups(server: &Server) {
    for number in 0..9 {
        server.create(&format!("orders-{number}"), 3).await;
    }
    server.beat("orders-4", &heartbeat("a", 0, 0)).await;
}

#[tokio::test]
async fn dashboards_have_pages_by_the_index_and_by_the_records_when_that_is_lost() {
    let mut config = config();
    config.shard_sampling_interval = Duration::ZERO;
    config.monitoring_cache = Duration::from_secs(60);
    // Nothing changes while it is read.
    config.settings = Settings::default();
    let (redis, server) = start(config).await;
    nine_groups(&server).await;
    until_indexed(&server).await;
    dashboards_have_pages(&server, "INDEX").await;
    let mut connection = redis.connection().await.unwrap();
    forget(&mut connection, "{pj:groups*").await;
    let (served_by, rows, _) = rows(&server, "groups").await;
    assert_eq!((served_by.as_str(), rows.len()), ("RECORDS", 9));
}

#[tokio::test]
async fn dashboards_have_pages_without_an_index() {
    let mut config = config();
    config.settings = Settings::default();
    let server = Server::with(Deps::new(Arc::new(MemoryStore::new())), config).await;
    nine_groups(&server).await;
    dashboards_have_pages(&server, "RECORDS").await;
}

/// A member that comes or goes between two pages moves no other one from one to the other.
#[tokio::test]
async fn a_row_that_comes_between_two_pages_moves_no_other() {
    let mut config = config();
    config.settings = Settings::default();
    config.monitoring_cache = Duration::ZERO;
    let server = Server::with(Deps::new(Arc::new(MemoryStore::new())), config).await;
    server.create("orders", 4).await;
    for member in ["a", "b", "c", "d"] {
        server.beat("orders", &heartbeat(member, 0, 0)).await;
    }
    let names = |rows: Vec<Value>| -> Vec<String> {
        let names = rows.iter().map(|row| row["memberId"].as_str().unwrap());
        names.map(str::to_owned).collect()
    };
    let (_, first, next) = rows(&server, "members?limit=2").await;
    assert_eq!(names(first), ["a", "b"]);
    server.beat("orders", &heartbeat("0", 0, 0)).await;
    let path = format!("members?limit=2&cursor={}", next.unwrap());
    let (_, second, next) = rows(&server, &path).await;
    assert_eq!(
        (names(second), next),
        (vec!["c".to_owned(), "d".to_owned()], None)
    );
}

/// A page of groups is read in the index, and no record for it, however many there are.
#[tokio::test]
async fn a_page_of_a_dashboard_reads_no_records() {
    let mut config = config();
    config.shard_sampling_interval = Duration::ZERO;
    let (redis, server) = start(config).await;
    nine_groups(&server).await;
    until_indexed(&server).await;
    let slow = ["CONFIG", "SET", "slowlog-log-slower-than", "0"];
    let mut connection = redis.connection().await.unwrap();
    ask::<String>(&mut connection, &slow).await;
    ask::<String>(&mut connection, &["SLOWLOG", "RESET"]).await;
    for path in ["groups?limit=4", "options/streams?limit=4"] {
        assert_eq!(rows(&server, path).await.0, "INDEX");
    }
    let log: redis::Value = ask(&mut connection, &["SLOWLOG", "GET", "1000"]).await;
    let log = format!("{log:?}");
    assert!(log.contains("{pj:groups"), "the index was asked");
    assert!(!log.contains("orders-8:orders-8}:metadata"), "{log}");
}
