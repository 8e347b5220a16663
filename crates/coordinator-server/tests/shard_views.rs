//! Looking into shard streams over HTTP: what is asked for comes back with the answer, who leaves things out gets the defaults, and what can not be looked at is said.
#![allow(clippy::unwrap_used)]

mod support;

use std::sync::Arc;

use coordinator_server::Deps;
use protocol::{ErrorCode, MessageQuery, PageDirection};
use serde_json::json;
use store_redis::{RedisConfig, RedisPlane, RedisStore};
use support::resharding::{Members, asked, scale, to, with_plane, with_shards};
use support::unlucky::{Fortune, UnluckyPlane};
use support::{Server, config, refusal};
use testkit::RedisServer;

const SEEN: &str = "/monitoring/streams/orders/groups/orders";

#[tokio::test]
async fn a_page_says_which_one_it_is() {
    let server = with_plane(UnluckyPlane::new(), 2).await;
    let page = |direction: &str, limit: u32| {
        json!({
            "streamPrefix": "orders", "consumerGroup": "orders", "shardIndex": 1, "streamKey": "orders:1",
            "direction": direction, "limit": limit, "records": [], "nextCursor": null,
        })
    };
    for (query, expected) in [
        ("", page("BACKWARD", 25)),
        ("?cursor=", page("BACKWARD", 25)),
        ("?direction=FORWARD&cursor=7-0&limit=1", page("FORWARD", 1)),
        ("?limit=1000", page("BACKWARD", 1_000)),
    ] {
        let path = format!("{SEEN}/shards/1/messages{query}");
        let answer = asked(&server, "GET", &path, None).await;
        assert_eq!(answer, (200, expected), "{query}");
    }
    let query = MessageQuery {
        direction: PageDirection::Forward,
        cursor: Some("1769854530123-1".to_owned()),
        limit: 3,
    };
    let page = server.client.messages("orders", "orders", 1, &query).await;
    let page = page.unwrap();
    let shown = (page.shard_index, page.direction, page.limit);
    assert_eq!(shown, (1, PageDirection::Forward, 3));
}

/// What the list has is there, also for who looks at it more closely; only producers and members are not let in yet.
#[tokio::test]
async fn a_group_that_is_half_made_is_there_for_all_who_look() {
    let plane = UnluckyPlane::new();
    let server = with_plane(plane.clone(), 2).await;
    plane.turn(Fortune::Fails);
    let body = json!({"requestedBy": "test"});
    let path = "/streams/orders/groups/billing";
    let (status, _) = asked(&server, "POST", path, Some(body)).await;
    assert_eq!(status, 503);
    let listed = server.client.groups().await.unwrap().groups;
    let of_billing = listed.iter().find(|it| it.consumer_group == "billing");
    let pending = Some(protocol::GroupProvisioning::Pending);
    assert_eq!(of_billing.map(|it| it.provisioning), Some(pending));
    let seen = "/monitoring/streams/orders/groups/billing";
    for (part, expected) in [
        ("", 200),
        ("/members", 200),
        ("/assignments", 200),
        ("/consumption", 200),
        ("/migrations", 200),
        ("/offsets", 200),
        ("/shards/1/messages", 200),
        ("/shards/7/messages", 404),
    ] {
        let (status, answer) = asked(&server, "GET", &format!("{seen}{part}"), None).await;
        assert_eq!(status, expected, "{part}: {answer}");
    }
    for part in ["/producer-routing", "/watch"] {
        let (status, _) = asked(&server, "GET", &format!("{path}{part}"), None).await;
        assert_eq!(status, 404, "{part}");
    }
}

/// A shard that was never there, and one that is gone, are no streams that happen to be empty.
#[tokio::test]
async fn g5_a_shard_that_was_retired_has_no_pages_any_more() {
    let server = with_plane(UnluckyPlane::new(), 2).await;
    let id = scale(&server, 1).await.migrations[0].resharding_id.clone();
    let over = protocol::MigrationState::Deprecated;
    support::resharding::becomes(&server, "orders", &id, over).await;
    let path = format!("{SEEN}/shards/1/messages");
    let expected = json!({
        "status": "NOT_FOUND", "errorCode": "NOT_FOUND", "message": "the stream has no shard 1",
    });
    assert_eq!(asked(&server, "GET", &path, None).await, (404, expected));
}

/// To look is not to make: where only the Redis of the streams is away, readers are told that, and when to come back.
#[tokio::test]
async fn c08_streams_that_can_not_be_looked_at_were_not_to_be_made() {
    let [store, mut streams] = [(); 2].map(|()| RedisServer::builder().start().unwrap());
    let groups = RedisStore::connect(RedisConfig::new([store.url()])).await;
    let groups = Arc::new(groups.unwrap());
    let plane = RedisPlane::connect(RedisConfig::new([streams.url()])).await;
    let deps = Deps {
        plane: Some(Arc::new(plane.unwrap())),
        ..Deps::new(groups)
    };
    let server = Server::with(deps, config()).await;
    server.create("orders", 2).await;
    streams.kill();
    let messages = format!("/coord/v1{SEEN}/shards/1/messages");
    for path in [&*messages, "/coord/v1/monitoring/grafana/messages"] {
        let request = server.request("GET", path);
        let answer = request.basic_auth("admin", Some("admin")).send().await;
        let answer = answer.unwrap();
        assert!(answer.headers().contains_key("retry-after"), "{path}");
        let (status, code, _) = refusal(answer).await;
        assert_eq!(
            (status, code.as_str()),
            (503, "STORE_UNAVAILABLE"),
            "{path}"
        );
    }
    let offsets = server.client.offsets("orders", "orders").await.unwrap();
    assert!(offsets.shards.iter().all(|shard| shard.problem.is_some()));
    let failed = server.client.scale_stream("orders", &to(4)).await;
    assert_eq!(
        failed.unwrap_err().code(),
        Some(&ErrorCode::RedisStreamProvisioningFailed)
    );
}

/// However many shards and members there are: each row has its owner, and rows that are not wanted are not made.
#[tokio::test]
async fn of_very_many_shards_each_row_has_its_owner() {
    let server = with_shards(4_096).await;
    let names: Vec<String> = (0..24).map(|number| format!("member-{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let members = Members::join(&server, "orders", &names).await;
    let mut owners = vec![""; 4_096];
    for (name, shards) in names.iter().zip(members.assigned()) {
        shards
            .iter()
            .for_each(|shard| owners[*shard as usize] = name);
    }
    assert!(owners.iter().all(|owner| !owner.is_empty()));
    let all: Vec<usize> = (0..4_096).collect();
    for (query, expected) in [
        ("limit=10000", &all[..]),
        ("limit=3", &all[..3]),
        ("shardIndex=4095", &all[4_095..]),
        ("shardIndex=%7B7,8%7D&limit=1", &all[7..8]),
    ] {
        for (kind, of) in [
            ("shards", "currentOwnerMemberIds"),
            ("shards", "targetOwnerMemberIds"),
            ("assignments", "currentOwners"),
        ] {
            let path = format!("/monitoring/grafana/{kind}?streamPrefix=orders&{query}");
            let (_, rows) = asked(&server, "GET", &path, None).await;
            let rows = rows.as_array().unwrap().iter();
            let told = rows.map(|row| (row["shardIndex"].clone(), row[of].clone()));
            let expected = expected.iter().map(|at| (json!(at), json!(owners[*at])));
            assert!(told.eq(expected), "{path}: {of}");
        }
    }
}
