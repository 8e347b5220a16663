//! The life itself.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use redis::AsyncCommands as _;
use redis::aio::MultiplexedConnection;
use serde_json::{Value, json};
use testkit::RedisServer;

use crate::api::Api;
use crate::member::Member;
use crate::support::{Daemon, PATIENCE};

const ORDERS: [(&str, &str); 2] = [("streamPrefix", "orders"), ("consumerGroup", "orders")];

/// A body that says who asks and why.
fn because(mut fields: Value) -> Value {
    fields["requestedBy"] = json!("a reader of the document");
    fields["reason"] = json!("a test");
    fields
}

/// Members report until it is as wanted.
async fn until(
    api: &Api,
    members: &mut [Member],
    what: &str,
    wanted: impl AsyncFn(&[Member]) -> bool,
) {
    let end = Instant::now() + PATIENCE;
    loop {
        for member in members.iter_mut() {
            member.report(api).await;
        }
        if wanted(members).await {
            return;
        }
        assert!(Instant::now() < end, "it never comes to {what}");
        // waits: members report at an interval
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Members report until a change of the shard count has come to a state.
async fn until_change(api: &Api, members: &mut [Member], id: &str, state: &str) {
    until(api, members, state, async |_: &[Member]| {
        let values = [ORDERS[0], ORDERS[1], ("reshardingId", id)];
        let change = api.call("getMigration", &values, None).await.expect(200);
        change["state"] == state
    })
    .await;
}

#[tokio::test]
async fn a_client_that_knows_only_the_document_leads_a_stream_through_its_life() {
    let redis = RedisServer::builder().start().unwrap();
    let daemon = Daemon::quick(&redis).await;
    let mut connection = redis.connection().await.unwrap();
    let mut api = Api::of(&daemon.address).await;
    api.log_in("admin", "admin").await;
    look_around(&api).await;

    create(&api).await;
    let mut members = vec![
        Member::new("orders", "a"),
        Member::new("orders", "b"),
        Member::new("billing", "c"),
    ];
    until(
        &api,
        &mut members,
        "a shard for each",
        async |members: &[Member]| members.iter().all(|member| member.owned != json!([])),
    )
    .await;
    misbehave(&api, &mut members).await;

    scale_out(&api, &mut members, &mut connection).await;
    scale_in(&api, &mut members, &mut connection).await;
    lose_writes(&api, &mut members).await;
    delete(&api, &mut members).await;

    let missing: Vec<&str> = EXPECTED
        .into_iter()
        .filter(|word| !api.words().contains(*word))
        .collect();
    assert!(
        missing.is_empty(),
        "{missing:?} were not seen, but {:?}",
        api.words()
    );
}

/// RETRY is not among them: it takes others that win every race for the group.
const EXPECTED: [&str; 25] = [
    "OK",
    "SYNC_METADATA",
    "REVOKE_PENDING",
    "UNKNOWN_MEMBER_ID",
    "FENCED_MEMBER_EPOCH",
    "UNSUPPORTED_PROTOCOL",
    "INVALID_REQUEST",
    "PREPARING",
    "ACTIVE",
    "DRAINING",
    "DEPRECATED",
    "ROLLING_BACK",
    "ROLLED_BACK",
    "STABLE",
    "EMPTY",
    "UP",
    "GROUP_ALREADY_EXISTS",
    "STREAM_PREFIX_ALREADY_EXISTS",
    "ACTIVE_MIGRATION_EXISTS",
    "ROLLBACK_NOT_ALLOWED",
    "MIGRATION_NOT_FOUND",
    "STREAM_NOT_FOUND",
    "GROUP_HAS_ACTIVE_MEMBERS",
    "METADATA_SYNC_IN_PROGRESS",
    "GROUP_NOT_FOUND",
];

async fn look_around(api: &Api) {
    let session = api.call("getSession", &[], None).await.expect(200);
    assert_eq!(session["username"], "admin");
    for id in [
        "getHealth",
        "getCompatibility",
        "listGroups",
        "getLiveness",
        "getReadiness",
        "getMetrics",
        "getReference",
    ] {
        api.call(id, &[], None).await.expect(200);
    }
    let scale = because(json!({ "targetShardCount": 3 }));
    let nothing = [("streamPrefix", "nothing")];
    api.call("scaleStreamShards", &nothing, Some(scale))
        .await
        .expect(404);
}

async fn create(api: &Api) {
    let body = because(json!({ "initialShardCount": 2 }));
    let stream = [ORDERS[0]];
    let created = api
        .call("createStream", &stream, Some(body.clone()))
        .await
        .expect(201);
    assert_eq!(created["shardCount"], 2);
    api.call("createStream", &stream, Some(body))
        .await
        .expect(409);
    let billing = [ORDERS[0], ("consumerGroup", "billing")];
    let created = api
        .call("createStreamGroup", &billing, Some(because(json!({}))))
        .await
        .expect(201);
    assert_eq!(
        (&created["state"], &created["shardCount"]),
        (&json!("EMPTY"), &json!(2))
    );
    api.call("createStreamGroup", &billing, Some(because(json!({}))))
        .await
        .expect(409);
    let watched = [ORDERS[0], ORDERS[1], ("after", "0"), ("waitMs", "0")];
    let watched = api
        .call("watchStreamGroup", &watched, None)
        .await
        .expect(200);
    assert_eq!(watched["changed"], true);
}

/// What members do that are no members, or no good ones.
async fn misbehave(api: &Api, members: &mut [Member]) {
    let mut stranger = Member::new("orders", "stranger");
    stranger.epoch = 7;
    assert_eq!(stranger.report(api).await, "UNKNOWN_MEMBER_ID");
    let other = json!({ "protocolVersion": 99 });
    let answer = stranger.send(api, other).await.expect(200);
    assert_eq!(answer["status"], "UNSUPPORTED_PROTOCOL");
    let answer = stranger
        .send(api, json!({ "memberId": "a" }))
        .await
        .expect(200);
    assert_eq!(answer["status"], "INVALID_REQUEST");
    let late = json!({ "memberEpoch": members[1].epoch + 1_000 });
    let answer = members[1].send(api, late).await.expect(200);
    assert_eq!(answer["status"], "FENCED_MEMBER_EPOCH");
    members[1].obey(&answer);
    until(
        api,
        members,
        "two members again",
        async |members: &[Member]| {
            members[..2]
                .iter()
                .all(|member| member.owned.as_array().unwrap().len() == 1)
        },
    )
    .await;
}

async fn scale_out(api: &Api, members: &mut [Member], connection: &mut MultiplexedConnection) {
    let four = || Some(because(json!({ "targetShardCount": 4 })));
    let stream = [ORDERS[0]];
    // The coordinator may not make consumer groups for a while: the change is recorded and gets no further.
    permit(connection, "-xgroup").await;
    let refused = api.call("scaleStreamShards", &stream, four()).await;
    assert_eq!(refused.status, 503, "{}", refused.body);
    let changes = api.call("getMigrations", &ORDERS, None).await.expect(200);
    assert_eq!(changes["migrations"][0]["state"], "PREPARING");
    let id = changes["activeReshardingId"].as_str().unwrap().to_owned();
    roll_back(api, &id).await.expect(202);
    permit(connection, "+xgroup").await;
    until_change(api, members, &id, "ROLLED_BACK").await;

    let scaled = api
        .call("scaleStreamShards", &stream, four())
        .await
        .expect(202);
    assert_eq!(
        scaled["affectedConsumerGroups"],
        json!(["billing", "orders"])
    );
    let id = scaled["migrations"][0]["reshardingId"]
        .as_str()
        .unwrap()
        .to_owned();
    let other = because(json!({ "targetShardCount": 5 }));
    api.call("scaleStreamShards", &stream, Some(other))
        .await
        .expect(409);
    let back = roll_back(api, &id).await.expect(202);
    assert_eq!(back["state"], "ROLLING_BACK");
    until_change(api, members, &id, "ROLLED_BACK").await;
    assert_eq!(roll_back(api, "reshard-none").await.status, 404);

    let change = api
        .call("scaleStreamGroupShards", &ORDERS, four())
        .await
        .expect(202);
    let id = change["reshardingId"].as_str().unwrap().to_owned();
    until_change(api, members, &id, "DEPRECATED").await;
    let routing = api
        .call("getProducerRoutingMetadata", &ORDERS, None)
        .await
        .expect(200);
    assert_eq!(routing["shards"].as_array().unwrap().len(), 4);
    until(
        api,
        members,
        "two shards for each",
        async |members: &[Member]| {
            members[..2]
                .iter()
                .all(|member| member.owned.as_array().unwrap().len() == 2)
        },
    )
    .await;
}

async fn permit(connection: &mut MultiplexedConnection, rule: &str) {
    redis::cmd("ACL")
        .arg(&["SETUSER", "default", rule])
        .query_async::<()>(connection)
        .await
        .unwrap();
}

async fn roll_back(api: &Api, id: &str) -> crate::api::Answered {
    let values = [ORDERS[0], ORDERS[1], ("reshardingId", id)];
    api.call("rollbackMigration", &values, Some(because(json!({}))))
        .await
}

/// Shards leave that have something in them: it is read first.
async fn scale_in(api: &Api, members: &mut [Member], connection: &mut MultiplexedConnection) {
    let _: String = connection
        .xadd("orders:3", "*", &[("no", "1")])
        .await
        .unwrap();
    let shard = [ORDERS[0], ORDERS[1], ("shardIndex", "3"), ("limit", "10")];
    let page = api.call("getShardMessages", &shard, None).await.expect(200);
    assert_eq!(page["records"][0]["fields"][0]["value"], "1");
    let offsets = api.call("getOffsets", &ORDERS, None).await.expect(200);
    assert_eq!(offsets["totalStreamLength"], 1);

    let two = because(json!({ "targetShardCount": 2 }));
    let scaled = api
        .call("scaleStreamShards", &[ORDERS[0]], Some(two))
        .await
        .expect(202);
    let id = scaled["migrations"][0]["reshardingId"]
        .as_str()
        .unwrap()
        .to_owned();
    until_change(api, members, &id, "DRAINING").await;
    assert_eq!(roll_back(api, &id).await.status, 422);
    for id in ["getGroup", "getStreamGroup", "getMembers", "getAssignments"] {
        api.call(id, &ORDERS, None).await.expect(200);
    }
    for group in ["orders", "billing"] {
        let read = redis::cmd("XREADGROUP")
            .arg(&[
                "GROUP", group, "reader", "NOACK", "STREAMS", "orders:3", ">",
            ])
            .query_async::<redis::Value>(connection)
            .await;
        assert_ne!(read.unwrap(), redis::Value::Nil, "{group} had not read it");
    }
    until_change(api, members, &id, "DEPRECATED").await;
}

/// Members know more than the store: it lost writes.
async fn lose_writes(api: &Api, members: &mut Vec<Member>) {
    let ahead = json!({ "metadataVersion": members[0].version + 1_000 });
    let answer = members[0].send(api, ahead).await.expect(200);
    assert_eq!(answer["status"], "SYNC_METADATA");
    members[0].obey(&answer);
    let mut late = Member::new("orders", "d");
    assert_eq!(late.report(api).await, "REVOKE_PENDING");
    members.push(late);
    let scale = because(json!({ "targetShardCount": 3 }));
    let refused = api
        .call("scaleStreamShards", &[ORDERS[0]], Some(scale))
        .await
        .expect(409);
    assert_eq!(refused["errorCode"], "METADATA_SYNC_IN_PROGRESS");
    until(api, members, "rest", async |members: &[Member]| {
        let group = api.call("getGroup", &ORDERS, None).await.expect(200);
        group["state"] == "STABLE" && members.iter().all(|member| member.status == "OK")
    })
    .await;
}

async fn delete(api: &Api, members: &mut [Member]) {
    let body = || Some(because(json!({})));
    api.call("deleteStreamGroup", &ORDERS, body())
        .await
        .expect(409);
    let leaving = members.iter_mut().filter(|member| member.group == "orders");
    for member in leaving {
        let leave = json!({ "memberEpoch": -1, "ownedShards": [] });
        let answer = member.send(api, leave).await.expect(200);
        assert_eq!(answer["status"], "OK");
    }
    api.call("deleteStreamGroup", &ORDERS, body())
        .await
        .expect(200);
    let groups = api.call("listGroups", &[], None).await.expect(200);
    let left: BTreeSet<&str> = groups["groups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["consumerGroup"].as_str().unwrap())
        .collect();
    assert_eq!(left, BTreeSet::from(["billing"]));
    api.call("getGroup", &ORDERS, None).await.expect(404);
    let billing = [ORDERS[0], ("consumerGroup", "billing")];
    let force = Some(because(json!({ "force": true })));
    api.call("deleteStreamGroup", &billing, force)
        .await
        .expect(200);
}
