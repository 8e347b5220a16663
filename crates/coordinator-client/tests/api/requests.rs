//! What each call sends, and that it reads the golden answer.

use std::time::Duration;

use coordinator_client::{CoordinatorClient, Credentials};
use protocol::{
    CreateStreamRequest, DeleteGroupRequest, GroupState, HealthStatus, HeartbeatRequest,
    HeartbeatStatus, LoginRequest, decode,
};
use serde_json::{Value, json};

use crate::server::{Seen, Server, fixture};

pub(crate) async fn golden(name: &str) -> (Server, CoordinatorClient) {
    let server = Server::answering(200, fixture(name)).await;
    let client = CoordinatorClient::builder([server.url.as_str()])
        .credentials(Credentials::bearer("t-1"))
        .build()
        .expect("settings that work");
    (server, client)
}

#[track_caller]
pub(crate) fn assert_sent(server: &Server, method: &str, target: &str, body: Value) {
    let expected = Seen {
        method: method.to_owned(),
        target: target.to_owned(),
        authorization: Some("Bearer t-1".to_owned()),
        body,
    };
    assert_eq!(server.seen(), [expected]);
}

fn creation() -> CreateStreamRequest {
    CreateStreamRequest {
        initial_shard_count: Some(8),
        requested_by: "ops".to_owned(),
        reason: None,
    }
}

#[tokio::test]
async fn log_in_goes_without_the_credentials_of_the_client() {
    let (server, client) = golden("login-response.full").await;
    let login = LoginRequest {
        username: "admin".to_owned(),
        password: "secret".to_owned(),
    };
    let answer = client.login(&login).await.expect("answers");
    assert_eq!(answer.access_token, "aaa.bbb.ccc");
    let expected = Seen {
        method: "POST".to_owned(),
        target: "/coord/v1/auth/login".to_owned(),
        authorization: None,
        body: json!({"username": "admin", "password": "secret"}),
    };
    assert_eq!(server.seen(), [expected]);
}

#[tokio::test]
async fn creating_a_stream_posts_to_the_prefix() {
    let (server, client) = golden("stream-created.minimal").await;
    let created = client
        .create_stream("orders", &creation())
        .await
        .expect("answers");
    assert_eq!(created.shard_count, 1);
    assert_sent(
        &server,
        "POST",
        "/coord/v1/streams/orders",
        json!({"initialShardCount": 8, "requestedBy": "ops"}),
    );
}

#[tokio::test]
async fn creating_a_group_posts_to_the_group() {
    let (server, client) = golden("group.minimal").await;
    let group = client
        .create_group("a/b", "ü", &creation())
        .await
        .expect("answers");
    assert_eq!(group.state, GroupState::Empty);
    let body = json!({"initialShardCount": 8, "requestedBy": "ops"});
    assert_sent(
        &server,
        "POST",
        "/coord/v1/streams/a%2Fb/groups/%C3%BC",
        body,
    );
}

#[tokio::test]
async fn looking_a_group_up_gets_the_group() {
    let (server, client) = golden("group.full").await;
    assert_eq!(
        client
            .group("orders", "billing")
            .await
            .expect("answers")
            .metadata_version,
        34
    );
    assert_sent(
        &server,
        "GET",
        "/coord/v1/streams/orders/groups/billing",
        Value::Null,
    );
}

#[tokio::test]
async fn deleting_a_group_sends_a_body() {
    let (server, client) = golden("group.minimal").await;
    let request = DeleteGroupRequest {
        requested_by: "ops".to_owned(),
        reason: "retired".to_owned(),
        force: true,
    };
    client
        .delete_group("orders", "billing", &request)
        .await
        .expect("answers");
    let body = json!({"requestedBy": "ops", "reason": "retired", "force": true});
    assert_sent(
        &server,
        "DELETE",
        "/coord/v1/streams/orders/groups/billing",
        body,
    );
}

#[tokio::test]
async fn routing_is_asked_at_the_group() {
    let (server, client) = golden("routing.full").await;
    let routing = client
        .producer_routing("orders", "billing")
        .await
        .expect("answers");
    assert_eq!(routing.routing_lease_ms, Some(10_000));
    assert_sent(
        &server,
        "GET",
        "/coord/v1/streams/orders/groups/billing/producer-routing",
        Value::Null,
    );
}

#[tokio::test]
async fn a_heartbeat_goes_to_the_member_it_names() {
    let (server, client) = golden("heartbeat-response.full").await;
    let text = fixture("heartbeat-request.full");
    let request: HeartbeatRequest = decode(text.as_bytes()).expect("golden");
    let answer = client
        .heartbeat("orders", "billing", &request)
        .await
        .expect("answers");
    assert_eq!(
        (answer.status, answer.response_to),
        (HeartbeatStatus::Ok, request.request_id)
    );
    let body = serde_json::from_str(&text).expect("JSON");
    assert_sent(
        &server,
        "POST",
        "/coord/v1/streams/orders/groups/billing/members/worker-m0/heartbeat",
        body,
    );
}

#[tokio::test]
async fn a_watch_carries_the_version_and_at_most_the_longest_wait() {
    let (server, client) = golden("watch-response.full").await;
    assert!(
        client
            .watch("orders", "orders", 7, Duration::from_secs(90))
            .await
            .expect("answers")
            .changed
    );
    assert_sent(
        &server,
        "GET",
        "/coord/v1/streams/orders/groups/orders/watch?after=7&waitMs=30000",
        Value::Null,
    );
}

#[tokio::test]
async fn monitoring_reads_what_its_paths_say() {
    let (server, client) = golden("health.full").await;
    assert_eq!(
        client.health().await.expect("answers").status,
        HealthStatus::Down
    );
    assert_sent(&server, "GET", "/coord/v1/monitoring/health", Value::Null);

    let (server, client) = golden("session.full").await;
    assert!(client.session().await.expect("answers").authenticated);
    assert_sent(&server, "GET", "/coord/v1/monitoring/session", Value::Null);

    let (server, client) = golden("compatibility.full").await;
    assert_eq!(
        client
            .compatibility()
            .await
            .expect("answers")
            .current_coordination_version,
        2
    );
    assert_sent(
        &server,
        "GET",
        "/coord/v1/monitoring/compatibility",
        Value::Null,
    );

    let (server, client) = golden("group-list.full").await;
    assert_eq!(client.groups().await.expect("answers").groups.len(), 2);
    assert_sent(&server, "GET", "/coord/v1/monitoring/groups", Value::Null);
}

#[tokio::test]
async fn monitoring_of_a_group_reads_what_its_paths_say() {
    let (server, client) = golden("group.unknown-field").await;
    assert_eq!(
        client
            .monitored_group("orders", "orders")
            .await
            .expect("answers")
            .shard_count,
        8
    );
    assert_sent(
        &server,
        "GET",
        "/coord/v1/monitoring/streams/orders/groups/orders",
        Value::Null,
    );

    let (server, client) = golden("member-list.full").await;
    assert_eq!(
        client
            .members("orders", "billing")
            .await
            .expect("answers")
            .members
            .len(),
        2
    );
    assert_sent(
        &server,
        "GET",
        "/coord/v1/monitoring/streams/orders/groups/billing/members",
        Value::Null,
    );

    let (server, client) = golden("assignments.full").await;
    assert_eq!(
        client
            .assignments("orders", "billing")
            .await
            .expect("answers")
            .target_assignment
            .len(),
        2
    );
    assert_sent(
        &server,
        "GET",
        "/coord/v1/monitoring/streams/orders/groups/billing/assignments",
        Value::Null,
    );
}

#[tokio::test]
async fn probes_tell_ready_from_not_ready() {
    let up = Server::answering(200, "redis_stream_coord_up 1\n").await;
    let client = CoordinatorClient::builder([up.url.as_str()])
        .build()
        .expect("settings that work");
    assert!(client.is_live().await.expect("answers"));
    assert!(client.is_ready().await.expect("answers"));
    assert_eq!(
        client.metrics().await.expect("answers"),
        "redis_stream_coord_up 1\n"
    );
    let targets: Vec<String> = up.seen().into_iter().map(|seen| seen.target).collect();
    assert_eq!(targets, ["/healthz", "/readyz", "/metrics"]);

    let leaving = Server::answering(503, "").await;
    let both = [leaving.url.as_str(), up.url.as_str()];
    let client = CoordinatorClient::builder(both)
        .build()
        .expect("settings that work");
    assert!(!client.is_ready().await.expect("answers"));
    assert_eq!(up.seen().len(), 3, "the other coordinator was not asked");
}

#[tokio::test]
async fn a_path_before_the_api_is_kept() {
    let server = Server::answering(200, fixture("group-list.minimal")).await;
    let url = format!("{}/behind/a/proxy/", server.url);
    let client = CoordinatorClient::builder([url])
        .build()
        .expect("settings that work");
    client.groups().await.expect("answers");
    assert_eq!(
        server.seen()[0].target,
        "/behind/a/proxy/coord/v1/monitoring/groups"
    );
}

#[tokio::test]
async fn basic_credentials_are_sent_as_such() {
    let server = Server::answering(200, fixture("session.full")).await;
    let client = CoordinatorClient::builder([server.url.as_str()])
        .credentials(Credentials::basic("admin", "pass:word"))
        .build()
        .expect("settings that work");
    client.session().await.expect("answers");
    let other = client
        .with_credentials(Credentials::bearer("t-2"))
        .expect("a token");
    other.session().await.expect("answers");
    let sent: Vec<Option<String>> = server
        .seen()
        .into_iter()
        .map(|seen| seen.authorization)
        .collect();
    assert_eq!(
        sent,
        [
            Some("Basic YWRtaW46cGFzczp3b3Jk".to_owned()),
            Some("Bearer t-2".to_owned())
        ]
    );
}
