//! Every mutation leaves one event, refused ones included, and none fails for want of a place for its event.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use coordinator_server::Deps;
use protocol::{AuditAction, AuditEvent, AuditEvents, AuditOutcome, Role};
use reqwest::{RequestBuilder, Response};
use sha2::{Digest, Sha256};
use store::{AuditEntry, AuditFilter};
use support::resharding::with_plane;
use support::unlucky::{Fortune, UnluckyPlane};
use support::{Server, config, memory, refusal};

const PATIENCE: Duration = Duration::from_secs(20);

const CREATE: &str =
    r#"{"initialShardCount":2,"requestedBy":"ops","reason":"a test","password":"hunter2"}"#;
const SCALE: &str = r#"{"targetShardCount":4,"requestedBy":"ops","reason":"more"}"#;
const DELETE: &str = r#"{"requestedBy":"ops","reason":"over","force":true}"#;

fn as_admin(request: RequestBuilder) -> RequestBuilder {
    request.basic_auth("admin", Some("admin"))
}

async fn send(server: &Server, method: &str, path: &str, body: &str) -> Response {
    let path = format!("/coord/v1{path}");
    let request = as_admin(server.request(method, &path)).body(body.to_owned());
    request.send().await.unwrap()
}

async fn events(server: &Server, query: &str) -> Vec<AuditEvent> {
    let path = format!("/monitoring/audit{query}");
    let answer = send(server, "GET", &path, "").await;
    assert_eq!(answer.status(), 200);
    answer.json::<AuditEvents>().await.unwrap().events
}

fn told(event: &AuditEvent) -> (AuditAction, AuditOutcome, u16) {
    (event.action, event.outcome, event.status)
}

#[tokio::test]
async fn a_mutation_is_told_with_everything_that_is_known_of_it() {
    let server = Server::start().await;
    let request = as_admin(server.request("POST", "/coord/v1/streams/orders?dry=1"))
        .header("x-request-id", "q-1")
        .header("user-agent", "a-test/1")
        .body(CREATE);
    assert_eq!(request.send().await.unwrap().status(), 201);
    let all = events(&server, "").await;
    let [event] = &all[..] else {
        panic!("one event: {all:?}");
    };
    assert_eq!(
        told(event),
        (AuditAction::CreateStream, AuditOutcome::Success, 201)
    );
    assert_eq!(event.coordinator_id, "test");
    assert_eq!(event.principal.as_deref(), Some("admin"));
    assert_eq!(event.roles, [Role::Admin]);
    assert_eq!(event.method, "POST");
    assert_eq!(event.path, "/coord/v1/streams/orders");
    assert_eq!(event.route, "/coord/v1/streams/{streamPrefix}");
    assert_eq!(event.query_string.as_deref(), Some("dry=1"));
    assert_eq!(event.request_id.as_deref(), Some("q-1"));
    assert_eq!(event.user_agent.as_deref(), Some("a-test/1"));
    assert_eq!(event.requested_by.as_deref(), Some("ops"));
    assert_eq!(event.reason.as_deref(), Some("a test"));
    assert_eq!(event.stream_prefix.as_deref(), Some("orders"));
    assert_eq!(event.consumer_group, None);
    let address = event.client_address.as_deref().unwrap();
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    let digest = Sha256::digest(CREATE.as_bytes());
    let digest: String = digest.iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(event.request_body_sha256.as_deref(), Some(digest.as_str()));
    let summary: Vec<_> = event.request_summary.iter().collect();
    assert_eq!(
        summary,
        [(&"initialShardCount".to_owned(), &"2".to_owned())]
    );
    let text = serde_json::to_string(event).unwrap();
    assert!(!text.contains("hunter2"), "nobody asked for that: {text}");
}

#[tokio::test]
async fn every_refusal_of_a_mutation_is_told() {
    let mut config = config();
    config.limits.body_bytes = 400;
    let server = Server::with(memory(), config).await;
    let huge = format!(r#"{{"requestedBy":"{}"}}"#, "x".repeat(500));
    let none = "/streams/none/groups/none";
    let orders = "/streams/orders/groups/orders";
    let rollback = format!("{orders}/migrations/reshard-1/rollback");
    let why = r#"{"requestedBy":"ops","reason":"no"}"#;
    let table: [(&str, &str, &str, u16, AuditAction); 9] = [
        (
            "POST",
            "/streams/orders",
            CREATE,
            201,
            AuditAction::CreateStream,
        ),
        (
            "POST",
            "/streams/orders",
            CREATE,
            409,
            AuditAction::CreateStream,
        ),
        (
            "POST",
            "/streams/a%7Bb",
            CREATE,
            400,
            AuditAction::CreateStream,
        ),
        ("POST", orders, "{", 400, AuditAction::CreateGroup),
        ("POST", orders, &huge, 413, AuditAction::CreateGroup),
        ("DELETE", none, DELETE, 404, AuditAction::DeleteGroup),
        (
            "POST",
            "/streams/none/scale",
            SCALE,
            404,
            AuditAction::ScaleStream,
        ),
        (
            "POST",
            &format!("{none}/scale"),
            SCALE,
            404,
            AuditAction::ScaleGroup,
        ),
        ("POST", &rollback, why, 404, AuditAction::RollbackMigration),
    ];
    for (method, path, body, status, action) in &table {
        let answer = send(&server, method, path, body).await;
        assert_eq!(answer.status(), *status, "{method} {path}");
        let newest = &events(&server, "?limit=1").await[0];
        let outcome = match status {
            201 => AuditOutcome::Success,
            _ => AuditOutcome::Rejected,
        };
        assert_eq!(told(newest), (*action, outcome, *status), "{method} {path}");
        assert_eq!(newest.principal.as_deref(), Some("admin"));
    }
    let all = events(&server, "").await;
    assert_eq!(all.len(), table.len());
    let orders: Vec<u16> = events(&server, "?streamPrefix=orders")
        .await
        .iter()
        .map(|event| event.status)
        .collect();
    assert_eq!(orders, [404, 413, 400, 409, 201]);
    let none = events(&server, "?streamPrefix=none&limit=2").await;
    assert_eq!(none.len(), 2, "of a stream that does not exist, too");
}

/// What somebody tried who might not is the most interesting of all.
#[tokio::test]
async fn whoever_is_not_let_in_is_told_of_with_what_was_asked_for() {
    let server = Server::start().await;
    let path = "/coord/v1/streams/orders";
    let bare = server
        .request("POST", path)
        .body(CREATE)
        .send()
        .await
        .unwrap();
    assert_eq!(refusal(bare).await.0, 401);
    let wrong = server
        .request("POST", path)
        .basic_auth("admin", Some("guess"));
    let wrong = wrong.body(CREATE).send().await.unwrap();
    assert_eq!(refusal(wrong).await.0, 401);
    let all = events(&server, "?streamPrefix=orders").await;
    assert_eq!(all.len(), 2);
    for event in all {
        assert_eq!(
            told(&event),
            (AuditAction::CreateStream, AuditOutcome::Rejected, 401)
        );
        assert_eq!((event.principal, event.roles), (None, Vec::new()));
        assert_eq!(event.requested_by.as_deref(), Some("ops"));
        assert!(event.request_body_sha256.is_some());
    }
}

/// A restore changes groups behind everybody's back: it is told of the request, and of each group where somebody looks for that group.
#[tokio::test]
async fn a_restore_is_told_of_and_so_is_each_group_that_it_put_back() {
    let server = Server::start().await;
    for stream in ["orders", "bills"] {
        let path = format!("/streams/{stream}");
        send(&server, "POST", &path, CREATE).await;
    }
    let file = send(&server, "GET", "/admin/snapshot", "").await;
    let file = file.text().await.unwrap();
    let restore = "/admin/snapshot/restore";
    assert_eq!(send(&server, "POST", restore, &file).await.status(), 409);
    let refused = &events(&server, "").await[0];
    let rejected = (AuditAction::RestoreSnapshot, AuditOutcome::Rejected, 409);
    assert_eq!(told(refused), rejected);
    assert_eq!(
        (&refused.stream_prefix, &refused.query_string),
        (&None, &None)
    );
    let forced = format!("{restore}?force=true&requestedBy=ops%40here&reason=lost");
    // The end is cut off: that is found out before anything is put back.
    let cut: Vec<&str> = file.lines().take(2).collect();
    let cut = cut.join("\n");
    let answer = send(&server, "POST", &forced, &cut).await;
    assert_eq!(answer.status(), 400);
    let newest = events(&server, "?limit=3").await;
    let told_of: Vec<_> = newest.iter().map(told).collect();
    let action = AuditAction::RestoreSnapshot;
    let cut = (action, AuditOutcome::Rejected, 400);
    let created = (AuditAction::CreateStream, AuditOutcome::Success, 201);
    assert_eq!(told_of, [cut, rejected, created]);
    assert_eq!(send(&server, "POST", &forced, &file).await.status(), 200);
    let newest = events(&server, "?limit=3").await;
    let digest = newest[2].request_body_sha256.clone();
    assert_eq!((&newest[2].stream_prefix, digest.is_some()), (&None, true));
    let of_orders = events(&server, "?streamPrefix=orders&limit=1").await;
    let [event] = &of_orders[..] else {
        panic!("one event: {of_orders:?}");
    };
    assert_eq!(told(event), (action, AuditOutcome::Success, 200));
    assert_eq!(event.consumer_group.as_deref(), Some("orders"));
    assert_eq!(event.principal.as_deref(), Some("admin"));
    // A file has no place for who asks and why: the query says it, and each group's event.
    for event in [event, &newest[2]] {
        assert_eq!(event.requested_by.as_deref(), Some("ops@here"));
        assert_eq!(event.reason.as_deref(), Some("lost"));
    }
    assert!(
        event
            .query_string
            .as_deref()
            .unwrap()
            .starts_with("force=true&")
    );
    assert_eq!(event.request_body_sha256, digest);
    let names: Vec<&str> = event.request_summary.keys().map(String::as_str).collect();
    assert_eq!(names, ["groupEpoch", "metadataVersion", "outcome"]);
    assert_eq!(event.request_summary["outcome"], "REPLACED");
}

/// Who is gone is asked about most: its own list stays, however much others do.
#[tokio::test]
async fn events_of_groups_that_are_gone_are_found_however_much_came_after() {
    let deps = memory();
    let sink = deps.store.clone().audit().unwrap();
    let server = Server::with(deps, config()).await;
    let billing = "/streams/orders/groups/billing";
    let asked = r#"{"requestedBy":"ops","reason":"a test"}"#;
    for (method, path, body) in [
        ("POST", "/streams/orders", CREATE),
        ("POST", billing, asked),
        ("DELETE", billing, DELETE),
        ("DELETE", "/streams/orders/groups/orders", DELETE),
        ("POST", "/streams/others", CREATE),
    ] {
        assert!(
            send(&server, method, path, body)
                .await
                .status()
                .is_success()
        );
    }
    let of_others = &events(&server, "?limit=1").await[0];
    let of_others = AuditEntry {
        group: None,
        is_proved: true,
        event: serde_json::to_string(of_others).unwrap(),
    };
    for _ in 0..store::AUDIT_CAP {
        sink.record(&of_others).await.unwrap();
    }
    let actions = async |query: &str| -> Vec<AuditAction> {
        let events = events(&server, query).await;
        events.iter().map(|event| event.action).collect()
    };
    let [delete, group] = [AuditAction::DeleteGroup, AuditAction::CreateGroup];
    let own = [delete, AuditAction::CreateStream];
    assert_eq!(actions("?streamPrefix=orders").await, own);
    assert_eq!(actions("?streamPrefix=orders&consumerGroup=").await, own);
    assert_eq!(actions("?streamPrefix=orders&limit=1").await, [delete]);
    let named = "?streamPrefix=orders&consumerGroup=";
    assert_eq!(actions(&format!("{named}orders")).await, own);
    assert_eq!(actions(&format!("{named}billing")).await, [delete, group]);
    assert_eq!(actions(&format!("{named}none")).await, []);
    assert_eq!(actions("").await, [AuditAction::CreateStream], "each once");
    let path = "/monitoring/audit?consumerGroup=billing";
    let refused = refusal(send(&server, "GET", path, "").await).await;
    assert_eq!(refused.0, 400);
    assert!(refused.2.contains("streamPrefix"), "{}", refused.2);
}

/// What was recorded goes on: whoever reads the event is to find it.
#[tokio::test]
async fn a_change_that_is_recorded_and_fails_is_told_with_its_name() {
    let plane = UnluckyPlane::new();
    let server = with_plane(plane.clone(), 2).await;
    plane.turn(Fortune::Fails);
    for path in [
        "/streams/orders/scale",
        "/streams/orders/groups/orders/scale",
    ] {
        let (status, _, message) = refusal(send(&server, "POST", path, SCALE).await).await;
        let known = server.client.migrations("orders", "orders").await.unwrap();
        let id = known.active_resharding_id.unwrap();
        assert_eq!(status, 503);
        assert!(message.contains(&id), "{message}");
        let event = &events(&server, "?limit=1").await[0];
        assert_eq!((event.outcome, event.status), (AuditOutcome::Failed, 503));
        assert_eq!(event.resharding_id.as_deref(), Some(id.as_str()));
    }
    plane.turn(Fortune::Works);
}

/// Whoever asked is gone and so is, soon, the coordinator: it goes once the event is kept.
#[tokio::test]
async fn a_change_with_which_the_process_ends_leaves_its_event() {
    let plane = UnluckyPlane::new();
    let deps = Deps {
        plane: Some(plane.clone()),
        ..memory()
    };
    let sink = deps.store.clone().audit().unwrap();
    let mut server = Server::with(deps, config()).await;
    plane.turn(Fortune::Waits);
    let asking = as_admin(server.request("POST", "/coord/v1/streams/orders")).body(CREATE);
    let asking = tokio::spawn(asking.send());
    let is_under_way = || async { plane.waiting() == 1 };
    testkit::wait_until_async(PATIENCE, is_under_way)
        .await
        .unwrap();
    asking.abort();
    server.terminate();
    plane.turn(Fortune::Works);
    server.ended().await;
    let kept = sink.latest(&AuditFilter::Fleet, 10).await.unwrap();
    let kept: Vec<AuditEvent> = kept
        .iter()
        .map(|text| serde_json::from_str(text).unwrap())
        .collect();
    let created = (AuditAction::CreateStream, AuditOutcome::Success, 201);
    assert_eq!(kept.iter().map(told).collect::<Vec<_>>(), [created]);
}

#[tokio::test]
async fn what_only_looks_or_beats_leaves_no_event() {
    let server = Server::start().await;
    for (method, path) in [
        ("GET", "/monitoring/groups"),
        ("GET", "/streams/orders/groups/orders"),
        ("PUT", "/streams/orders"),
        ("POST", "/streams/orders/groups/orders/members/m/heartbeat"),
        ("POST", "/nowhere"),
    ] {
        send(&server, method, path, "{}").await;
    }
    assert_eq!(events(&server, "").await, []);
    for limit in ["0", "1001", "x"] {
        let path = format!("/monitoring/audit?limit={limit}");
        assert_eq!(send(&server, "GET", &path, "").await.status(), 400);
    }
}

/// On Redis: in one list of the fleet and one of each group, and no key of a name that is none.
#[tokio::test]
async fn events_are_in_redis_and_names_that_are_no_groups_make_no_keys() {
    let (redis, server) = support::redis::start(config()).await;
    send(&server, "POST", "/streams/orders", CREATE).await;
    let scaled = send(
        &server,
        "POST",
        "/streams/orders/groups/orders/scale",
        SCALE,
    )
    .await;
    let scaled: protocol::Migration = scaled.json().await.unwrap();
    for number in 0..5 {
        let path = format!("/streams/none-{number}/groups/none");
        assert_eq!(send(&server, "DELETE", &path, DELETE).await.status(), 404);
    }
    assert_eq!(
        server
            .request("POST", "/coord/v1/streams/nobody")
            .send()
            .await
            .unwrap()
            .status(),
        401
    );
    send(&server, "DELETE", "/streams/orders/groups/orders", DELETE).await;
    let mut connection = redis.connection().await.unwrap();
    let mut keys: Vec<String> = support::redis::ask(&mut connection, &["KEYS", "*audit*"]).await;
    keys.sort();
    let prefix = "redis-stream:coord";
    let expected = [
        "admin:audit",
        "admin:audit:unproved",
        "{orders:orders}:admin:audit",
    ];
    assert_eq!(keys, expected.map(|key| format!("{prefix}:{key}")));
    let own: Vec<String> =
        support::redis::ask(&mut connection, &["LRANGE", &keys[2], "0", "-1"]).await;
    let own: Vec<AuditEvent> = own
        .iter()
        .map(|text| serde_json::from_str(text).unwrap())
        .collect();
    let actions: Vec<_> = own.iter().map(|event| event.action).collect();
    let [create, scale, delete] = [
        AuditAction::CreateStream,
        AuditAction::ScaleGroup,
        AuditAction::DeleteGroup,
    ];
    assert_eq!(actions, [delete, scale, create]);
    assert_eq!(
        own[1].resharding_id.as_deref(),
        Some(scaled.resharding_id.as_str())
    );
    assert_eq!(events(&server, "").await.len(), 9);
    assert_eq!(events(&server, "?streamPrefix=orders").await, own);
    let ttl: i64 = support::redis::ask(&mut connection, &["TTL", &keys[2]]).await;
    assert_eq!(ttl, -1, "it stays");
}

#[tokio::test]
async fn a_mutation_whose_event_can_not_be_kept_happens_and_is_counted() {
    let redis = testkit::RedisServer::builder().start().unwrap();
    let mut connection = redis.connection().await.unwrap();
    let user = "ACL SETUSER limited on >secret ~* &* +@all -lpush";
    let words: Vec<&str> = user.split(' ').collect();
    support::redis::ask::<String>(&mut connection, &words).await;
    let url = format!("redis://limited:secret@{}/", redis.address());
    let server = Server::with(support::redis::deps(&url).await, config()).await;
    let failed = |text: &str| -> u64 {
        let name = "redis_stream_coord_audit_failed_total ";
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        line.map_or(0, |value| value.parse().unwrap())
    };
    let before = failed(&server.client.metrics().await.unwrap());
    assert_eq!(
        send(&server, "POST", "/streams/orders", CREATE)
            .await
            .status(),
        201
    );
    assert_eq!(
        server
            .client
            .group("orders", "orders")
            .await
            .unwrap()
            .shard_count,
        2
    );
    // What a scrape tells may be a second old.
    let counted = || async { failed(&server.client.metrics().await.unwrap()) == before + 1 };
    testkit::wait_until_async(Duration::from_secs(10), counted)
        .await
        .unwrap();
    assert_eq!(events(&server, "").await, []);
}
