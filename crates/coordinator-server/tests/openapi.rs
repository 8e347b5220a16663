//! The OpenAPI document and its page as they are served, and that whatever differs from the document is noticed.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::HashMap;

use serde_json::{Value, json};
use support::Server;
use support::contract::{Answer, Contract};

const SNAPSHOT: &str = include_str!("snapshots/openapi.json");
const FILES: [(&str, &str); 3] = [
    ("/docs", "text/html; charset=utf-8"),
    ("/docs/reference.js", "text/javascript; charset=utf-8"),
    ("/docs/reference.css", "text/css; charset=utf-8"),
];

#[tokio::test]
async fn anybody_may_read_the_document() {
    let server = Server::start().await;
    let answer = server.request("GET", "/coord/v1/openapi.json").send();
    let answer = answer.await.unwrap();
    assert_eq!(answer.status(), 200);
    assert_eq!(answer.headers()["content-type"], "application/json");
    assert_eq!(answer.text().await.unwrap(), SNAPSHOT);
}

#[tokio::test]
async fn the_page_is_shown_with_nothing_but_this_server() {
    let server = Server::start().await;
    for (path, content_type) in FILES {
        let answer = server.request("GET", path).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
        let header = |name: &str| answer.headers()[name].to_str().unwrap().to_owned();
        assert_eq!(header("content-type"), content_type);
        assert_eq!(header("x-content-type-options"), "nosniff");
        let policy = header("content-security-policy");
        assert!(policy.starts_with("default-src 'none';"), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
        let text = answer.text().await.unwrap();
        for foreign in [
            "://",
            "src=\"//",
            "innerHTML",
            "style=\"",
            "onclick",
            "eval(",
        ] {
            assert!(!text.contains(foreign), "{path} has {foreign}");
        }
    }
}

#[tokio::test]
async fn the_page_names_only_files_that_are_there() {
    let server = Server::start().await;
    let page = server.request("GET", "/docs").send().await.unwrap();
    let page = page.text().await.unwrap();
    let named = page
        .split('"')
        .filter(|text| !text.contains(['<', ' ']) && text.contains('.'));
    let mut count = 0;
    for name in named {
        let answer = server.request("GET", &format!("/{name}")).send();
        assert_eq!(answer.await.unwrap().status(), 200, "{name}");
        count += 1;
    }
    assert_eq!(count, 3);
}

fn group() -> Value {
    serde_json::from_str(include_str!(
        "../../../fixtures/protocol/v1/group.full.json"
    ))
    .unwrap()
}

/// What is found wrong with an answer to a request for a group.
fn found(status: u16, headers: &[(&str, &str)], body: &Value) -> Result<(), String> {
    let body = body.to_string();
    let headers = headers.iter();
    let headers = headers.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Contract::new(SNAPSHOT).check(&Answer {
        method: "GET",
        path: "/coord/v1/streams/orders/groups/billing",
        status,
        headers: headers.collect::<HashMap<_, _>>(),
        body: Some(body.as_bytes()),
    })
}

const JSON: (&str, &str) = ("content-type", "application/json");

#[test]
fn what_is_as_described_is_let_pass() {
    assert_eq!(found(200, &[JSON], &group()), Ok(()));
}

/// What differs, and the answer: its status, its headers, its body.
type Differing = (
    &'static str,
    u16,
    &'static [(&'static str, &'static str)],
    Value,
);

#[test]
fn whatever_differs_from_the_document_is_noticed() {
    let error =
        |status: &str, code: &str| json!({ "status": status, "errorCode": code, "message": "no" });
    let changed = |field: &str, value: Value| {
        let mut group = group();
        group[field] = value;
        group
    };
    let mut less = group();
    less.as_object_mut().unwrap().remove("shardCount");
    let mut deep = group();
    deep["activeMigration"]["extra"] = json!(1);
    let unauthorized = error("UNAUTHORIZED", "UNAUTHORIZED");
    let differing: [Differing; 12] = [
        ("a status", 418, &[JSON], group()),
        ("no content type", 200, &[], group()),
        (
            "a content type",
            200,
            &[("content-type", "text/plain")],
            group(),
        ),
        ("a missing field", 200, &[JSON], less),
        (
            "a field that is not described",
            200,
            &[JSON],
            changed("extra", json!(1)),
        ),
        ("one further in", 200, &[JSON], deep),
        (
            "a fraction",
            200,
            &[JSON],
            changed("shardCount", json!(1.5)),
        ),
        (
            "a negative number",
            200,
            &[JSON],
            changed("groupEpoch", json!(-1)),
        ),
        ("a word", 200, &[JSON], changed("state", json!("FINE"))),
        ("null", 200, &[JSON], changed("consumerGroup", Value::Null)),
        (
            "a code",
            404,
            &[JSON],
            error("NOT_FOUND", "MIGRATION_NOT_FOUND"),
        ),
        ("a missing header", 401, &[JSON], unauthorized),
    ];
    for (what, status, headers, body) in differing {
        assert!(found(status, headers, &body).is_err(), "{what}");
    }
}
