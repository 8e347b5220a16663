//! Requests around changes of the shard count that can't be carried out, each refused with a code and a sentence that says what is wrong.
#![allow(clippy::unwrap_used)]

mod support;

use serde_json::{Value, json};
use support::refusal;
use support::resharding::{asked, with_shards};

const ID: &str = "reshard-0b9f6a52-7f0e-4a8e-9a55-8f6ad1c3a001";
const GROUP: &str = "/streams/orders/groups/orders";
const SEEN: &str = "/monitoring/streams/orders/groups/orders";

fn scale(target: i64, by: &str) -> Option<Value> {
    Some(json!({"targetShardCount": target, "requestedBy": by, "reason": "to see"}))
}

fn back(by: &str) -> Option<Value> {
    Some(json!({"requestedBy": by, "reason": "to see"}))
}

fn told(status: &str, code: &str, message: &str) -> Value {
    json!({"status": status, "errorCode": code, "message": message})
}

#[tokio::test]
async fn what_is_not_there_is_told_by_what_is_missing() {
    let server = with_shards(4).await;
    let change = format!("no change of the shard count is called {ID}");
    for (method, path, body, code, message) in [
        (
            "POST",
            "/streams/none/scale".to_owned(),
            scale(6, "test"),
            "STREAM_NOT_FOUND",
            "no group of the stream exists",
        ),
        (
            "POST",
            "/streams/orders/groups/none/scale".to_owned(),
            scale(6, "test"),
            "GROUP_NOT_FOUND",
            "the consumer group does not exist",
        ),
        (
            "GET",
            format!("{GROUP}/migrations/{ID}"),
            None,
            "MIGRATION_NOT_FOUND",
            &change,
        ),
        (
            "POST",
            format!("{GROUP}/migrations/{ID}/rollback"),
            back("test"),
            "MIGRATION_NOT_FOUND",
            &change,
        ),
        (
            "GET",
            format!("/streams/none/groups/none/migrations/{ID}"),
            None,
            "GROUP_NOT_FOUND",
            "the consumer group does not exist",
        ),
        (
            "POST",
            format!("/streams/orders/groups/none/migrations/{ID}/rollback"),
            back("test"),
            "GROUP_NOT_FOUND",
            "the consumer group does not exist",
        ),
        (
            "GET",
            "/monitoring/streams/orders/groups/none/migrations".to_owned(),
            None,
            "GROUP_NOT_FOUND",
            "the consumer group does not exist",
        ),
        (
            "GET",
            "/monitoring/streams/orders/groups/none/offsets".to_owned(),
            None,
            "GROUP_NOT_FOUND",
            "the consumer group does not exist",
        ),
        (
            "GET",
            format!("{SEEN}/shards/4/messages"),
            None,
            "NOT_FOUND",
            "the stream has no shard 4",
        ),
    ] {
        let answer = asked(&server, method, &path, body).await;
        assert_eq!(answer, (404, told("NOT_FOUND", code, message)), "{path}");
    }
}

#[tokio::test]
async fn a_request_that_cannot_be_meant_is_refused_with_the_field() {
    let server = with_shards(4).await;
    let stream = || "/streams/orders/scale".to_owned();
    let page = |query: &str| format!("{SEEN}/shards/0/messages?{query}");
    let rollback = format!("{GROUP}/migrations/{ID}/rollback");
    for (method, path, body, says) in [
        (
            "POST",
            stream(),
            scale(16_385, "test"),
            "targetShardCount must be 0 to 16384, not 16385",
        ),
        (
            "POST",
            format!("{GROUP}/scale"),
            scale(16_385, "test"),
            "targetShardCount must be 0 to 16384",
        ),
        ("POST", stream(), scale(-1, "test"), "targetShardCount"),
        (
            "POST",
            stream(),
            scale(6, " "),
            "requestedBy must say who asks",
        ),
        (
            "POST",
            stream(),
            Some(json!({"targetShardCount": 6, "requestedBy": "test"})),
            "reason",
        ),
        ("POST", rollback, back(""), "requestedBy must say who asks"),
        (
            "GET",
            page("limit=0"),
            None,
            "limit must be 1 to 1000, not 0",
        ),
        (
            "GET",
            page("limit=1001"),
            None,
            "limit must be 1 to 1000, not 1001",
        ),
        ("GET", page("limit=x"), None, "limit"),
        (
            "GET",
            page("cursor=nonsense"),
            None,
            "cursor must be the nextCursor of the page before",
        ),
        ("GET", page("direction=SIDEWAYS"), None, "direction"),
        ("GET", format!("{SEEN}/shards/x/messages"), None, "shard"),
    ] {
        let (status, refusal) = asked(&server, method, &path, body).await;
        let code = refusal["errorCode"].as_str().unwrap();
        assert_eq!((status, code), (400, "INVALID_REQUEST"), "{path}");
        let message = refusal["message"].as_str().unwrap();
        assert!(
            message.contains(says),
            "{path}: {message:?} should say {says:?}"
        );
    }
    // Nothing of it was recorded.
    let none = json!({"migrations": [], "activeReshardingId": null});
    let list = format!("{SEEN}/migrations");
    assert_eq!(asked(&server, "GET", &list, None).await, (200, none));
}

#[tokio::test]
async fn without_shard_streams_nobody_can_look_into_them() {
    let server = with_shards(4).await;
    for path in [
        format!("{SEEN}/offsets"),
        format!("{SEEN}/shards/0/messages"),
    ] {
        let message =
            "this coordinator has no Redis of shard streams: it can't tell what is in them";
        let expected = told("SERVICE_UNAVAILABLE", "REDIS_NOT_CONFIGURED", message);
        assert_eq!(
            asked(&server, "GET", &path, None).await,
            (503, expected),
            "{path}"
        );
    }
}

#[tokio::test]
async fn nobody_changes_a_shard_count_or_looks_at_one_without_credentials() {
    let server = with_shards(4).await;
    for (method, path) in [
        ("POST", "/streams/orders/scale".to_owned()),
        ("POST", format!("{GROUP}/scale")),
        ("GET", format!("{GROUP}/migrations/{ID}")),
        ("POST", format!("{GROUP}/migrations/{ID}/rollback")),
        ("GET", format!("{SEEN}/migrations")),
        ("GET", format!("{SEEN}/offsets")),
        ("GET", format!("{SEEN}/shards/0/messages")),
    ] {
        let request = server.request(method, &format!("/coord/v1{path}"));
        let answer = request.body(scale(6, "nobody").unwrap().to_string()).send();
        let answer = answer.await.unwrap();
        assert!(answer.headers().contains_key("www-authenticate"), "{path}");
        let (status, code, _) = refusal(answer).await;
        assert_eq!((status, code.as_str()), (401, "UNAUTHORIZED"), "{path}");
    }
    let count = asked(&server, "GET", GROUP, None).await.1["shardCount"].clone();
    assert_eq!(count, json!(4));
}
