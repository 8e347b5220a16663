//! Streams that others make (`streams-provisioning = off`): wanted where they are to be read, taken over as they are, and taken away with proof.
#![allow(clippy::unwrap_used)]

mod support;

use coordinator_client::ClientError;
use protocol::{CreateStreamRequest, ErrorCode, MigrationState, ScaleRequest};
use redis::AsyncCommands;
use redis::aio::MultiplexedConnection;
use support::{Daemon, PATIENCE};
use testkit::{RedisServer, wait_until_async};

async fn provide(connection: &mut MultiplexedConnection, shard: u32) {
    let key = format!("orders:{shard}");
    let made: Result<(), redis::RedisError> =
        connection.xgroup_create_mkstream(&key, "orders", "0").await;
    made.unwrap();
}

fn scale(target: u32) -> ScaleRequest {
    ScaleRequest {
        target_shard_count: target,
        requested_by: "test".to_owned(),
        reason: "to see".to_owned(),
        deprecated_after: None,
    }
}

async fn is_over(daemon: &Daemon) -> bool {
    let known = daemon.client.migrations("orders", "orders").await.unwrap();
    known.migrations[0].state == MigrationState::Deprecated
}

fn refused(error: &ClientError, missing: &str) {
    assert_eq!(
        error.code(),
        Some(&ErrorCode::RedisStreamProvisioningFailed),
        "{error}"
    );
    assert!(error.to_string().contains(missing), "{error}");
    assert_eq!(error.retry_after(), None, "it does not pass by itself");
}

#[tokio::test]
async fn streams_of_others_are_wanted_taken_over_and_taken_away_with_proof() {
    let redis = RedisServer::builder().start().unwrap();
    let mut connection = redis.connection().await.unwrap();
    let daemon = Daemon::start(&["--store", &redis.url(), "--streams-provisioning", "off"]).await;
    let request = CreateStreamRequest {
        initial_shard_count: Some(2),
        requested_by: "test".to_owned(),
        reason: None,
    };
    provide(&mut connection, 0).await;
    let error = daemon
        .client
        .create_stream("orders", &request)
        .await
        .unwrap_err();
    refused(&error, "orders:1");
    // A stream without the group is not enough.
    let id: String = connection
        .xadd("orders:1", "*", &[("k", "v")])
        .await
        .unwrap();
    let error = daemon
        .client
        .create_stream("orders", &request)
        .await
        .unwrap_err();
    refused(&error, "group orders of orders:1");
    provide(&mut connection, 1).await;
    daemon
        .client
        .create_stream("orders", &request)
        .await
        .unwrap();
    let routing = daemon
        .client
        .producer_routing("orders", "orders")
        .await
        .unwrap();
    let generations: Vec<_> = routing
        .shards
        .iter()
        .map(|shard| shard.generation)
        .collect();
    assert_eq!(generations, [Some(1), Some(1)]);

    // The entry that nobody has handled keeps its shard (rule G4).
    daemon
        .client
        .scale_stream("orders", &scale(1))
        .await
        .unwrap();
    let is_looked_at = || async {
        let known = daemon.client.migrations("orders", "orders").await.unwrap();
        let shards = known.migrations[0].shards.clone().unwrap_or_default();
        shards.iter().any(|shard| !shard.open.is_empty())
    };
    wait_until_async(PATIENCE, is_looked_at).await.unwrap();
    let there: bool = connection.exists("orders:1").await.unwrap();
    assert!(there);
    let _: redis::Value = redis::cmd("XREADGROUP")
        .arg(&["GROUP", "orders", "c", "STREAMS", "orders:1", ">"])
        .query_async(&mut connection)
        .await
        .unwrap();
    let _: u64 = connection.xack("orders:1", "orders", &[id]).await.unwrap();
    wait_until_async(PATIENCE, || is_over(&daemon))
        .await
        .unwrap();
    let there: bool = connection.exists("orders:1").await.unwrap();
    assert!(!there);
}
