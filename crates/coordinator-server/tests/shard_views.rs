//! Looking into shard streams over HTTP: what is asked for comes back with the answer, and who leaves things out gets the defaults. What stands in streams is
//! tested on a real Redis.
#![allow(clippy::unwrap_used)]

mod support;

use protocol::{MessageQuery, PageDirection};
use serde_json::json;
use support::resharding::{asked, scale, with_plane};
use support::unlucky::UnluckyPlane;

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
