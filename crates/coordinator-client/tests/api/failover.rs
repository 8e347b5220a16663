//! Several coordinators: which one is asked, and when the next is.

use std::time::{Duration, Instant};

use coordinator_client::{ClientError, CoordinatorClient};
use protocol::{CreateStreamRequest, ErrorBody, ErrorCode, HeartbeatRequest, RestoreQuery, decode};

use crate::server::{Server, answer, fixture, hanging_up, nobody};

fn client(urls: &[&str]) -> CoordinatorClient {
    CoordinatorClient::builder(urls.iter().copied())
        .request_timeout(Duration::from_secs(10))
        .build()
        .expect("settings that work")
}

fn creation() -> CreateStreamRequest {
    CreateStreamRequest {
        initial_shard_count: None,
        requested_by: "ops".to_owned(),
        reason: None,
    }
}

async fn terminating() -> Server {
    let body = ErrorBody::new(ErrorCode::CoordinatorTerminating, "on its way out");
    Server::answering(503, serde_json::to_string(&body).expect("encodes")).await
}

#[tokio::test]
async fn the_next_is_asked_when_nobody_listens() {
    let up = Server::answering(201, fixture("stream-created.full")).await;
    let client = client(&[&nobody().await, &up.url]);
    client
        .create_stream("orders", &creation())
        .await
        .expect("the second answers");
    assert_eq!(up.seen().len(), 1);
}

#[tokio::test]
async fn the_next_is_asked_on_503_and_stays_the_first_choice() {
    let leaving = terminating().await;
    let up = Server::answering(200, fixture("group-list.full")).await;
    let client = client(&[&leaving.url, &up.url]);
    for _ in 0..3 {
        client.groups().await.expect("the second answers");
    }
    assert_eq!((leaving.seen().len(), up.seen().len()), (1, 3));
}

/// A restore that broke off midway says how far it came; a second coordinator would only say that something is there already.
#[tokio::test]
async fn an_upload_is_not_carried_on_once_it_was_answered() {
    let leaving = terminating().await;
    let up = Server::answering(200, fixture("restored.full")).await;
    let of_two = client(&[&leaving.url, &up.url]);
    let forced = RestoreQuery {
        force: true,
        requested_by: Some("ops & co".to_owned()),
        reason: None,
    };
    let error = of_two.restore_snapshot("{}".into(), &forced).await;
    let error = error.expect_err("the first one's answer");
    assert_eq!(error.code(), Some(&ErrorCode::CoordinatorTerminating));
    assert!(up.seen().is_empty());
    let absent = client(&[&nobody().await, &up.url]);
    let restored = absent.restore_snapshot("{}".into(), &forced).await;
    restored.expect("nobody had it before");
    let path = "/coord/v1/admin/snapshot/restore?force=true&requestedBy=ops%20%26%20co";
    assert!(
        up.seen()[0].target.ends_with(path),
        "{:?}",
        up.seen()[0].target
    );
}

#[tokio::test]
async fn clones_share_the_first_choice() {
    let leaving = terminating().await;
    let up = Server::answering(200, fixture("group-list.full")).await;
    let client = client(&[&leaving.url, &up.url]);
    client.clone().groups().await.expect("the second answers");
    client.groups().await.expect("the second answers");
    assert_eq!(leaving.seen().len(), 1);
}

#[tokio::test]
async fn other_refusals_are_not_carried_elsewhere() {
    let body = serde_json::to_string(&ErrorBody::new(ErrorCode::GroupAlreadyExists, "there"))
        .expect("encodes");
    let refusing = Server::answering(409, body).await;
    let up = Server::answering(200, fixture("group.full")).await;
    let error = client(&[&refusing.url, &up.url])
        .create_group("p", "g", &creation())
        .await
        .expect_err("is refused");
    assert_eq!(error.code(), Some(&ErrorCode::GroupAlreadyExists));
    assert!(up.seen().is_empty());
}

#[tokio::test]
async fn a_refusal_says_more_than_a_broken_connection() {
    let leaving = terminating().await;
    let error = client(&[&leaving.url, &nobody().await])
        .groups()
        .await
        .expect_err("neither answers");
    assert_eq!(error.code(), Some(&ErrorCode::CoordinatorTerminating));
}

#[tokio::test]
async fn what_was_cut_off_is_repeated_elsewhere_only_if_that_does_no_harm() {
    let up = Server::answering(200, fixture("group.full")).await;
    let error = client(&[&hanging_up().await, &up.url])
        .create_group("p", "g", &creation())
        .await
        .expect_err("it may have been carried out");
    assert!(matches!(error, ClientError::Transport { .. }));
    assert!(up.seen().is_empty());

    client(&[&hanging_up().await, &up.url])
        .group("p", "g")
        .await
        .expect("the second answers");
    assert_eq!(up.seen().len(), 1);
}

#[tokio::test]
async fn a_heartbeat_that_was_cut_off_is_repeated_elsewhere_unchanged() {
    let up = Server::answering(200, fixture("heartbeat-response.full")).await;
    let text = fixture("heartbeat-request.full");
    let request: HeartbeatRequest = decode(text.as_bytes()).expect("golden");
    client(&[&hanging_up().await, &up.url])
        .heartbeat("p", "g", &request)
        .await
        .expect("the second answers");
    let body: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(up.seen()[0].body, body);
}

#[tokio::test]
async fn silence_ends_the_call_in_time_and_moves_the_next_call_on() {
    let silent = Server::start(|_| std::future::pending()).await;
    let up = Server::answering(200, fixture("group-list.full")).await;
    let limit = Duration::from_millis(200);
    let client = CoordinatorClient::builder([silent.url.as_str(), up.url.as_str()])
        .request_timeout(limit)
        .build()
        .expect("settings that work");
    let begun = Instant::now();
    let error = client.groups().await.expect_err("no answer in time");
    assert!(begun.elapsed() >= limit);
    assert_eq!(
        error.to_string(),
        format!("no answer from {} within 200ms", silent.url)
    );
    assert!(error.is_retryable());
    client.groups().await.expect("the second answers");
}

#[tokio::test]
async fn a_watch_may_last_longer_than_other_calls() {
    let slow = Server::start(|_| async {
        // waits: longer than the request timeout below, so that only the watch's own time lets the answer come.
        tokio::time::sleep(Duration::from_millis(400)).await;
        answer(200, fixture("watch-response.full"))
    })
    .await;
    let client = CoordinatorClient::builder([slow.url.as_str()])
        .request_timeout(Duration::from_millis(100))
        .build()
        .expect("settings that work");
    assert!(matches!(
        client.groups().await,
        Err(ClientError::Timeout { .. })
    ));
    let seen = client
        .watch("p", "g", 1, Duration::from_secs(10))
        .await
        .expect("answers");
    assert!(seen.changed);
}
