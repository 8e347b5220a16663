//! Handling without order, where the application asked for it: nothing holds anything else up.

use std::time::Duration;

use member_client::{Exhausted, Outcome, TroubleKind};
use testkit::wait_until;

use crate::scene::{LIMIT, Log, Scene};

#[tokio::test]
async fn several_records_of_a_shard_are_in_hand_at_once_and_no_more_than_asked_for() {
    let (scene, _) = Scene::alive(1).await;
    let log = Log::held();
    scene.publish(0, 0..10).await;
    scene.coordinator.assign("a-m0", &[0]);
    let builder = scene.builder("a", &log).unordered_in_flight(4);
    let client = builder.build().unwrap().start();
    log.wait_for_begun(4).await;
    // One more is begun only when one has ended.
    log.let_through(1);
    log.wait_for_begun(5).await;
    assert_eq!((log.begun().len(), log.accepted().len()), (5, 1));
    log.let_through(100);
    log.wait_for(10).await;
    scene.publish(0, 10..500).await;
    log.let_through(500);
    log.wait_for(500).await;
    scene.wait_for_nothing_pending(1).await;
    let metrics = client.metrics();
    assert_eq!((metrics.records_acked, metrics.reconnects), (500, 0));
    assert_eq!(log.begun().len(), 500);
}

#[tokio::test]
async fn a_postponed_record_and_a_slow_one_hold_up_nobody() {
    let (scene, _) = Scene::alive(1).await;
    let log = Log::deciding(|handled| {
        Ok(match (handled.body.as_str(), handled.attempt) {
            ("0", 1) => Outcome::RetryLater(Duration::from_millis(600)),
            ("1", _) => Outcome::Reject("never".to_owned()),
            _ => Outcome::Ack,
        })
    });
    scene.publish(0, 0..20).await;
    scene.coordinator.assign("a-m0", &[0]);
    let builder = scene.builder("a", &log).unordered_in_flight(2);
    let client = builder.build().unwrap().start();
    log.wait_for(19).await;
    let bodies = log.bodies();
    assert_eq!(bodies.last().map(String::as_str), Some("0"), "{bodies:?}");
    scene.wait_for_nothing_pending(1).await;
    assert_eq!(scene.dead_letters(0).await.len(), 1);
    let metrics = client.metrics();
    assert_eq!((metrics.retries, metrics.dead_letters), (1, 1));
}

/// C21: what was delivered before is handled alone, so that a poison entry takes no other with it.
#[tokio::test]
async fn what_was_delivered_before_is_handled_alone_c21() {
    let (scene, _) = Scene::alive(1).await;
    let log = Log::held();
    scene.publish(0, 0..6).await;
    scene.leave_pending(0, "dead", 3).await;
    scene.coordinator.assign("a-m0", &[0]);
    let builder = scene.builder("a", &log).unordered_in_flight(4);
    let _client = builder.build().unwrap().start();
    for calls in 1..=3 {
        log.wait_for_begun(calls).await;
        assert_eq!(log.begun().len(), calls);
        log.let_through(1);
    }
    log.wait_for_begun(6).await;
    log.let_through(10);
    log.wait_for(6).await;
    scene.wait_for_nothing_pending(1).await;
}

/// C19 and C23: calls under way outlive a lost connection, and are not made twice.
#[tokio::test]
async fn calls_under_way_outlive_a_lost_connection_c19() {
    let (scene, _) = Scene::alive(1).await;
    let log = Log::held();
    scene.publish(0, 0..4).await;
    scene.coordinator.assign("a-m0", &[0]);
    let builder = scene.builder("a", &log).unordered_in_flight(2);
    let client = builder.build().unwrap().start();
    log.wait_for_begun(2).await;
    let _: u32 = scene
        .query(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"])
        .await;
    wait_until(LIMIT, || client.metrics().reconnects > 0)
        .await
        .unwrap();
    log.let_through(10);
    log.wait_for(4).await;
    scene.wait_for_nothing_pending(1).await;
    assert_eq!(log.begun().len(), 4, "{:?}", log.begun());
}

#[tokio::test]
async fn what_is_in_hand_is_finished_when_the_shard_is_taken_away() {
    let scene = Scene::new(1).await;
    let log = Log::held();
    scene.publish(0, 0..5).await;
    scene.coordinator.assign("a-m0", &[0]);
    let builder = scene.builder("a", &log).unordered_in_flight(3);
    let _client = builder.build().unwrap().start();
    log.wait_for_begun(3).await;
    scene.coordinator.assign("a-m0", &[]);
    let draining = || {
        let last = scene.coordinator.last_heartbeat("a-m0");
        last.is_some_and(|last| {
            let row = last.revoking_shards.first();
            row.is_some_and(|row| row.in_flight == 3)
        })
    };
    wait_until(LIMIT, draining).await.unwrap();
    log.let_through(3);
    let gone = || {
        let last = scene.coordinator.last_heartbeat("a-m0");
        last.is_some_and(|last| last.owned_shards.is_empty() && last.revoking_shards.is_empty())
    };
    wait_until(LIMIT, gone).await.unwrap();
    assert_eq!((log.accepted().len(), scene.pending(0).await), (3, 2));
}

/// C21: without order, too, a shard halts only once what is in hand is finished, and can be taken away then.
#[tokio::test]
async fn a_shard_without_order_halts_after_what_is_in_hand_c21() {
    let (scene, _) = Scene::alive(1).await;
    let log = Log::deciding(|handled| match handled.body.as_str() {
        "0" => Err("poison".into()),
        _ => Ok(Outcome::Ack),
    });
    scene.publish(0, 0..4).await;
    scene.coordinator.assign("a-m0", &[0]);
    let builder = scene.builder("a", &log).unordered_in_flight(2);
    let builder = builder.max_attempts(2).when_exhausted(Exhausted::Halt);
    let client = builder.build().unwrap().start();
    wait_until(LIMIT, || client.metrics().shards_halted == 1)
        .await
        .unwrap();
    assert_eq!(client.troubles()[0].kind, TroubleKind::Halted);
    assert_eq!((log.accepted().len(), scene.pending(0).await), (3, 1));
    scene.coordinator.assign("a-m0", &[]);
    let gone = || {
        let last = scene.coordinator.last_heartbeat("a-m0");
        last.is_some_and(|last| last.owned_shards.is_empty() && last.revoking_shards.is_empty())
    };
    wait_until(LIMIT, gone).await.unwrap();
    assert!(client.troubles().is_empty());
}
