//! The HTTP face: access, refusals in one shape, limits, probes.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::LazyLock;

use protocol::{CreateStreamRequest, ErrorBody, GroupState, LoginRequest};
use serde_json::{Value, json};
use support::{Server, config, heartbeat, http, memory, refusal};

const CREATE: &str = r#"{"initialShardCount": 4, "requestedBy": "test"}"#;
const FIVE: &str = r#"{"initialShardCount": 5, "requestedBy": "test"}"#;
const NOTHING: &str = r#"{"initialShardCount": 0, "requestedBy": "test"}"#;
const NOBODY: &str = r#"{"requestedBy": " "}"#;

/// A heartbeat that would make the record grow.
static LONG: LazyLock<String> = LazyLock::new(|| {
    let mut request = heartbeat("m", 0, 0);
    request.request_id = "r".repeat(257);
    serde_json::to_string(&request).unwrap()
});

fn as_admin(request: reqwest::RequestBuilder) -> reqwest::RequestBuilder {
    request.basic_auth("admin", Some("admin"))
}

/// A request, and the status, the code and a part of the message of its refusal.
type Case = (
    &'static str,
    String,
    Option<&'static str>,
    u16,
    &'static str,
    &'static str,
);

// A table: a row a line, but for the formatter.
#[allow(clippy::too_many_lines)]
fn refused_requests() -> Vec<Case> {
    let api = |path: &str| format!("/coord/v1{path}");
    let group = |path: &str| api(&format!("/streams/orders/groups/orders{path}"));
    let beat = || group("/members/m/heartbeat");
    vec![
        (
            "GET",
            "/nowhere".to_owned(),
            None,
            404,
            "NOT_FOUND",
            "/nowhere",
        ),
        ("GET", api("/nowhere"), None, 404, "NOT_FOUND", "nowhere"),
        (
            "PUT",
            api("/streams/orders"),
            None,
            405,
            "METHOD_NOT_ALLOWED",
            "PUT",
        ),
        (
            "DELETE",
            "/healthz".to_owned(),
            None,
            405,
            "METHOD_NOT_ALLOWED",
            "DELETE",
        ),
        ("POST", beat(), Some("{"), 400, "INVALID_REQUEST", "JSON"),
        ("POST", beat(), Some(""), 400, "INVALID_REQUEST", "empty"),
        (
            "POST",
            beat(),
            Some(r#"{"protocolVersion":"x"}"#),
            400,
            "INVALID_REQUEST",
            "protocolVersion",
        ),
        (
            "POST",
            beat(),
            Some(&LONG),
            400,
            "INVALID_REQUEST",
            "requestId is 257 bytes long",
        ),
        (
            "POST",
            api("/streams/a%7Bb"),
            Some(CREATE),
            400,
            "INVALID_REQUEST",
            "streamPrefix",
        ),
        (
            "POST",
            api("/streams/%ff"),
            Some(CREATE),
            400,
            "INVALID_REQUEST",
            "path",
        ),
        (
            "POST",
            api("/streams/orders"),
            Some(CREATE),
            409,
            "STREAM_PREFIX_ALREADY_EXISTS",
            "exists",
        ),
        (
            "POST",
            group(""),
            Some(CREATE),
            409,
            "GROUP_ALREADY_EXISTS",
            "exists",
        ),
        (
            "POST",
            api("/streams/orders/groups/g"),
            Some(FIVE),
            400,
            "INVALID_REQUEST",
            "is 5, but the stream has 4",
        ),
        (
            "POST",
            api("/streams/none"),
            Some(NOTHING),
            400,
            "INVALID_REQUEST",
            "initialShardCount must be 1 to 16384",
        ),
        (
            "POST",
            api("/streams/none"),
            Some(NOBODY),
            400,
            "INVALID_REQUEST",
            "requestedBy",
        ),
        (
            "GET",
            api("/streams/orders/groups/none"),
            None,
            404,
            "GROUP_NOT_FOUND",
            "not exist",
        ),
        (
            "GET",
            api("/streams/none/groups/none/producer-routing"),
            None,
            404,
            "GROUP_NOT_FOUND",
            "not exist",
        ),
        (
            "GET",
            group("/watch?waitMs=30001"),
            None,
            400,
            "INVALID_REQUEST",
            "waitMs",
        ),
        (
            "GET",
            group("/watch?after=x"),
            None,
            400,
            "INVALID_REQUEST",
            "after must be a number from 0 on, not \"x\"",
        ),
        (
            "GET",
            api("/monitoring/groups?state=XX"),
            None,
            400,
            "INVALID_REQUEST",
            "state must be EMPTY, ASSIGNING, RECONCILING or STABLE, not \"XX\"",
        ),
        (
            "GET",
            api("/monitoring/audit?limit=5&limit=6"),
            None,
            400,
            "INVALID_REQUEST",
            "limit is there twice",
        ),
    ]
}

#[tokio::test]
async fn every_refusal_has_the_same_shape() {
    let server = Server::start().await;
    server.create("orders", 4).await;
    for (method, path, body, status, code, says) in refused_requests() {
        let mut request = as_admin(server.request(method, &path));
        if let Some(body) = body {
            request = request.body(body);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.status().as_u16(), status, "{method} {path}");
        let text = response.text().await.unwrap();
        let body: ErrorBody =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {text:?}: {error}"));
        assert_eq!(body.error_code.as_str(), code, "{path}: {text}");
        assert_eq!(body.status, protocol::status_name(status), "{path}");
        assert!(
            body.message.contains(says),
            "{path}: {:?} should say {says:?}",
            body.message
        );
    }
}

#[tokio::test]
async fn a_body_over_the_limit_is_refused() {
    let server = Server::start().await;
    let path = "/coord/v1/streams/orders/groups/orders/members/m/heartbeat";
    let request = server
        .request("POST", path)
        .body(vec![b' '; 256 * 1024 + 1]);
    let (status, code, message) = refusal(request.send().await.unwrap()).await;
    assert_eq!((status, code.as_str()), (413, "PAYLOAD_TOO_LARGE"));
    assert!(message.contains("262144"), "{message}");
}

#[tokio::test]
async fn a_body_that_grows_over_the_limit_is_refused_without_its_length_being_announced() {
    let server = Server::start().await;
    let chunks =
        futures_util::stream::iter((0..300).map(|_| Ok::<_, std::io::Error>(vec![b' '; 1024])));
    let path = "/coord/v1/streams/orders/groups/orders/members/m/heartbeat";
    let request = server
        .request("POST", path)
        .body(reqwest::Body::wrap_stream(chunks));
    assert_eq!(refusal(request.send().await.unwrap()).await.0, 413);
}

#[tokio::test]
async fn who_has_no_credentials_is_asked_for_them_and_who_has_wrong_ones_is_not_let_in() {
    let server = Server::start().await;
    let path = "/coord/v1/monitoring/groups";
    let missing = server.request("GET", path).send().await.unwrap();
    assert!(
        missing.headers()["www-authenticate"]
            .to_str()
            .unwrap()
            .contains("Bearer")
    );
    assert_eq!(refusal(missing).await.1, "UNAUTHORIZED");
    let wrong = server
        .request("GET", path)
        .basic_auth("admin", Some("wrong"));
    assert_eq!(refusal(wrong.send().await.unwrap()).await.0, 401);
    let garbage = server.request("GET", path).bearer_auth("garbage");
    assert_eq!(refusal(garbage.send().await.unwrap()).await.0, 401);
    let create = server
        .request("POST", "/coord/v1/streams/orders")
        .body(CREATE);
    assert_eq!(refusal(create.send().await.unwrap()).await.0, 401);

    let login = LoginRequest {
        username: "admin".to_owned(),
        password: "admin".to_owned(),
    };
    let token = server.client.login(&login).await.unwrap();
    let session = server
        .request("GET", "/coord/v1/monitoring/session")
        .bearer_auth(&token.access_token);
    let session: Value =
        serde_json::from_str(&session.send().await.unwrap().text().await.unwrap()).unwrap();
    assert_eq!(
        session,
        json!({"authenticated": true, "username": "admin", "roles": ["ADMIN"]})
    );
    let bad = LoginRequest {
        password: "wrong".to_owned(),
        ..login
    };
    assert!(
        server
            .client
            .login(&bad)
            .await
            .unwrap_err()
            .to_string()
            .contains("wrong")
    );
}

#[tokio::test]
async fn members_need_credentials_only_where_that_is_configured() {
    let mut strict = config();
    strict.authenticate_members = true;
    let server = Server::with(memory(), strict).await;
    server.create("orders", 1).await;
    let path = "/coord/v1/streams/orders/groups/orders/members/m/heartbeat";
    let body = serde_json::to_string(&heartbeat("m", 0, 0)).unwrap();
    let anonymous = server
        .request("POST", path)
        .body(body.clone())
        .send()
        .await
        .unwrap();
    assert_eq!(refusal(anonymous).await.1, "UNAUTHORIZED");
    let known = as_admin(server.request("POST", path))
        .body(body)
        .send()
        .await
        .unwrap();
    assert_eq!(known.status(), 200);
}

#[tokio::test]
async fn a_stream_has_groups_that_share_its_shards() {
    let server = Server::start().await;
    server.create("orders", 3).await;
    let inherits = CreateStreamRequest {
        initial_shard_count: None,
        requested_by: "test".to_owned(),
        reason: None,
    };
    // Rule G10: a further group takes the stream's count.
    let billing = server
        .client
        .create_group("orders", "billing", &inherits)
        .await
        .unwrap();
    assert_eq!((billing.shard_count, billing.state), (3, GroupState::Empty));
    let routing = server
        .client
        .producer_routing("orders", "billing")
        .await
        .unwrap();
    let keys: Vec<_> = routing
        .shards
        .iter()
        .map(|shard| (shard.stream_key.as_str(), shard.redis_slot))
        .collect();
    assert_eq!(keys[..2], [("orders:0", 8578), ("orders:1", 12707)]);
    assert_eq!(routing.stream_key_pattern, "orders:{shardIndex}");
    let groups = server.client.groups().await.unwrap().groups;
    let names: Vec<_> = groups
        .iter()
        .map(|group| group.consumer_group.as_str())
        .collect();
    assert_eq!(names, ["billing", "orders"]);
}

#[tokio::test]
async fn a_group_is_deleted_from_under_its_members_only_by_force() {
    let server = Server::start().await;
    server.create("orders", 2).await;
    server.beat("orders", &heartbeat("a", 0, 0)).await;
    let delete = |force: bool| {
        let body = json!({"requestedBy": "test", "reason": "over", "force": force}).to_string();
        as_admin(server.request("DELETE", "/coord/v1/streams/orders/groups/orders"))
            .body(body)
            .send()
    };
    let (status, code, message) = refusal(delete(false).await.unwrap()).await;
    assert_eq!((status, code.as_str()), (409, "GROUP_HAS_ACTIVE_MEMBERS"));
    assert!(
        message.contains("members that are active or may still be reading: 1"),
        "{message}"
    );
    let deleted: Value =
        serde_json::from_str(&delete(true).await.unwrap().text().await.unwrap()).unwrap();
    assert_eq!(deleted["targetAssignmentSummary"], json!({"a": 2}));
    assert_eq!(
        refusal(delete(true).await.unwrap()).await.1,
        "GROUP_NOT_FOUND"
    );
    server.create("orders", 2).await;
}

#[tokio::test]
async fn probes_and_numbers_are_open_to_everybody() {
    let server = Server::start().await;
    server.create("orders", 1).await;
    server.beat("orders", &heartbeat("a", 0, 0)).await;
    for path in ["/healthz", "/readyz"] {
        assert_eq!(
            http().get(server.url(path)).send().await.unwrap().status(),
            200,
            "{path}"
        );
    }
    let numbers = server.client.metrics().await.unwrap();
    for name in [
        "redis_stream_coord_up 1",
        "redis_stream_coord_heartbeat_total{stream_prefix=\"orders\",consumer_group=\"orders\",status=\"OK\"} 1",
    ] {
        assert!(numbers.contains(name), "{name} is missing of {numbers}");
    }
    let health = server.client.health().await.unwrap();
    assert_eq!(health.coordinator_id, "test");
}
