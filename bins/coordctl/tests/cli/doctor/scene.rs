//! A stream with a coordinator on a Redis, and what the doctor finds there. What there is to find is made by the tests.

use std::collections::BTreeSet;

use protocol::HeartbeatRequest;
use redis::aio::MultiplexedConnection;
use serde_json::Value;
use testkit::RedisServer;

use crate::support::{Coordinator, Ctl};

/// What was found, and what the program ended with.
pub(super) struct Found {
    pub(super) code: i32,
    pub(super) findings: Vec<Value>,
    pub(super) not_checked: Vec<Value>,
}

impl Found {
    pub(super) async fn by(ctl: &Ctl, line: &str) -> Self {
        let done = ctl.run(&format!("doctor -o json {line}")).await;
        let mut told: Value = serde_json::from_str(&done.out).unwrap();
        let mut list = |name: &str| std::mem::take(told[name].as_array_mut().unwrap());
        Self {
            code: done.code,
            findings: list("findings"),
            not_checked: list("notChecked"),
        }
    }

    pub(super) fn kinds(&self) -> BTreeSet<&str> {
        let kinds = self.findings.iter().map(|it| it["kind"].as_str().unwrap());
        kinds.collect()
    }

    /// The only finding of a kind: where and what.
    #[track_caller]
    pub(super) fn one(&self, kind: &str) -> (&str, &str) {
        let mut those = self.findings.iter().filter(|it| it["kind"] == kind);
        let one = those
            .next()
            .unwrap_or_else(|| panic!("no {kind} in {:?}", self.findings));
        assert!(those.next().is_none(), "{:?}", self.findings);
        let runbook = one["runbook"].as_str().unwrap();
        assert!(runbook.starts_with("docs/operations.md#"), "{runbook}");
        assert!(!one["toDo"].as_str().unwrap().is_empty());
        (
            one["place"].as_str().unwrap(),
            one["what"].as_str().unwrap(),
        )
    }
}

/// A stream with a coordinator, on a Redis.
pub(super) struct Scene {
    pub(super) redis: RedisServer,
    pub(super) coordinator: Coordinator,
    pub(super) ctl: Ctl,
    pub(super) connection: MultiplexedConnection,
}

impl Scene {
    pub(super) async fn new() -> Self {
        let redis = RedisServer::builder().start().unwrap();
        let coordinator = Coordinator::quick(&redis).await;
        let ctl = Ctl::of(&coordinator);
        ctl.run("stream create orders --shards 2").await.printed();
        let connection = redis.connection().await.unwrap();
        Self {
            redis,
            coordinator,
            ctl,
            connection,
        }
    }

    pub(super) async fn say(&mut self, words: &[&str]) {
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]);
        command.exec_async(&mut self.connection).await.unwrap();
    }

    pub(super) async fn doctor(&self) -> Found {
        Found::by(&self.ctl, "").await
    }

    /// Changes a record behind the coordinator's back.
    pub(super) async fn tamper(&mut self, group: &str, change: impl Fn(&mut Value)) {
        let key = format!("redis-stream:coord:{{orders:{group}}}:metadata");
        let mut get = redis::cmd("HGET");
        get.arg(&key).arg("aggregate");
        let text: String = get.query_async(&mut self.connection).await.unwrap();
        let mut record: Value = serde_json::from_str(&text).unwrap();
        change(&mut record);
        self.say(&["HSET", &key, "aggregate", &record.to_string()])
            .await;
    }

    pub(super) async fn beat(&self, request: &HeartbeatRequest) -> protocol::HeartbeatResponse {
        let client = &self.coordinator.client;
        client.heartbeat("orders", "orders", request).await.unwrap()
    }
}
