//! That these tests fail where a coordinator answers otherwise than the OpenAPI document says: whoever asks, and however.
#![allow(clippy::unwrap_used)]

#[path = "resharding/mod.rs"]
mod resharding;
mod support;

use std::panic::{AssertUnwindSafe, catch_unwind};

use openapi_check::{Conformity, Contract, DOCUMENT};
use reqwest::Method;
use resharding::coordinator::{Coordinator, Operator, Setup};
use serde_json::Value;
use support::Daemon;
use support::watched::{begun, read, watched};
use testkit::RedisServer;

fn document() -> Value {
    serde_json::from_str(DOCUMENT).unwrap()
}

/// The document without one field of one schema: what a coordinator answers there is wrong by it.
fn without(schema: &str, field: &str) -> Conformity {
    let mut document = document();
    let schema = &mut document["components"]["schemas"][schema];
    let gone = schema["properties"].as_object_mut().unwrap().remove(field);
    assert!(gone.is_some(), "{field} was there");
    let required = schema["required"].as_array_mut().unwrap();
    required.retain(|name| name != field);
    Conformity::to(Contract::new(&document.to_string()))
}

/// The document with events that are never told.
fn without_events() -> Conformity {
    let mut document = document();
    let events = &mut document["paths"]["/coord/v1/monitoring/events"]["get"];
    let gone = events["responses"].as_object_mut().unwrap().remove("200");
    assert!(gone.is_some(), "they were");
    Conformity::to(Contract::new(&document.to_string()))
}

/// Whether dropping it fails the test.
fn fails<T>(dropped: T) -> bool {
    catch_unwind(AssertUnwindSafe(|| drop(dropped))).is_err()
}

#[tokio::test]
async fn a_difference_fails_the_test_whichever_client_was_answered() {
    let daemon = Daemon::start(&[]).await;
    daemon.create("orders", 2).await;
    let base = format!("http://{}", daemon.address);

    let typed = without("GroupList", "groups");
    let client = watched([&base], typed.judge());
    let client = client.credentials(coordinator_client::Credentials::basic("admin", "admin"));
    client.build().unwrap().groups().await.unwrap();
    assert!(fails(typed));

    let plain = without("GroupList", "groups");
    let ask = |what: &str| {
        let url = format!("{base}/coord/v1/monitoring/{what}");
        let asked = reqwest::Client::new().get(url);
        asked.basic_auth("admin", Some("admin")).send()
    };
    let answered = ask("groups").await.unwrap();
    read(&plain.judge(), &Method::GET, answered).await.unwrap();
    assert!(fails(plain));

    let endless = without_events();
    let answered = ask("events").await.unwrap();
    begun(&endless.judge(), &Method::GET, &answered);
    assert!(fails(endless));

    let operator = without("Migrations", "migrations");
    let asked = Operator::new(&base, operator.judge());
    asked.migrations("orders", "orders").await.unwrap();
    assert!(fails(operator));
}

#[tokio::test]
async fn what_a_coordinator_answers_is_judged_and_fails_the_test_that_started_it() {
    let mut daemon = Daemon::start(&[]).await;
    daemon.client.groups().await.unwrap();
    daemon.client.group("no", "body").await.unwrap_err();
    let verdict = daemon.conformity.end();
    assert_eq!((verdict.answers, verdict.faults), (2, Vec::new()));

    let daemon = Daemon::start(&[]).await;
    let answered = reqwest::get(format!("http://{}/healthz", daemon.address));
    let answered = answered.await.unwrap();
    // The answer of one route as that of another one.
    let (status, headers, body) = read(&daemon.conformity.judge(), &Method::GET, answered)
        .await
        .unwrap();
    let elsewhere = "/coord/v1/monitoring/groups";
    let judge = daemon.conformity.judge();
    judge.see(&Method::GET, elsewhere, status, &headers, Some(body));
    assert!(fails(daemon));
}

#[tokio::test]
async fn a_coordinator_in_the_process_of_the_test_is_judged_whoever_asks_it() {
    let redis = RedisServer::builder().start().unwrap();
    let mut coordinator = Coordinator::start(Setup::new(&redis.url(), "judged")).await;
    coordinator.create("orders", 2, &[]).await;
    coordinator.client.groups().await.unwrap();
    let verdict = coordinator.conformity.end();
    assert!(verdict.answers >= 2, "{verdict:?}");
    assert!(verdict.faults.is_empty(), "{verdict:?}");
}
