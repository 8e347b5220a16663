//! What the calls around changes of the shard count send, and that they read the golden answers and failures.

use coordinator_client::CoordinatorClient;
use protocol::{
    ErrorBody, ErrorCode, MessageQuery, MigrationState, PageDirection, RollbackRequest,
    ScaleRequest, decode,
};
use serde_json::{Value, json};

use crate::requests::{assert_sent, golden};
use crate::server::{Server, answer, fixture, hanging_up};

const ID: &str = "reshard-0b9f6a52-7f0e-4a8e-9a55-8f6ad1c3a002";

fn more() -> ScaleRequest {
    ScaleRequest {
        target_shard_count: 16,
        requested_by: "ops".to_owned(),
        reason: "more traffic".to_owned(),
        deprecated_after: None,
    }
}

fn back() -> RollbackRequest {
    RollbackRequest {
        requested_by: "ops".to_owned(),
        reason: "too early".to_owned(),
    }
}

fn body_of_more() -> Value {
    json!({"targetShardCount": 16, "requestedBy": "ops", "reason": "more traffic"})
}

fn at(query: &MessageQuery, cursor: &str) -> MessageQuery {
    MessageQuery {
        cursor: Some(cursor.to_owned()),
        ..query.clone()
    }
}

#[tokio::test]
async fn scaling_a_stream_posts_to_the_stream() {
    let (server, client) = golden("stream-scaled.full").await;
    let text = fixture("scale-request.full");
    let request: ScaleRequest = decode(text.as_bytes()).expect("golden");
    let scaled = client.scale_stream("a/b", &request).await.expect("answers");
    assert_eq!(scaled.affected_consumer_groups, ["billing", "orders"]);
    assert_eq!(scaled.migrations.len(), 2);
    let body = serde_json::from_str(&text).expect("JSON");
    assert_sent(&server, "POST", "/coord/v1/streams/a%2Fb/scale", body);
}

#[tokio::test]
async fn g9_scaling_a_group_posts_to_the_group_and_reads_that_nothing_changed() {
    let (server, client) = golden("migration.noop").await;
    let change = client
        .scale_group("orders", "billing", &more())
        .await
        .expect("answers");
    assert_eq!(change.resharding_id, protocol::NOOP_RESHARDING_ID);
    assert_sent(
        &server,
        "POST",
        "/coord/v1/streams/orders/groups/billing/scale",
        body_of_more(),
    );
}

#[tokio::test]
async fn changes_are_read_from_monitoring_and_one_of_them_from_its_group() {
    let (server, client) = golden("migrations.full").await;
    let known = client
        .migrations("orders", "billing")
        .await
        .expect("answers");
    assert_eq!(known.active_resharding_id.as_deref(), Some(ID));
    assert_eq!(known.migrations.len(), 2);
    let path = "/coord/v1/monitoring/streams/orders/groups/billing/migrations";
    assert_sent(&server, "GET", path, Value::Null);

    let (server, client) = golden("migration.full").await;
    let change = client
        .migration("orders", "billing", ID)
        .await
        .expect("answers");
    assert_eq!(change.state, MigrationState::Draining);
    let path = format!("/coord/v1/streams/orders/groups/billing/migrations/{ID}");
    assert_sent(&server, "GET", &path, Value::Null);
}

#[tokio::test]
async fn g8_taking_a_change_back_posts_to_the_change() {
    let (server, client) = golden("migration.minimal").await;
    client
        .roll_back("orders", "billing", ID, &back())
        .await
        .expect("answers");
    let path = format!("/coord/v1/streams/orders/groups/billing/migrations/{ID}/rollback");
    let body = json!({"requestedBy": "ops", "reason": "too early"});
    assert_sent(&server, "POST", &path, body);
}

/// What did not reach its end may have been carried out: only what may be repeated is sent to another coordinator.
#[tokio::test]
async fn g8_taking_back_is_tried_elsewhere_when_the_connection_breaks_and_scaling_is_not() {
    let server = Server::answering(200, fixture("migration.minimal")).await;
    let client = |broken: String| {
        CoordinatorClient::builder([broken, server.url.clone()])
            .build()
            .expect("settings that work")
    };
    let to_scale = client(hanging_up().await);
    let error = to_scale
        .scale_group("orders", "billing", &more())
        .await
        .expect_err("the connection broke");
    assert!(error.is_retryable(), "{error:?}");
    assert_eq!(server.seen(), []);
    let to_take_back = client(hanging_up().await);
    let taken_back = to_take_back
        .roll_back("orders", "billing", ID, &back())
        .await;
    taken_back.expect("the other one answers");
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn offsets_are_read_with_what_is_not_known_left_out() {
    let (server, client) = golden("offsets.full").await;
    let offsets = client.offsets("orders", "billing").await.expect("answers");
    let lags: Vec<Option<u64>> = offsets.shards.iter().map(|shard| shard.lag).collect();
    assert_eq!((lags, offsets.total_lag), (vec![Some(3), None], None));
    let path = "/coord/v1/monitoring/streams/orders/groups/billing/offsets";
    assert_sent(&server, "GET", path, Value::Null);
}

#[tokio::test]
async fn a_page_of_messages_is_asked_for_by_direction_cursor_and_limit() {
    let path = "/coord/v1/monitoring/streams/orders/groups/billing/shards/7/messages";
    let query = MessageQuery {
        direction: PageDirection::Forward,
        cursor: None,
        limit: 2,
    };
    let (server, client) = golden("message-page.full").await;
    let page = client
        .messages("orders", "billing", 7, &query)
        .await
        .expect("answers");
    assert_eq!(page.records.len(), 2);
    let next = page.next_cursor.expect("there are more");
    assert_sent(
        &server,
        "GET",
        &format!("{path}?direction=FORWARD&limit=2"),
        Value::Null,
    );

    let (server, client) = golden("message-page.minimal").await;
    let query = MessageQuery {
        direction: PageDirection::Backward,
        ..at(&query, &next)
    };
    let page = client.messages("orders", "billing", 7, &query).await;
    assert_eq!(page.expect("answers").next_cursor, None);
    assert_sent(
        &server,
        "GET",
        &format!("{path}?direction=BACKWARD&cursor=1769854530123-1&limit=2"),
        Value::Null,
    );

    // Whatever a cursor is, it stays one value.
    let (server, client) = golden("message-page.minimal").await;
    let query = at(&query, "1&limit=9 #");
    let page = client.messages("orders", "billing", 7, &query).await;
    page.expect("answers");
    assert_sent(
        &server,
        "GET",
        &format!("{path}?direction=BACKWARD&cursor=1%26limit%3D9%20%23&limit=2"),
        Value::Null,
    );
}

#[tokio::test]
async fn a_refused_change_is_told_with_its_code() {
    for (status, code, is_retryable) in [
        (404, ErrorCode::StreamNotFound, false),
        (409, ErrorCode::ActiveMigrationExists, false),
        (503, ErrorCode::RedisStreamProvisioningFailed, true),
    ] {
        let body = serde_json::to_string(&ErrorBody::new(code.clone(), "why")).expect("encodes");
        let server = Server::start(move |_| {
            let refusal = answer(status, body.clone());
            async { refusal }
        })
        .await;
        let client = CoordinatorClient::builder([server.url.as_str()])
            .build()
            .expect("settings that work");
        let error = client
            .scale_stream("orders", &more())
            .await
            .expect_err("is refused");
        assert_eq!(
            (error.code(), error.is_retryable()),
            (Some(&code), is_retryable)
        );
    }
}
