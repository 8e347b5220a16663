//! The ordinary way of a record: read, handled in order, acknowledged; and what the handler's answers do.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use protocol::ShardId;
use testkit::wait_until;

use crate::scene::{LIMIT, Log, Scene, key, numbers};

#[tokio::test]
async fn every_record_is_handled_once_in_order_per_shard_and_acknowledged() {
    let (scene, log) = (Scene::new(3).await, Log::new());
    for shard in 0..3 {
        scene.publish(shard, 0..150).await;
    }
    scene.coordinator.assign("a-m0", &[0, 1, 2]);
    let client = scene.start("a", &log);
    log.wait_for(450).await;
    for shard in 0..3 {
        scene.publish(shard, 150..160).await;
    }
    log.wait_for(480).await;
    scene.wait_for_nothing_pending(3).await;
    for shard in 0..3 {
        let of_shard = log
            .accepted()
            .into_iter()
            .filter(|handled| handled.shard == shard);
        assert_eq!(
            of_shard.map(|handled| handled.body).collect::<Vec<_>>(),
            numbers(0..160)
        );
    }
    let metrics = client.metrics();
    assert_eq!(
        (
            metrics.records_handled,
            metrics.records_acked,
            metrics.acks_unknown
        ),
        (480, 480, 0)
    );
    assert_eq!(
        (
            metrics.records_recovered,
            metrics.records_lost,
            metrics.reconnects
        ),
        (0, 0, 0)
    );
    assert!(
        log.accepted()
            .iter()
            .all(|handled| (handled.attempt, handled.deliveries) == (1, 1))
    );
}

#[tokio::test]
async fn shards_are_shared_among_the_members_of_a_process_and_read_side_by_side() {
    let (scene, log) = (Scene::new(2).await, Log::held());
    scene.publish(0, ["x"]).await;
    scene.publish(1, ["y"]).await;
    scene.coordinator.assign("a-m0", &[0]);
    scene.coordinator.assign("a-m1", &[1]);
    let client = scene
        .builder("a", &log)
        .concurrency(2)
        .build()
        .unwrap()
        .start();
    log.wait_for_begun(2).await;
    log.let_through(2);
    log.wait_for(2).await;
    assert_eq!(
        client
            .health()
            .into_iter()
            .map(|(id, _)| id)
            .collect::<Vec<_>>(),
        ["a-m0", "a-m1"]
    );
}

#[tokio::test]
async fn a_refused_record_is_handed_over_again_and_later_ones_of_its_shard_wait() {
    let refusals = Arc::new(AtomicU32::new(4));
    let left = Arc::clone(&refusals);
    let log = Log::judging(move |handled| {
        let refused = handled.body == "1"
            && left
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                    left.checked_sub(1)
                })
                .is_ok();
        if refused {
            Err("not now".into())
        } else {
            Ok(())
        }
    });
    let scene = Scene::new(1).await;
    scene.publish(0, 0..4).await;
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene.start("a", &log);
    log.wait_for(4).await;
    assert_eq!(log.bodies(), numbers(0..4));
    let attempts: Vec<u32> = log
        .begun()
        .iter()
        .filter(|handled| handled.body == "1")
        .map(|handled| handled.attempt)
        .collect();
    assert_eq!(attempts, [1, 2, 3, 4, 5]);
    assert_eq!(client.metrics().handler_errors, 4);
}

#[tokio::test]
async fn losing_the_shard_ends_the_repetition_of_a_refused_record_which_stays_pending() {
    let log = Log::judging(|_| Err("never".into()));
    let scene = Scene::new(1).await;
    scene.publish(0, ["x"]).await;
    scene.coordinator.assign("a-m0", &[0]);
    let _client = scene.start("a", &log);
    log.wait_for_begun(2).await;
    scene.coordinator.assign("a-m0", &[]);
    let released = || {
        scene
            .coordinator
            .last_heartbeat("a-m0")
            .is_some_and(|last| last.owned_shards.is_empty() && last.revoking_shards.is_empty())
    };
    wait_until(LIMIT, released).await.unwrap();
    assert_eq!(scene.pending(0).await, 1);
}

#[tokio::test]
async fn a_handler_that_panics_costs_its_shard_a_restart_and_no_record() {
    let panics = Arc::new(AtomicU32::new(1));
    let left = Arc::clone(&panics);
    let log = Log::judging(move |handled| {
        let panic = handled.body == "1"
            && left
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                    left.checked_sub(1)
                })
                .is_ok();
        assert!(!panic, "the handler's own fault");
        Ok(())
    });
    let scene = Scene::new(1).await;
    scene.publish(0, 0..3).await;
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene.start("a", &log);
    log.wait_for(3).await;
    assert_eq!(client.metrics().handler_panics, 1);
    let again = log
        .begun()
        .into_iter()
        .filter(|handled| handled.body == "1")
        .map(|handled| handled.deliveries);
    assert_eq!(
        again.collect::<Vec<_>>(),
        [1, 2],
        "the handler can tell that it had the record before"
    );
}

#[tokio::test]
async fn acknowledgements_do_not_wait_for_a_slow_record_behind_them() {
    let (scene, log) = (Scene::new(1).await, Log::held());
    scene.publish(0, 0..3).await;
    scene.coordinator.assign("a-m0", &[0]);
    let _client = scene.start("a", &log);
    log.let_through(2);
    log.wait_for_begun(3).await;
    let outcome = testkit::wait_until_async(LIMIT, || async { scene.pending(0).await == 1 }).await;
    assert!(outcome.is_ok(), "{} are pending", scene.pending(0).await);
}

#[tokio::test]
async fn progress_travels_with_the_heartbeats() {
    let (scene, log) = (Scene::new(1).await, Log::held());
    let ids = scene.publish(0, 0..2).await;
    scene.coordinator.assign("a-m0", &[0]);
    let _client = scene.start("a", &log);
    log.let_through(1);
    let row = || {
        scene
            .coordinator
            .last_heartbeat("a-m0")
            .and_then(|last| last.shard_progress.into_iter().next())
    };
    wait_until(LIMIT, || {
        row().is_some_and(|row| row.last_acked_id.is_some())
    })
    .await
    .unwrap();
    let row = row().unwrap();
    assert_eq!((row.shard, row.stream_key), (ShardId::new(0), key(0)));
    assert_eq!(
        (row.last_delivered_id, row.last_acked_id, row.pending_count),
        (Some(ids[1].clone()), Some(ids[0].clone()), 1)
    );
    assert!(row.updated_at.is_some());
}

#[tokio::test]
async fn an_idle_shard_costs_no_more_reads_than_its_block_time_asks_for() {
    let (scene, log) = (Scene::new(1).await, Log::new());
    scene.coordinator.assign("a-m0", &[0]);
    let _client = scene
        .builder("a", &log)
        .block(Duration::from_millis(500))
        .build()
        .unwrap()
        .start();
    scene.publish(0, ["x"]).await;
    log.wait_for(1).await;
    let mut connection = scene.connection().await;
    redis::cmd("CONFIG")
        .arg("RESETSTAT")
        .exec_async(&mut connection)
        .await
        .unwrap();
    // waits: the span over which commands are counted
    tokio::time::sleep(Duration::from_secs(2)).await;
    let stats: String = redis::cmd("INFO")
        .arg("commandstats")
        .query_async(&mut connection)
        .await
        .unwrap();
    let reads = stats
        .lines()
        .find_map(|line| line.strip_prefix("cmdstat_xreadgroup:calls="))
        .unwrap_or("0");
    let reads: u32 = reads.split(',').next().unwrap().parse().unwrap();
    assert!((1..=6).contains(&reads), "{reads} reads in 2 s");
}
