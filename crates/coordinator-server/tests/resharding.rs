//! Rules G1 to G11 over HTTP: the shard count of a stream goes up, down, to nothing and back, while members do as they are told. There are no shard streams
//! here, so that members alone decide when a change is over (rule G11); what becomes of streams is tested on a real Redis.
#![allow(clippy::unwrap_used)]

mod support;

use protocol::MigrationState::{Active, Deprecated, Draining, RolledBack, RollingBack};
use protocol::{ErrorCode, NOOP_RESHARDING_ID};
use serde_json::{Value, json};
use support::resharding::{
    Members, PATIENCE, asked, becomes, create_group, roll_back, routed, scale, state, to,
    with_plane, with_shards,
};
use support::unlucky::{Fortune, UnluckyPlane};
use testkit::wait_until_async;

const STREAM: &str = "/streams/orders/scale";
const LIST: &str = "/monitoring/streams/orders/groups/orders/migrations";

fn body(target: u32) -> Option<Value> {
    Some(json!({"targetShardCount": target, "requestedBy": "test", "reason": "to see"}))
}

fn change(from: u32, to: u32, state: &str) -> Value {
    json!({
        "reshardingId": "some change", "fromShardCount": from, "toShardCount": to, "state": state,
        "createdAt": "some time", "updatedAt": "some time",
    })
}

#[tokio::test]
async fn g2_g11_a_scale_out_ends_when_every_member_reads_what_it_should() {
    let server = with_shards(4).await;
    let mut members = Members::join(&server, "orders", &["a", "b"]).await;
    let answer = asked(&server, "POST", STREAM, body(6)).await;
    let expected = json!({
        "streamPrefix": "orders", "targetShardCount": 6,
        "affectedConsumerGroups": ["orders"], "migrations": [change(4, 6, "ACTIVE")],
    });
    assert_eq!(answer, (202, expected));
    assert_eq!(routed(&server).await, (6, 6));
    let under_way =
        json!({"migrations": [change(4, 6, "ACTIVE")], "activeReshardingId": "some change"});
    assert_eq!(asked(&server, "GET", LIST, None).await, (200, under_way));

    let known = server.client.migrations("orders", "orders").await.unwrap();
    let id = known.active_resharding_id.unwrap();
    assert!(id.starts_with("reshard-"), "{id}");
    members.report_until(&server, &id, Deprecated).await;
    members.report(&server).await;
    let mut assigned = members.assigned().concat();
    assigned.sort_unstable();
    assert_eq!(assigned, [0, 1, 2, 3, 4, 5]);
    assert!(members.assigned().iter().all(|shards| shards.len() == 3));
    let over = json!({"migrations": [change(4, 6, "DEPRECATED")], "activeReshardingId": null});
    assert_eq!(asked(&server, "GET", LIST, None).await, (200, over));
    let one = format!("/streams/orders/groups/orders/migrations/{id}");
    let over = change(4, 6, "DEPRECATED");
    assert_eq!(asked(&server, "GET", &one, None).await, (200, over));
}

#[tokio::test]
async fn g3_g5_shards_that_leave_have_an_owner_until_it_lets_go_and_get_no_new_messages() {
    let server = with_shards(6).await;
    let mut members = Members::join(&server, "orders", &["a", "b"]).await;
    let id = scale(&server, 4).await.migrations[0].resharding_id.clone();
    assert_eq!(routed(&server).await, (4, 4));
    // Nobody has heard of it: nobody has to let go.
    assert_eq!(state(&server, "orders", &id).await, Active);
    assert_eq!(members.assigned().concat().len(), 6);

    members.report_until(&server, &id, Draining).await;
    let one = format!("/streams/orders/groups/orders/migrations/{id}");
    let drained =
        |shard: u32| json!({"shardIndex": shard, "phase": "DRAINED", "pending": 0, "lag": 0});
    let is_drained = || async {
        let (_, shown) = asked(&server, "GET", &one, None).await;
        shown["shards"] == json!([drained(4), drained(5)])
    };
    wait_until_async(PATIENCE, is_drained).await.unwrap();
    members.report_until(&server, &id, Deprecated).await;
    members.report(&server).await;
    let mut assigned = members.assigned().concat();
    assigned.sort_unstable();
    assert_eq!(assigned, [0, 1, 2, 3]);
    let over = change(6, 4, "DEPRECATED");
    assert_eq!(asked(&server, "GET", &one, None).await, (200, over));
}

#[tokio::test]
async fn g7_a_stream_goes_to_no_shards_and_comes_back() {
    let server = with_shards(3).await;
    let mut members = Members::join(&server, "orders", &["a", "b"]).await;
    let id = scale(&server, 0).await.migrations[0].resharding_id.clone();
    assert_eq!(routed(&server).await, (0, 0));
    members.report_until(&server, &id, Deprecated).await;
    members.report(&server).await;
    assert_eq!(members.assigned().concat(), [0; 0]);
    let id = scale(&server, 2).await.migrations[0].resharding_id.clone();
    members.report_until(&server, &id, Deprecated).await;
    members.report(&server).await;
    assert_eq!(members.assigned(), [[0], [1]]);
}

#[tokio::test]
async fn g6_no_live_member_is_no_reason_to_wait() {
    let server = with_shards(10).await;
    let id = scale(&server, 1).await.migrations[0].resharding_id.clone();
    becomes(&server, "orders", &id, Deprecated).await;
    assert_eq!(routed(&server).await, (1, 1));
}

#[tokio::test]
async fn g9_the_count_that_a_stream_has_already_is_no_change() {
    let server = with_shards(4).await;
    create_group(&server, "billing").await;
    let same = json!({
        "reshardingId": "noop", "fromShardCount": 4, "toShardCount": 4, "state": "DEPRECATED",
        "createdAt": "some time", "updatedAt": "some time",
    });
    let expected = json!({
        "streamPrefix": "orders", "targetShardCount": 4,
        "affectedConsumerGroups": ["billing", "orders"], "migrations": [same, same],
    });
    let answer = asked(&server, "POST", STREAM, body(4)).await;
    assert_eq!(answer, (202, expected));
    let path = "/streams/orders/groups/billing/scale";
    assert_eq!(asked(&server, "POST", path, body(4)).await, (202, same));
    let none = json!({"migrations": [], "activeReshardingId": null});
    assert_eq!(asked(&server, "GET", LIST, None).await, (200, none));
}

#[tokio::test]
async fn g9_a_second_change_is_refused_while_one_is_under_way() {
    let server = with_shards(4).await;
    let _members = Members::join(&server, "orders", &["a"]).await;
    let id = scale(&server, 6).await.migrations[0].resharding_id.clone();
    // Also the same count, and the one before: the change is beyond being asked for again.
    for target in [8, 6, 4] {
        let (status, refusal) = asked(&server, "POST", STREAM, body(target)).await;
        let told = (status, refusal["errorCode"].as_str().unwrap());
        assert_eq!(told, (409, "ACTIVE_MIGRATION_EXISTS"), "{target}");
        assert!(refusal["message"].as_str().unwrap().contains(&id));
    }
}

#[tokio::test]
async fn g1_g9_the_same_change_is_gone_on_with_when_its_streams_could_not_be_made() {
    let plane = UnluckyPlane::new();
    let server = with_plane(plane.clone(), 4).await;
    plane.turn(Fortune::Fails);
    for _ in 0..2 {
        let error = server.client.scale_stream("orders", &to(6)).await;
        let error = error.unwrap_err();
        let code = error.code().unwrap();
        assert_eq!(*code, ErrorCode::RedisStreamProvisioningFailed);
        assert!(error.retry_after().is_some(), "{error}");
    }
    // Recorded before anything is made, and nobody is told of shards that are not there.
    let waits =
        json!({"migrations": [change(4, 6, "PREPARING")], "activeReshardingId": "some change"});
    assert_eq!(asked(&server, "GET", LIST, None).await, (200, waits));
    assert_eq!(routed(&server).await, (4, 4));
    let known = server.client.migrations("orders", "orders").await.unwrap();
    let id = known.active_resharding_id.unwrap();

    // The coordinator tries again by itself: the request has to be under way as well before it works.
    plane.turn(Fortune::Waits);
    let client = server.client.clone();
    let asking = tokio::spawn(async move { client.scale_stream("orders", &to(6)).await });
    let both_wait = || async { plane.waiting() == 2 };
    wait_until_async(PATIENCE, both_wait).await.unwrap();
    plane.turn(Fortune::Works);
    let scaled = asking.await.unwrap().unwrap();
    assert_eq!(scaled.migrations[0].resharding_id, id);
    assert_eq!(routed(&server).await, (6, 6));
    becomes(&server, "orders", &id, Deprecated).await;
}

#[tokio::test]
async fn g1_keys_of_somebody_elses_in_the_way_are_told_before_anything_is_recorded() {
    let plane = UnluckyPlane::new();
    let server = with_plane(plane.clone(), 4).await;
    plane.put_in_the_way(&["orders:4", "orders:5"]);
    let error = server.client.scale_stream("orders", &to(6)).await;
    let error = error.unwrap_err();
    assert_eq!(
        error.code(),
        Some(&ErrorCode::RedisStreamProvisioningFailed)
    );
    assert!(error.to_string().contains("orders:4, orders:5"), "{error}");
    assert_eq!(error.retry_after(), None, "it does not pass by itself");
    let none = json!({"migrations": [], "activeReshardingId": null});
    assert_eq!(asked(&server, "GET", LIST, None).await, (200, none));
    // A change that needs no new streams is not in its way.
    assert_eq!(scale(&server, 2).await.migrations[0].to_shard_count, 2);
}

#[tokio::test]
async fn g1_keys_that_turn_up_while_streams_are_made_are_told_as_such_and_the_change_can_be_taken_back()
 {
    let plane = UnluckyPlane::new();
    let server = with_plane(plane.clone(), 4).await;
    plane.turn(Fortune::MeetsForeignKeys);
    let error = server.client.scale_stream("orders", &to(6)).await;
    let error = error.unwrap_err();
    assert_eq!(
        error.code(),
        Some(&ErrorCode::RedisStreamProvisioningFailed)
    );
    assert!(error.to_string().contains("orders:4"), "{error}");
    assert_eq!(error.retry_after(), None, "it does not pass by itself");
    let known = server.client.migrations("orders", "orders").await.unwrap();
    let id = known.active_resharding_id.unwrap();
    roll_back(&server, "orders", &id).await.unwrap();
    becomes(&server, "orders", &id, RolledBack).await;
    assert_eq!(routed(&server).await, (4, 4));
}

#[tokio::test]
async fn g8_all_groups_take_a_change_back_and_asking_again_shows_the_same() {
    let server = with_shards(4).await;
    create_group(&server, "billing").await;
    let mut orders = Members::join(&server, "orders", &["a"]).await;
    let mut billing = Members::join(&server, "billing", &["b"]).await;
    let id = scale(&server, 6).await.migrations[1].resharding_id.clone();
    let back = roll_back(&server, "billing", &id).await.unwrap();
    assert_eq!(
        (back.state, back.resharding_id.as_str()),
        (RollingBack, id.as_str())
    );
    assert_eq!(state(&server, "orders", &id).await, RollingBack);
    assert_eq!(routed(&server).await, (4, 4));
    // Either group may be asked, and nothing begins anew.
    for group in ["orders", "billing"] {
        let before = server.client.migration("orders", group, &id).await;
        let again = roll_back(&server, group, &id).await;
        assert_eq!(again.unwrap(), before.unwrap());
    }

    tokio::join!(
        orders.report_until(&server, &id, RolledBack),
        billing.report_until(&server, &id, RolledBack)
    );
    orders.report(&server).await;
    billing.report(&server).await;
    assert_eq!(orders.assigned(), [[0, 1, 2, 3]]);
    assert_eq!(billing.assigned(), [[0, 1, 2, 3]]);
    let before = server
        .client
        .migration("orders", "billing", &id)
        .await
        .unwrap();
    let again = roll_back(&server, "billing", &id).await.unwrap();
    assert_eq!((again, before.state), (before, RolledBack));
    // The stream is free for another change.
    assert_ne!(scale(&server, 5).await.migrations[0].resharding_id, id);
}

/// A group without members is through with added shards at once; it follows the one that is not.
#[tokio::test]
async fn g8_a_group_that_nobody_is_in_does_not_stand_in_the_way() {
    let server = with_shards(4).await;
    create_group(&server, "billing").await;
    let mut members = Members::join(&server, "orders", &["a"]).await;
    let id = scale(&server, 6).await.migrations[0].resharding_id.clone();
    becomes(&server, "billing", &id, Deprecated).await;
    roll_back(&server, "billing", &id).await.unwrap();
    assert_eq!(routed(&server).await, (4, 4));
    members.report_until(&server, &id, RolledBack).await;
    becomes(&server, "billing", &id, RolledBack).await;
    let groups = server.client.groups().await.unwrap().groups;
    let counts: Vec<u32> = groups.iter().map(|group| group.shard_count).collect();
    assert_eq!(counts, [4, 4]);
}

#[tokio::test]
async fn g8_a_change_is_not_taken_back_once_shards_are_drained_or_it_is_over() {
    let server = with_shards(4).await;
    let mut members = Members::join(&server, "orders", &["a"]).await;
    let id = scale(&server, 2).await.migrations[0].resharding_id.clone();
    // In between its member holds the shards: nothing goes on without it.
    for wanted in [Draining, Deprecated] {
        members.report_until(&server, &id, wanted).await;
        let error = roll_back(&server, "orders", &id).await.unwrap_err();
        assert_eq!(error.code(), Some(&ErrorCode::RollbackNotAllowed));
        assert!(error.to_string().starts_with("refused with 422"), "{error}");
        assert_eq!(routed(&server).await, (2, 2));
    }
}

#[tokio::test]
async fn g10_a_group_that_is_created_during_a_change_joins_it() {
    let server = with_shards(4).await;
    let mut members = Members::join(&server, "orders", &["a"]).await;
    let scaled = scale(&server, 6).await.migrations.remove(0);
    let group = create_group(&server, "billing").await;
    let joined = group.active_migration.unwrap();
    assert_eq!((group.shard_count, joined), (6, scaled.clone()));
    let id = scaled.resharding_id;
    becomes(&server, "billing", &id, Deprecated).await;
    members.report_until(&server, &id, Deprecated).await;
    let groups = server.client.groups().await.unwrap().groups;
    let counts: Vec<u32> = groups.iter().map(|group| group.shard_count).collect();
    assert_eq!(counts, [6, 6]);
    // And from then on it is asked like the others.
    let scaled = scale(&server, 7).await;
    assert_eq!(scaled.affected_consumer_groups, ["billing", "orders"]);
    assert_ne!(scaled.migrations[0].resharding_id, NOOP_RESHARDING_ID);
    assert_eq!(
        scaled.migrations[0].resharding_id,
        scaled.migrations[1].resharding_id
    );
}
