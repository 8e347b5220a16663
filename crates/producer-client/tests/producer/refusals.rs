//! Redis or the coordinator says no: each refusal has its kind, and nothing was added.

use producer_client::{Producer, PublishError};
use protocol::ErrorCode;
use testkit::{RedisServer, free_port, wait_until_async};

use crate::coordinator::Answer;
use crate::world::{LIMIT, World, record};

async fn refused(producer: &Producer) -> PublishError {
    let error = producer
        .publish("k", [("n", "1")])
        .await
        .expect_err("is refused");
    let outcomes = producer
        .publish_batch(&[record(1, "k"), record(2, "k"), record(3, "l")])
        .await;
    for outcome in outcomes {
        let also = outcome.expect_err("is refused as well");
        assert_eq!(
            std::mem::discriminant(&also),
            std::mem::discriminant(&error),
            "{also:?}"
        );
    }
    assert!(!error.may_have_been_added());
    error
}

async fn set(world: &mut World, name: &str, value: &str) {
    world
        .run(redis::cmd("CONFIG").arg("SET").arg(name).arg(value))
        .await;
}

async fn connections_received(world: &mut World) -> u64 {
    let info: redis::InfoDict = redis::cmd("INFO")
        .arg("stats")
        .query_async(&mut world.connection)
        .await
        .expect("answers");
    info.get("total_connections_received").expect("a number")
}

#[tokio::test]
async fn full_memory_is_told_and_passes() {
    let mut world = World::of(&["orders:0"]).await;
    let producer = world.producer();
    producer
        .publish("k", [("n", "1")])
        .await
        .expect("is published");
    set(&mut world, "maxmemory", "1").await;
    let error = refused(&producer).await;
    assert!(
        matches!(error, PublishError::OutOfMemory { .. }),
        "C09: {error:?}"
    );
    assert!(error.is_retryable());
    set(&mut world, "maxmemory", "0").await;
    producer
        .publish("k", [("n", "1")])
        .await
        .expect("is published");
    assert_eq!(world.length("orders:0").await, 2);
}

#[tokio::test]
async fn a_demoted_redis_is_connected_anew_and_its_refusal_passes() {
    let mut world = World::of(&["orders:0"]).await;
    let producer = world.producer();
    producer
        .publish("k", [("n", "1")])
        .await
        .expect("is published");
    let before = connections_received(&mut world).await;
    world
        .run(redis::cmd("REPLICAOF").arg("127.0.0.1").arg(free_port()))
        .await;
    let error = producer
        .publish("k", [("n", "1")])
        .await
        .expect_err("is read-only");
    assert!(
        matches!(&error, PublishError::Busy { code, .. } if code == "READONLY"),
        "C05: {error:?}"
    );
    assert!(
        connections_received(&mut world).await > before,
        "C05: the connection was replaced"
    );
    assert!(error.is_retryable());
    refused(&producer).await;
    world
        .run(redis::cmd("REPLICAOF").arg("NO").arg("ONE"))
        .await;
    producer
        .publish("k", [("n", "1")])
        .await
        .expect("is published");
    assert_eq!(world.length("orders:0").await, 2);
}

#[tokio::test]
async fn a_missing_permission_is_permanent_and_named() {
    let mut world = World::of(&["orders:0"]).await;
    world
        .run(redis::cmd("ACL").arg(&["SETUSER", "p", "on", ">secret", "~*", "+@all", "-xadd"]))
        .await;
    let url = format!("redis://p:secret@127.0.0.1:{}", world.redis.port());
    let producer = world.builder_at(&url).build().expect("settings that work");
    let error = refused(&producer).await;
    assert!(
        matches!(&error, PublishError::Refused { code, .. } if code == "NOPERM"),
        "C11: {error:?}"
    );
    assert!(error.to_string().contains("xadd"), "C11: {error}");
    assert!(!error.is_retryable());
}

#[tokio::test]
async fn a_wrong_password_is_permanent_and_not_shown() {
    let mut world = World::of(&["orders:0"]).await;
    world
        .run(redis::cmd("ACL").arg(&["SETUSER", "p", "on", ">secret", "~*", "+@all"]))
        .await;
    let url = format!("redis://p:hunter2@127.0.0.1:{}", world.redis.port());
    let producer = world.builder_at(&url).build().expect("settings that work");
    let error = refused(&producer).await;
    assert!(
        matches!(&error, PublishError::Refused { code, .. } if code == "WRONGPASS"),
        "{error:?}"
    );
    assert!(!format!("{error:?} {error} {producer:?}").contains("hunter2"));
}

#[tokio::test]
async fn a_key_that_is_no_stream_is_permanent() {
    let mut world = World::of(&["orders:0"]).await;
    world.delete("orders:0").await;
    world.run(redis::cmd("SET").arg("orders:0").arg("x")).await;
    let error = refused(&world.producer()).await;
    assert!(
        matches!(&error, PublishError::Refused { code, .. } if code == "WRONGTYPE"),
        "{error:?}"
    );
}

#[tokio::test]
async fn a_redis_that_is_away_is_unreachable_and_found_again() {
    let redis = RedisServer::builder()
        .append_only()
        .start()
        .expect("redis-server starts");
    let mut world = World::on(redis, &["orders:0"]).await;
    let producer = world.producer();
    producer
        .publish("k", [("n", "1")])
        .await
        .expect("is published");
    world.redis.kill();
    wait_until_async(LIMIT, || async {
        let error = producer
            .publish("k", [("n", "1")])
            .await
            .expect_err("nobody is there");
        matches!(error, PublishError::Unreachable { .. })
    })
    .await
    .expect("the lost connection is noticed");
    refused(&producer).await;
    world.redis.restart().expect("restarts");
    // While it reads its file it refuses, and says so as something that passes (C08).
    wait_until_async(LIMIT, || async {
        match producer.publish("k", [("n", "2")]).await {
            Ok(_) => true,
            Err(error) => {
                assert!(
                    matches!(&error, PublishError::Busy { code, .. } if code == "LOADING"),
                    "C08: {error:?}"
                );
                false
            }
        }
    })
    .await
    .expect("it is found again");
    world.connection = world.redis.connection().await.expect("connects");
    assert_eq!(world.length("orders:0").await, 2);
}

/// Whoever repeats what is retryable would otherwise try a wrong password for ever.
#[tokio::test]
async fn a_coordinator_that_refuses_the_credentials_is_not_worth_another_try() {
    for (code, is_retryable) in [
        (ErrorCode::Unauthorized, false),
        (ErrorCode::Forbidden, false),
        (ErrorCode::StoreUnavailable, true),
    ] {
        let world = World::of(&["orders:0"]).await;
        world.coordinator.answer(Answer::Refusal(code.clone()));
        let error = refused(&world.producer()).await;
        assert!(
            matches!(error, PublishError::NoRouting { .. }),
            "{code:?}: {error:?}"
        );
        assert_eq!(error.is_retryable(), is_retryable, "{code:?}: {error:?}");
    }
}
