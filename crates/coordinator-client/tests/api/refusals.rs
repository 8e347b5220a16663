//! What the client makes of refusals, of broken answers and of silence.

use std::error::Error;
use std::time::Duration;

use axum::http::HeaderValue;
use coordinator_client::{ClientError, CoordinatorClient};
use protocol::{ErrorBody, ErrorCode};

use crate::server::{Server, answer, hanging_up, nobody};

fn client(url: &str) -> CoordinatorClient {
    CoordinatorClient::builder([url])
        .request_timeout(Duration::from_secs(5))
        .build()
        .expect("settings that work")
}

fn body(code: ErrorCode, message: &str) -> String {
    serde_json::to_string(&ErrorBody::new(code, message)).expect("encodes")
}

#[tokio::test]
async fn a_refusal_is_told_with_status_code_and_message() {
    let server = Server::answering(404, body(ErrorCode::GroupNotFound, "no group g of p")).await;
    let error = client(&server.url)
        .group("p", "g")
        .await
        .expect_err("is refused");
    assert_eq!(
        error.to_string(),
        "refused with 404 GROUP_NOT_FOUND: no group g of p"
    );
    assert_eq!(error.code(), Some(&ErrorCode::GroupNotFound));
    assert!(!error.is_retryable());
}

#[tokio::test]
async fn the_time_to_come_back_is_told() {
    let server = Server::start(|_| async {
        let mut response = answer(429, body(ErrorCode::RateLimitExceeded, "slower"));
        response
            .headers_mut()
            .insert("retry-after", HeaderValue::from_static("7"));
        response
    })
    .await;
    let error = client(&server.url).groups().await.expect_err("is refused");
    assert_eq!(error.retry_after(), Some(Duration::from_secs(7)));
    assert!(error.is_retryable());
}

#[tokio::test]
async fn a_refusal_from_something_in_front_is_told_with_its_beginning() {
    let server = Server::answering(502, format!("<html>{}", "x".repeat(10_000))).await;
    let error = client(&server.url).groups().await.expect_err("is refused");
    assert!(
        error
            .to_string()
            .starts_with("refused with 502 HTTP_502: <html>xxx")
    );
    assert!(error.to_string().len() < 300);
    assert!(error.is_retryable());
}

#[tokio::test]
async fn a_redirect_is_not_followed() {
    let elsewhere = Server::answering(200, r#"{"groups":[]}"#).await;
    let target = elsewhere.url.clone();
    let server = Server::start(move |_| {
        let mut response = answer(307, String::new());
        response
            .headers_mut()
            .insert("location", HeaderValue::from_str(&target).expect("a URL"));
        async { response }
    })
    .await;
    let error = client(&server.url).groups().await.expect_err("is refused");
    assert!(matches!(error, ClientError::Api { status: 307, .. }));
    assert!(elsewhere.seen().is_empty());
}

#[tokio::test]
async fn an_answer_that_departs_from_the_protocol_names_the_field() {
    let server = Server::answering(200, r#"{"groups":[{"streamPrefix":7}]}"#).await;
    let error = client(&server.url)
        .groups()
        .await
        .expect_err("cannot be understood");
    assert!(matches!(error, ClientError::Decode { .. }));
    let cause = error.source().expect("a cause").to_string();
    assert_eq!(
        cause,
        "groups[0].streamPrefix: invalid type: integer `7`, expected a string"
    );
    assert!(!error.is_retryable());
}

#[tokio::test]
async fn a_broken_connection_keeps_its_cause() {
    for url in [hanging_up().await, nobody().await] {
        let error = client(&url).groups().await.expect_err("no answer");
        assert!(matches!(error, ClientError::Transport { .. }), "{error:?}");
        assert_eq!(error.to_string(), format!("no answer from {url}"));
        assert!(error.source().is_some());
        assert!(error.is_retryable());
    }
}

#[test]
fn what_may_succeed_later_is_retryable() {
    let refusal = |code: ErrorCode| ClientError::Api {
        status: code.http_status(),
        code,
        message: String::new(),
        retry_after: None,
    };
    let retryable: Vec<&str> = ErrorCode::ALL
        .iter()
        .filter(|code| refusal((*code).clone()).is_retryable())
        .map(ErrorCode::as_str)
        .collect();
    assert_eq!(
        retryable,
        [
            "STATE_VERSION_CONFLICT",
            "REDIS_STREAM_PROVISIONING_FAILED",
            "COORDINATOR_STATE_MUTEX_UNAVAILABLE",
            "COORDINATOR_TERMINATING",
            "STORE_UNAVAILABLE",
            "RATE_LIMIT_EXCEEDED",
        ]
    );
}
