//! Members that are not let in are seen by an operator: two processes as one member in the log, a store that lost its groups in health, in the log and in the numbers.
#![allow(clippy::unwrap_used)]

mod support;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use protocol::{HealthStatus, HeartbeatRequest, HeartbeatStatus};
use serde_json::Value;
use support::{Server, config, heartbeat, http, obey};
use tracing_subscriber::fmt::MakeWriter;

/// What the process says.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Log {
    fn text(&self) -> MutexGuard<'_, Vec<u8>> {
        self.0.lock().unwrap()
    }

    /// The fields of all lines with a message.
    fn lines(&self, message: &str) -> Vec<Value> {
        let text = String::from_utf8(self.text().clone()).unwrap();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        lines
            .map(|line: Value| line["fields"].clone())
            .filter(|fields| fields["message"] == message)
            .collect()
    }
}

impl io::Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.text().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

/// To be called within a runtime of one thread: all of it is heard.
fn listen() -> (Log, tracing::subscriber::DefaultGuard) {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .json()
        .with_writer(log.clone())
        .finish();
    (log, tracing::subscriber::set_default(subscriber))
}

fn as_process(request: HeartbeatRequest, instance: &str) -> HeartbeatRequest {
    HeartbeatRequest {
        instance_id: Some(instance.to_owned()),
        ..request
    }
}

/// Rule H11: the second one takes the id over, and the first one can't be told from the outside but by this line.
#[tokio::test]
async fn two_processes_as_one_member_are_told_in_the_log_once_with_both_names_and_advice() {
    let (log, _listening) = listen();
    let server = Server::start().await;
    server.create("orders", 2).await;
    let join = |instance| as_process(heartbeat("m", 0, 0), instance);
    let first = server.beat("orders", &join("one")).await;
    let first = as_process(obey(&first), "one");
    let second = server.beat("orders", &join("two")).await;
    assert_eq!(second.status, HeartbeatStatus::Ok);
    for _ in 0..5 {
        let answer = server.beat("orders", &first).await;
        assert_eq!(answer.status, HeartbeatStatus::FencedMemberEpoch);
    }
    let lines = log.lines("member fenced");
    let [line] = &lines[..] else {
        panic!("{lines:?}");
    };
    for (field, expected) in [
        ("stream", "orders"),
        ("group", "orders"),
        ("member", "m"),
        ("instance", "one"),
        ("holder", "two"),
        ("cause", "OtherProcess"),
    ] {
        assert_eq!(line[field], expected, "{line}");
    }
    let advice = line["advice"].as_str().unwrap();
    assert!(advice.contains("give each process its own"), "{advice}");
}

/// Redis lost everything and answers again: who looks at health sees it, and a probe does not act on it.
#[tokio::test]
async fn members_of_groups_that_are_not_recorded_are_in_health_log_and_numbers() {
    let (log, _listening) = listen();
    let (redis, server) = support::redis::start(config()).await;
    server.create("orders", 2).await;
    let joined = server.beat("orders", &heartbeat("m", 0, 0)).await;
    let health = server.client.health().await.unwrap();
    assert_eq!(
        (health.status, health.redis_detail),
        (HealthStatus::Up, None)
    );

    let mut connection = redis.connection().await.unwrap();
    support::redis::ask::<String>(&mut connection, &["FLUSHALL"]).await;
    for _ in 0..3 {
        let answer = server.beat("orders", &obey(&joined)).await;
        assert_eq!(answer.status, HeartbeatStatus::UnknownMemberId);
    }
    let health = server.client.health().await.unwrap();
    // Anybody can heartbeat for any name: it is told, and no fault of Redis.
    assert_eq!(health.status, HealthStatus::Up);
    let detail = health.redis_detail.unwrap();
    let expected = "groups that are not recorded (orders/orders; 3 heartbeats in the last minute)";
    assert!(detail.contains(expected), "{detail}");
    let ready = http().get(server.url("/readyz")).send().await.unwrap();
    assert_eq!(ready.status(), 200);

    let lines = log.lines("members heartbeat into a group that is not recorded");
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert_eq!(
        (&lines[0]["stream"], &lines[0]["member"]),
        (&"orders".into(), &"m".into())
    );
    let text = server.client.metrics().await.unwrap();
    let counted = "redis_stream_coord_heartbeat_total{status=\"UNKNOWN_MEMBER_ID\"} 3";
    assert!(text.contains(counted), "{text}");

    // Once it is there again nobody has to wait until the minute is over.
    server.create("orders", 2).await;
    let health = server.client.health().await.unwrap();
    assert_eq!(
        (health.status, health.redis_detail),
        (HealthStatus::Up, None)
    );
}

/// Who is not known to a group that is there is no sign of a loss.
#[tokio::test]
async fn a_stranger_to_a_group_that_is_there_degrades_nothing() {
    let server = Server::start().await;
    server.create("orders", 2).await;
    let answer = server.beat("orders", &heartbeat("m", 7, 1)).await;
    assert_eq!(answer.status, HeartbeatStatus::UnknownMemberId);
    let health = server.client.health().await.unwrap();
    assert_eq!(
        (health.status, health.redis_detail),
        (HealthStatus::Up, None)
    );
}
