//! That what differs fails the test that saw it, however it came there, and once only.
#![allow(clippy::unwrap_used)]

use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use openapi_check::{Conformity, Contract, Judge};

fn show(judge: &Judge, path: &str, body: &'static str) {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    let body = Some(Bytes::from_static(body.as_bytes()));
    judge.see(&Method::GET, path, StatusCode::OK, &headers, body);
}

const GROUPS: &str = "/coord/v1/monitoring/groups";
const GOOD: &str = r#"{"groups":[]}"#;
const BAD: &str = r#"{"groups":[],"surplus":1}"#;

/// What dropping it says, if it panics.
fn says(conformity: Conformity) -> Option<String> {
    let outcome = catch_unwind(AssertUnwindSafe(|| drop(conformity)));
    outcome.err().map(|panic| *panic.downcast().unwrap())
}

#[test]
fn what_is_as_described_fails_nothing() {
    let conformity = Conformity::new();
    show(&conformity.judge(), GROUPS, GOOD);
    show(&conformity.judge(), &format!("{GROUPS}?state=STABLE"), GOOD);
    assert_eq!(says(conformity), None);
}

#[test]
fn of_an_answer_without_an_end_the_head_is_judged() {
    let path = "/coord/v1/monitoring/events";
    let found = |kind: &'static str| {
        let mut conformity = Conformity::new();
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        let judge = conformity.judge();
        judge.see(&Method::GET, path, StatusCode::OK, &headers, None);
        conformity.end().faults.len()
    };
    let kinds = ["text/event-stream", "text/html"].map(found);
    assert_eq!(kinds, [0, 1]);
}

#[test]
fn what_differs_fails_the_test_though_another_thread_saw_it() {
    let conformity = Conformity::new();
    let judge = conformity.judge();
    let shown = std::thread::spawn(move || {
        show(&judge, GROUPS, GOOD);
        show(&judge, GROUPS, BAD);
    });
    shown.join().unwrap();
    let said = says(conformity).unwrap();
    assert!(said.contains("surplus") && said.contains(GROUPS), "{said}");
}

#[test]
fn a_test_that_has_failed_already_is_not_failed_again() {
    let outcome = catch_unwind(|| {
        let conformity = Conformity::new();
        show(&conformity.judge(), GROUPS, BAD);
        panic!("the test's own");
    });
    assert_eq!(
        *outcome.unwrap_err().downcast::<&str>().unwrap(),
        "the test's own"
    );
}

#[test]
fn the_same_fault_again_and_again_is_told_once_and_many_are_not_told_in_full() {
    let mut conformity = Conformity::new();
    for _ in 0..3 {
        show(&conformity.judge(), GROUPS, BAD);
    }
    for number in 0..20 {
        let path = format!("/coord/v1/streams/s{number}/groups/g");
        show(&conformity.judge(), &path, BAD);
    }
    let verdict = conformity.end();
    assert_eq!((verdict.answers, verdict.faults.len()), (23, 10));
    assert!(verdict.faults[1].contains("/streams/s0/"));
    assert!(conformity.end().faults.is_empty());
    assert_eq!(says(conformity), None);
}

#[test]
fn judging_that_breaks_off_fails_the_test() {
    let document = r#"{
        "paths": {"/a": {"get": {"responses": {"200": {"content": {"application/json": {"schema": {"type": 7}}}}}}}},
        "components": {"schemas": {}}
    }"#;
    let conformity = Conformity::to(Contract::new(document));
    show(&conformity.judge(), "/a", "{}");
    assert!(says(conformity).unwrap().contains("judging broke off"));
}
