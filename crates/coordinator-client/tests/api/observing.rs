//! Who looks on sees every answer that came, whoever gave it, and nothing else.

use std::sync::{Arc, Mutex};

use axum::http::HeaderValue;
use coordinator_client::{CoordinatorClient, Event, Exchange};
use protocol::{ErrorBody, ErrorCode, LoginRequest};

use crate::server::{Server, answer, fixture, hanging_up, nobody};

/// Whom, what for, how, with which retry-after and body.
type Seen = (String, String, u16, Option<String>, Option<Vec<u8>>);

fn noted(seen: &Exchange<'_>) -> Seen {
    let wait = seen.headers.get("retry-after");
    (
        seen.coordinator.to_owned(),
        format!("{} {}", seen.method, seen.target),
        seen.status.as_u16(),
        wait.map(|value| value.to_str().expect("text").to_owned()),
        seen.body.map(|body| body.to_vec()),
    )
}

fn watched(urls: &[&str]) -> (CoordinatorClient, Arc<Mutex<Vec<Seen>>>) {
    let all: Arc<Mutex<Vec<Seen>>> = Arc::default();
    let notes = Arc::clone(&all);
    let look = move |seen: &Exchange<'_>| notes.lock().expect("not poisoned").push(noted(seen));
    let client = CoordinatorClient::builder(urls.iter().copied())
        .observer(look)
        .build()
        .expect("settings that work");
    (client, all)
}

fn taken(all: &Mutex<Vec<Seen>>) -> Vec<Seen> {
    std::mem::take(&mut all.lock().expect("not poisoned"))
}

async fn leaving() -> (Server, Vec<u8>) {
    let body = ErrorBody::new(ErrorCode::CoordinatorTerminating, "on its way out");
    let body = serde_json::to_string(&body).expect("encodes");
    let sent = body.clone();
    let server = Server::start(move |_| {
        let mut answer = answer(503, sent.clone());
        let wait = HeaderValue::from_static("3");
        answer.headers_mut().insert("retry-after", wait);
        async move { answer }
    });
    (server.await, body.into_bytes())
}

#[tokio::test]
async fn answers_that_were_not_the_last_word_are_seen_too() {
    let (first, refusal) = leaving().await;
    let list = fixture("group-list.full");
    let second = Server::answering(200, list.clone()).await;
    let silent = hanging_up().await;
    let (client, seen) = watched(&[&nobody().await, &silent, &first.url, &second.url]);
    client.clone().groups().await.expect("the last one answers");
    let asked = "GET /coord/v1/monitoring/groups".to_owned();
    let expected = [
        (
            first.url.clone(),
            asked.clone(),
            503,
            Some("3".to_owned()),
            Some(refusal),
        ),
        (
            second.url.clone(),
            asked,
            200,
            None,
            Some(list.into_bytes()),
        ),
    ];
    assert_eq!(taken(&seen), expected);
}

#[tokio::test]
async fn refusals_probes_and_texts_are_seen_with_their_queries() {
    let (server, refusal) = leaving().await;
    let (client, seen) = watched(&[&server.url]);
    let wait = std::time::Duration::ZERO;
    client
        .watch("p", "g", 7, wait)
        .await
        .expect_err("is refused");
    assert!(!client.is_ready().await.expect("answers"));
    client.metrics().await.expect_err("is refused");
    client.events(None).await.expect_err("is refused");
    client.snapshot().await.expect_err("is refused");
    let seen = taken(&seen);
    let asked: Vec<&str> = seen.iter().map(|(_, asked, ..)| asked.as_str()).collect();
    let expected = [
        "GET /coord/v1/streams/p/groups/g/watch?after=7&waitMs=0",
        "GET /readyz",
        "GET /metrics",
        "GET /coord/v1/monitoring/events",
        "GET /coord/v1/admin/snapshot",
    ];
    assert_eq!(asked, expected);
    let whole = seen
        .iter()
        .all(|(.., body)| body.as_ref() == Some(&refusal));
    assert!(whole, "{seen:?}");
}

#[tokio::test]
async fn a_stream_of_events_is_seen_when_it_is_opened_and_without_a_body() {
    let server = Server::answering(200, "event: reset\ndata: {}\n\n").await;
    let (client, seen) = watched(&[&server.url]);
    let mut events = client.events(None).await.expect("opens");
    let asked = "GET /coord/v1/monitoring/events".to_owned();
    assert_eq!(taken(&seen), [(server.url.clone(), asked, 200, None, None)]);
    assert_eq!(events.next().await.expect("comes"), Some(Event::Reset));
    assert_eq!(taken(&seen), []);
}

#[tokio::test]
async fn what_is_written_of_an_exchange_has_no_token_in_it() {
    let server = Server::answering(200, fixture("login-response.full")).await;
    let written: Arc<Mutex<String>> = Arc::default();
    let notes = Arc::clone(&written);
    let client = CoordinatorClient::builder([server.url.as_str()])
        .observer(move |seen| *notes.lock().expect("not poisoned") = format!("{seen:?}"))
        .build()
        .expect("settings that work");
    let login = LoginRequest {
        username: "admin".to_owned(),
        password: "hunter2".to_owned(),
    };
    let token = client.login(&login).await.expect("answers").access_token;
    let written = written.lock().expect("not poisoned").clone();
    assert!(written.contains("/coord/v1/auth/login"), "{written}");
    assert!(
        !written.contains(&token) && !written.contains("hunter2"),
        "{written}"
    );
}
