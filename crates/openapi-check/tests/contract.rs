//! That whatever differs from the document is noticed.
#![allow(clippy::unwrap_used)]

use http::{Method, StatusCode};
use openapi_check::{Answer, Contract, DOCUMENT};
use serde_json::{Value, json};

fn group() -> Value {
    serde_json::from_str(include_str!(
        "../../../fixtures/protocol/v1/group.full.json"
    ))
    .unwrap()
}

/// What is found wrong with an answer to a request for a group.
fn found(status: u16, headers: &[(&str, &str)], body: &Value) -> Result<(), String> {
    let headers = headers.iter();
    let headers = headers.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    Contract::new(DOCUMENT).check(&Answer {
        method: Method::GET,
        path: "/coord/v1/streams/orders/groups/billing".to_owned(),
        status: StatusCode::from_u16(status).unwrap(),
        headers: headers.collect(),
        body: Some(body.to_string().into()),
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

/// What is found wrong with an answer to a request that nothing is described for.
fn found_of_nothing(method: Method, path: &str, status: u16, code: Option<&str>) -> Option<String> {
    let body = code.map(|code| {
        let status = if status == 404 {
            "NOT_FOUND"
        } else {
            "INVALID_REQUEST"
        };
        json!({ "status": status, "errorCode": code, "message": "no" }).to_string()
    });
    let answer = Answer {
        method,
        path: path.to_owned(),
        status: StatusCode::from_u16(status).unwrap(),
        headers: [(JSON.0.to_owned(), JSON.1.to_owned())].into(),
        body: body.map(Into::into),
    };
    Contract::new(DOCUMENT).check(&answer).err()
}

/// The code alone does not make it the right answer; and where there is no body, the status is all there is.
#[test]
fn what_is_not_described_is_answered_with_its_status_and_its_code() {
    let group = "/coord/v1/streams/orders/groups/billing";
    for (method, path, right, code) in [
        (Method::GET, "/coord/v1/nothing", 404, "NOT_FOUND"),
        (Method::PATCH, group, 405, "METHOD_NOT_ALLOWED"),
    ] {
        let found = |status, code| found_of_nothing(method.clone(), path, status, code);
        assert_eq!(found(right, Some(code)), None);
        assert_eq!(found(right, None), None);
        for wrong in [200, 400, if right == 404 { 405 } else { 404 }] {
            for code in [Some(code), None] {
                let told = found(wrong, code).unwrap();
                assert!(told.contains(&format!("{right} ")), "{told}");
            }
        }
        assert!(found(right, Some("GROUP_NOT_FOUND")).is_some());
    }
}
