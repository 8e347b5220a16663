//! What operators and dashboards read, on a real Redis: what is broken has nulls and a reason, what is asked for at once is read once.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use futures_util::future::join_all;
use protocol::{Consumption, HeartbeatRequest, MemberState, Offsets, ShardId, ShardProgress};
use redis::aio::MultiplexedConnection;
use reqwest::Response;
use serde_json::{Value, json};
use support::redis::ask;
use support::{Server, config, heartbeat, obey};
use testkit::RedisServer;

const OFFSETS: &str = "/monitoring/streams/orders/groups/orders/offsets";

async fn get(server: &Server, path: &str) -> Response {
    let request = server.request("GET", &format!("/coord/v1{path}"));
    request
        .basic_auth("admin", Some("admin"))
        .send()
        .await
        .unwrap()
}

async fn rows(server: &Server, path: &str) -> Vec<Value> {
    let answer = get(server, &format!("/monitoring/grafana/{path}")).await;
    assert_eq!(answer.status(), 200, "{path}");
    let age: u64 = answer.headers()["age"].to_str().unwrap().parse().unwrap();
    assert!(age < 60, "{age}");
    answer.json().await.unwrap()
}

/// Everything is read anew for each question.
async fn anew() -> (RedisServer, Server, MultiplexedConnection) {
    let mut config = config();
    config.monitoring_cache = Duration::ZERO;
    config.shard_sampling_interval = Duration::ZERO;
    let (redis, server) = support::redis::start(config).await;
    let connection = redis.connection().await.unwrap();
    (redis, server, connection)
}

async fn add(connection: &mut MultiplexedConnection, shard: &str, id: &str) {
    let words = ["XADD", shard, id, "id", "o-1", "secret", "x"];
    ask::<String>(connection, &words).await;
}

fn working(request: HeartbeatRequest) -> HeartbeatRequest {
    let progress = |shard: &ShardId| ShardProgress {
        shard: *shard,
        stream_key: format!("orders:{}", shard.shard_index),
        last_delivered_id: Some("5-1".to_owned()),
        last_acked_id: Some("4-2".to_owned()),
        pending_count: 1,
        updated_at: None,
    };
    HeartbeatRequest {
        shard_progress: request.owned_shards.iter().rev().map(progress).collect(),
        ..request
    }
}

async fn settle(server: &Server, stream: &str, member: &str) {
    let joined = server.beat(stream, &heartbeat(member, 0, 0)).await;
    server.beat(stream, &working(obey(&joined))).await;
}

/// Of a part of the shards no sum is told: it would look like one of all.
#[tokio::test]
async fn c04_a_broken_stream_has_nulls_and_a_reason_and_the_rest_is_answered() {
    let (_redis, server, mut connection) = anew().await;
    server.create("orders", 3).await;
    for shard in ["orders:0", "orders:2"] {
        add(&mut connection, shard, "1-1").await;
    }
    let offsets = async || get(&server, OFFSETS).await.json::<Offsets>().await.unwrap();
    let whole = offsets().await;
    assert_eq!(
        (
            whole.total_stream_length,
            whole.total_pending_count,
            whole.total_lag
        ),
        (Some(2), Some(0), Some(2))
    );
    assert!(whole.memory_usage_known && whole.total_memory_usage_bytes.is_some());
    ask::<i64>(&mut connection, &["DEL", "orders:1"]).await;
    ask::<String>(&mut connection, &["SET", "orders:1", "no stream"]).await;
    let broken = offsets().await;
    let lengths: Vec<_> = broken
        .shards
        .iter()
        .map(|shard| shard.stream_length)
        .collect();
    assert_eq!(lengths, [Some(1), None, Some(1)]);
    let problems: Vec<_> = broken
        .shards
        .iter()
        .map(|shard| shard.problem.is_some())
        .collect();
    assert_eq!(problems, [false, true, false]);
    let sums = [
        broken.total_stream_length,
        broken.total_pending_count,
        broken.total_lag,
        broken.total_memory_usage_bytes,
    ];
    assert_eq!(sums, [None; 4]);
    assert!(!broken.memory_usage_known);
    let shards = rows(&server, "shards?streamPrefix=orders&consumerGroup=orders").await;
    let seen: Vec<_> = shards
        .iter()
        .map(|row| (&row["streamLength"], row["problem"].is_string()))
        .collect();
    assert_eq!(
        seen,
        [(&json!(1), false), (&json!(null), true), (&json!(1), false)]
    );
    let groups = rows(&server, "groups").await;
    assert_eq!(groups[0]["totalLag"], json!(null));
    assert_eq!(groups[0]["shardCount"], json!(3));
    let messages = rows(&server, "messages").await;
    let told: Vec<_> = messages
        .iter()
        .map(|row| {
            (
                &row["streamKey"],
                &row["recordId"],
                row["problem"].is_string(),
            )
        })
        .collect();
    let (none, id) = (&json!(null), &json!("1-1"));
    let key = |shard| json!(format!("orders:{shard}"));
    assert_eq!(
        told,
        [
            (&key(1), none, true),
            (&key(0), id, false),
            (&key(2), id, false)
        ],
        "what can be read is told, and what can't be"
    );
    // Nothing was to be made here; and where nothing can be read at all there are no rows to tell that with.
    for shard in ["orders:0", "orders:2"] {
        ask::<String>(&mut connection, &["SET", shard, "no stream"]).await;
    }
    let page = "/monitoring/streams/orders/groups/orders/shards/1/messages";
    for path in [page, "/monitoring/grafana/messages"] {
        let answer = get(&server, path).await;
        assert!(!answer.headers().contains_key("retry-after"), "{path}");
        let (status, code, message) = support::refusal(answer).await;
        assert_eq!(
            (status, code.as_str()),
            (503, "STORE_UNAVAILABLE"),
            "{path}"
        );
        assert!(message.contains("orders:"), "{message}");
    }
}

/// How many bytes a server has sent so far.
async fn sent(connection: &mut MultiplexedConnection) -> usize {
    let text: String = ask(connection, &["INFO", "stats"]).await;
    let name = "total_net_output_bytes:";
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    line.unwrap().parse().unwrap()
}

/// However large records are: of each question only some megabytes are read.
#[tokio::test]
async fn large_records_come_in_pages_of_so_many_bytes_and_none_is_left_out() {
    const MIB: usize = 1 << 20;
    let (_redis, server, mut connection) = anew().await;
    server.create("orders", 1).await;
    let large = "x".repeat(200 << 10);
    for number in 1..=60 {
        let id = format!("{number}-1");
        ask::<String>(&mut connection, &["XADD", "orders:0", &id, "x", &large]).await;
    }
    let larger = "y".repeat(MIB);
    let words = ["XADD", "orders:0", "61-1", "a", "1", "y", &larger, "b", "2"];
    ask::<String>(&mut connection, &words).await;
    let path = "/monitoring/streams/orders/groups/orders/shards/0/messages?limit=1000";
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    while seen.len() < 100 {
        let before = sent(&mut connection).await;
        let answer = get(
            &server,
            &format!("{path}&direction=FORWARD&cursor={cursor}"),
        )
        .await;
        assert!(sent(&mut connection).await - before < 6 * MIB);
        let text = answer.text().await.unwrap();
        assert!(text.len() < 5 * MIB, "{} bytes", text.len());
        let page: protocol::MessagePage = serde_json::from_str(&text).unwrap();
        seen.extend(page.records);
        match page.next_cursor {
            Some(next) => cursor = next,
            None => break,
        }
    }
    let ids: Vec<&str> = seen
        .iter()
        .map(|record| record.record_id.as_str())
        .collect();
    let expected: Vec<String> = (1..=61).map(|number| format!("{number}-1")).collect();
    assert_eq!(ids, expected, "each once, and then the end");
    assert_eq!(seen[0].fields[0].value.as_deref(), Some(large.as_str()));
    let last: Vec<_> = seen[60]
        .fields
        .iter()
        .map(|field| {
            (
                field.name.as_str(),
                field.value.as_deref(),
                field.value_bytes,
            )
        })
        .collect();
    let whole = [
        ("a", Some("1"), 1),
        ("y", None, MIB as u64),
        ("b", Some("2"), 1),
    ];
    assert_eq!(last, whole);
    for (fields, most) in [("true", 5 * MIB), ("false", MIB)] {
        let before = sent(&mut connection).await;
        let path = format!("/monitoring/grafana/messages?limit=1000&includeFields={fields}");
        let text = get(&server, &path).await.text().await.unwrap();
        assert!(sent(&mut connection).await - before < 12 * MIB);
        assert!(text.len() < most, "{} bytes", text.len());
        let rows: Vec<Value> = serde_json::from_str(&text).unwrap();
        assert_eq!(rows[0]["recordId"], "61-1");
        assert_eq!(rows[0]["fieldsJson"].is_string(), fields == "true");
    }
}

/// As many as are asked for, whatever the step in which they are read, and the newest of all shards.
#[tokio::test]
async fn small_records_fill_the_page_that_is_asked_for() {
    let (_redis, server, mut connection) = anew().await;
    server.create("orders", 3).await;
    for number in 1..=120 {
        let shard = format!("orders:{}", number % 3);
        add(&mut connection, &shard, &format!("{number}-1")).await;
    }
    for (limit, next) in [
        (1, Some("120-1")),
        (8, Some("99-1")),
        (39, Some("6-1")),
        (40, None),
    ] {
        let path = "/monitoring/streams/orders/groups/orders/shards/0/messages";
        let answer = get(&server, &format!("{path}?limit={limit}")).await;
        let page: protocol::MessagePage = answer.json().await.unwrap();
        assert_eq!(page.records.len(), limit);
        assert_eq!(page.next_cursor.as_deref(), next, "{limit}");
    }
    let newest = rows(&server, "messages?limit=100").await;
    let ids: Vec<_> = newest.iter().map(|row| row["recordId"].clone()).collect();
    let expected: Vec<_> = (21..=120)
        .rev()
        .map(|number| format!("{number}-1"))
        .collect();
    assert_eq!(ids, expected);
}

#[tokio::test]
async fn fifty_dashboards_cost_what_one_costs_and_are_told_how_old_it_is() {
    let mut config = config();
    config.monitoring_cache = Duration::from_secs(30);
    config.shard_sampling_interval = Duration::ZERO;
    let (redis, server) = support::redis::start(config).await;
    server.create("orders", 4).await;
    let mut connection = redis.connection().await.unwrap();
    let reads = async |connection: &mut MultiplexedConnection| {
        let counts = support::redis::command_counts(connection).await;
        counts.get("memory|usage").copied().unwrap_or_default()
    };
    let before = reads(&mut connection).await;
    let asked = (0..50).map(|_| get(&server, OFFSETS));
    let answers = join_all(asked).await;
    let mut read_at = Vec::new();
    for answer in answers {
        let offsets: Offsets = answer.json().await.unwrap();
        assert!(offsets.age_ms.unwrap() < 30_000);
        read_at.push(offsets.as_of.unwrap());
    }
    read_at.dedup();
    assert_eq!(read_at.len(), 1);
    let shards = rows(&server, "shards?streamPrefix=orders&consumerGroup=orders").await;
    assert_eq!(shards.len(), 4);
    assert_eq!(
        reads(&mut connection).await - before,
        4,
        "once for each shard"
    );
}

#[tokio::test]
async fn consumption_is_what_members_report_in_the_order_of_members_and_shards() {
    let (_redis, server, _) = anew().await;
    server.create("orders", 3).await;
    let path = "/monitoring/streams/orders/groups/orders/consumption";
    let consumption = async || {
        get(&server, path)
            .await
            .json::<Consumption>()
            .await
            .unwrap()
    };
    assert_eq!(consumption().await.progress, []);
    settle(&server, "orders", "m").await;
    let found = consumption().await;
    assert!(found.as_of.is_some() && found.age_ms.is_some());
    let told: Vec<_> = found
        .progress
        .iter()
        .map(|row| {
            (
                row.member_id.as_str(),
                row.member_state,
                row.progress.shard.shard_index,
            )
        })
        .collect();
    let row = |shard| ("m", MemberState::Active, shard);
    assert_eq!(told, [row(0), row(1), row(2)]);
    assert_eq!(
        found.progress[0].progress.last_acked_id.as_deref(),
        Some("4-2")
    );
    let none = get(&server, "/monitoring/streams/none/groups/none/consumption").await;
    assert_eq!(support::refusal(none).await.1, "GROUP_NOT_FOUND");
}

#[tokio::test]
async fn grafana_gets_flat_rows_of_what_it_asks_for() {
    let (_redis, server, mut connection) = anew().await;
    for (stream, shards) in [("orders", 3), ("payments", 2), ("returns", 1)] {
        server.create(stream, shards).await;
    }
    settle(&server, "orders", "m-1").await;
    settle(&server, "payments", "m-2").await;
    add(&mut connection, "orders:0", "1769854530123-0").await;
    add(&mut connection, "payments:1", "1769854530124-0").await;
    let of = |rows: &[Value], field: &str| -> Vec<Value> {
        rows.iter().map(|row| row[field].clone()).collect()
    };

    let all = rows(
        &server,
        "groups?streamPrefix=All&consumerGroup=$__all&from=now-1h",
    )
    .await;
    assert_eq!(of(&all, "streamPrefix"), ["orders", "payments", "returns"]);
    assert_eq!(all[0]["assignedShardRatio"], "3 / 3");
    assert_eq!(all[0]["totalLag"], 1);
    assert_eq!(all[0]["activeMembers"], 1);
    let two = "groups?streamPrefix=orders&streamPrefix=returns";
    assert_eq!(
        of(&rows(&server, two).await, "streamPrefix"),
        ["orders", "returns"]
    );
    let glob = "groups?streamPrefix=%7Borders,returns%7D&limit=1";
    assert_eq!(of(&rows(&server, glob).await, "streamPrefix"), ["orders"]);
    assert_eq!(
        rows(&server, "groups?streamPrefix=none&consumerGroup=none")
            .await
            .len(),
        0
    );

    let members = rows(&server, "members").await;
    assert_eq!(of(&members, "memberId"), ["m-1", "m-2"]);
    assert_eq!(of(&members, "currentShardCount"), [3, 2]);
    assert_eq!(
        of(&rows(&server, "members?memberId=m-2").await, "streamPrefix"),
        ["payments"]
    );

    let shards = rows(
        &server,
        "shards?streamPrefix=orders&shardIndex=0&shardIndex=2",
    )
    .await;
    assert_eq!(of(&shards, "streamKey"), ["orders:0", "orders:2"]);
    assert_eq!(of(&shards, "streamLength"), [1, 0]);
    assert_eq!(of(&shards, "currentOwnerMemberIds"), ["m-1", "m-1"]);
    assert_eq!(of(&shards, "consumerLastAckedId"), ["4-2", "4-2"]);
    let assignments = rows(&server, "assignments?streamPrefix=payments").await;
    assert_eq!(of(&assignments, "targetOwners"), ["m-2", "m-2"]);

    let masked = rows(&server, "messages").await;
    assert_eq!(
        of(&masked, "recordId"),
        ["1769854530124-0", "1769854530123-0"],
        "newest first"
    );
    assert_eq!(of(&masked, "fieldsJson"), [Value::Null, Value::Null]);
    let open = rows(&server, "messages?streamPrefix=orders&includeFields=true").await;
    assert_eq!(of(&open, "fieldsJson"), [r#"{"id":"o-1","secret":"x"}"#]);

    let options = |names: &[(&str, &str)]| -> Vec<Value> {
        names
            .iter()
            .map(|(text, value)| json!({"__text": text, "__value": value}))
            .collect()
    };
    let streams = rows(&server, "options/streams").await;
    assert_eq!(
        streams,
        options(&[
            ("orders", "orders"),
            ("payments", "payments"),
            ("returns", "returns")
        ])
    );
    let groups = rows(&server, "options/consumer-groups?streamPrefix=payments").await;
    assert_eq!(groups, options(&[("payments", "payments")]));
    let shards = rows(&server, "options/shards?streamPrefix=payments").await;
    assert_eq!(shards, options(&[("shard 0", "0"), ("shard 1", "1")]));

    for path in ["shards?shardIndex=x", "groups?limit=0"] {
        let refused = get(&server, &format!("/monitoring/grafana/{path}")).await;
        assert_eq!(support::refusal(refused).await.0, 400, "{path}");
    }
    let bare = server
        .request("GET", "/coord/v1/monitoring/grafana/groups")
        .send()
        .await
        .unwrap();
    assert_eq!(bare.status(), 401);
}

/// A dashboard of the whole fleet costs nothing: what was sampled last is told.
#[tokio::test]
async fn of_many_groups_the_samples_are_told() {
    let mut config = config();
    config.shard_sampling_interval = Duration::from_millis(100);
    let (_redis, server) = support::redis::start(config).await;
    for number in 0..9 {
        server.create(&format!("stream-{number}"), 1).await;
    }
    let sampled = || async {
        let groups = rows(&server, "groups").await;
        groups.len() == 9 && groups.iter().all(|row| row["totalLag"] == 0)
    };
    testkit::wait_until_async(Duration::from_secs(20), sampled)
        .await
        .unwrap();
    let shards = rows(&server, "shards").await;
    assert_eq!(shards.len(), 9);
    assert!(
        shards.iter().all(|row| row["problem"].is_null()),
        "{shards:?}"
    );
}
