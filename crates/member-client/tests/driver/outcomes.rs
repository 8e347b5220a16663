//! What handlers say about records, where the lives of shards are told apart and where they are not.

use std::time::{Duration, Instant};

use member_client::{Exhausted, Health, Outcome, TroubleKind};
use testkit::{wait_until, wait_until_async};

use crate::life::{field, group};
use crate::scene::{GROUP, LIMIT, Log, Scene, key, numbers};

fn has_let_go(scene: &Scene, member: &str) -> bool {
    scene
        .coordinator
        .last_heartbeat(member)
        .is_some_and(|last| last.owned_shards.is_empty() && last.revoking_shards.is_empty())
}

#[tokio::test]
async fn a_record_is_deleted_once_it_is_done_with_unless_another_group_needs_it() {
    let (scene, _) = Scene::alive(2).await;
    let log = Log::deciding(|_| Ok(Outcome::AckAndDelete));
    let _: String = scene
        .query(&["XGROUP", "CREATE", &key(1), "audit", "0"])
        .await;
    scene.publish(0, 0..5).await;
    scene.publish(1, 0..5).await;
    scene.coordinator.assign("a-m0", &[0, 1]);
    let client = scene.start("a", &log);
    log.wait_for(10).await;
    scene.wait_for_nothing_pending(2).await;
    let lengths: [u32; 2] = [
        scene.query(&["XLEN", &key(0)]).await,
        scene.query(&["XLEN", &key(1)]).await,
    ];
    assert_eq!(lengths, [0, 5]);
    let metrics = client.metrics();
    assert_eq!((metrics.records_acked, metrics.records_deleted), (10, 5));
}

#[tokio::test]
async fn a_rejected_record_becomes_a_dead_letter_and_the_shard_goes_on() {
    let (scene, _) = Scene::alive(1).await;
    let log = Log::deciding(|handled| {
        Ok(match handled.body.as_str() {
            "1" => Outcome::Reject("no such customer".to_owned()),
            _ => Outcome::Ack,
        })
    });
    let ids = scene.publish(0, 0..3).await;
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene.start("a", &log);
    log.wait_for(2).await;
    scene.wait_for_nothing_pending(1).await;
    assert_eq!(log.bodies(), ["0", "2"]);
    let letters = scene.dead_letters(0).await;
    assert_eq!(letters.len(), 1);
    let of = |name| field(&letters[0], name);
    assert_eq!((of("body"), of("dlq.stream")), ("1", key(0).as_str()));
    assert_eq!((of("dlq.id"), of("dlq.group")), (ids[1].as_str(), GROUP));
    assert_eq!(
        (of("dlq.attempts"), of("dlq.reason")),
        ("1", "no such customer")
    );
    assert_eq!(client.metrics().dead_letters, 1);
    assert!(client.troubles().is_empty());
}

#[tokio::test]
async fn a_record_that_is_never_handled_becomes_a_dead_letter_after_its_last_attempt() {
    let (scene, lives) = Scene::alive(1).await;
    let log = Log::deciding(|handled| match handled.body.as_str() {
        "1" => Err("no stock".into()),
        _ => Ok(Outcome::Ack),
    });
    let ids = scene.publish(0, 0..3).await;
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene.start("a", &log);
    log.wait_for(2).await;
    scene.wait_for_nothing_pending(1).await;
    let attempts: Vec<u32> = log
        .begun()
        .iter()
        .filter(|handled| handled.body == "1")
        .map(|handled| handled.attempt)
        .collect();
    assert_eq!(attempts, [1, 2, 3, 4, 5]);
    let letters = scene.dead_letters(0).await;
    assert_eq!(field(&letters[0], "dlq.attempts"), "5");
    assert_eq!(
        field(&letters[0], "dlq.reason"),
        "not handled after 5 attempts: no stock"
    );
    let metrics = client.metrics();
    assert_eq!(
        (
            metrics.handler_errors,
            metrics.retries,
            metrics.dead_letters
        ),
        (5, 4, 1)
    );
    // Nothing is kept of what is done with.
    use stream_lifecycle::ShardRedelivery;
    let id = ids[1].parse().unwrap();
    assert_eq!(lives[0].attempts(&group(), &[id]).await.unwrap(), [None]);
}

/// Order per shard: what is postponed holds later records back until it is due, and the next owner keeps to it.
#[tokio::test]
async fn a_postponed_record_holds_its_shard_until_it_is_due_whoever_owns_it() {
    let (scene, _) = Scene::alive(1).await;
    let pause = Duration::from_millis(1_500);
    let judge = move |handled: &crate::scene::Handled| {
        Ok(match (handled.body.as_str(), handled.attempt) {
            ("0", 1) => Outcome::RetryLater(pause),
            _ => Outcome::Ack,
        })
    };
    let (log, next) = (Log::deciding(judge), Log::deciding(judge));
    scene.publish(0, 0..3).await;
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene.start("a", &log);
    wait_until(LIMIT, || client.metrics().retries == 1)
        .await
        .unwrap();
    let postponed = Instant::now();
    wait_until(LIMIT, || !client.troubles().is_empty())
        .await
        .unwrap();
    let trouble = client.troubles().remove(0);
    assert_eq!(trouble.kind, TroubleKind::HeldUp);
    // The shard can be taken away meanwhile.
    scene.coordinator.assign("a-m0", &[]);
    wait_until(LIMIT, || has_let_go(&scene, "a-m0"))
        .await
        .unwrap();
    assert!(
        postponed.elapsed() < Duration::from_millis(1_200),
        "it waited"
    );
    scene.coordinator.assign("b-m0", &[0]);
    let _next = scene.start("b", &next);
    next.wait_for_begun(1).await;
    assert!(postponed.elapsed() > Duration::from_millis(1_300));
    next.wait_for(3).await;
    assert_eq!(next.bodies(), numbers(0..3));
    assert_eq!(next.accepted()[0].attempt, 2);
    assert_eq!(log.begun().len(), 1);
}

/// C21: with `halt` the shard stops where everybody can see it, the others go on, and it can be given away.
#[tokio::test]
async fn a_halted_shard_is_seen_can_be_revoked_and_stops_the_next_owner_until_somebody_acts_c21() {
    let (scene, _) = Scene::alive(2).await;
    let judge = |handled: &crate::scene::Handled| match (handled.shard, handled.body.as_str()) {
        (0, "1") => Err("poison".into()),
        _ => Ok(Outcome::Ack),
    };
    let (log, next) = (Log::deciding(judge), Log::deciding(judge));
    let start = |base: &str, log: &Log| {
        let builder = scene.builder(base, log).max_attempts(3);
        let builder = builder.recheck_interval(Duration::from_millis(50));
        builder
            .when_exhausted(Exhausted::Halt)
            .build()
            .unwrap()
            .start()
    };
    let ids = scene.publish(0, 0..3).await;
    scene.coordinator.assign("a-m0", &[0, 1]);
    let client = start("a", &log);
    wait_until(LIMIT, || client.metrics().shards_halted == 1)
        .await
        .unwrap();
    scene.publish(1, 0..5).await;
    log.wait_for(6).await;
    let trouble = client.troubles().remove(0);
    assert_eq!(
        (
            trouble.kind,
            trouble.stream_key.as_str(),
            trouble.entry.as_deref()
        ),
        (TroubleKind::Halted, "orders:0", Some(ids[1].as_str()))
    );
    assert!(
        trouble.reason.contains("after 3 attempts: poison"),
        "{trouble:?}"
    );
    assert_eq!(client.health()[0].1, Health::Degraded);
    assert_eq!(scene.pending(0).await, 2);
    scene.coordinator.assign("a-m0", &[1]);
    let released = || {
        scene
            .coordinator
            .last_heartbeat("a-m0")
            .is_some_and(|last| last.owned_shards.len() == 1 && last.revoking_shards.is_empty())
    };
    wait_until(LIMIT, released).await.unwrap();
    assert!(client.troubles().is_empty());
    scene.coordinator.assign("b-m0", &[0]);
    let successor = start("b", &next);
    wait_until(LIMIT, || successor.metrics().shards_halted == 1)
        .await
        .unwrap();
    assert!(next.begun().is_empty());
    assert!(scene.dead_letters(0).await.is_empty());
    // Somebody takes it out of the way.
    let _: u32 = scene.query(&["XACK", &key(0), GROUP, &ids[1]]).await;
    next.wait_for(1).await;
    assert_eq!(next.bodies(), ["2"]);
    wait_until(LIMIT, || successor.troubles().is_empty())
        .await
        .unwrap();
    assert_eq!(successor.metrics().shards_halted, 1);
}

/// Where lives are not told apart nothing is given up and nothing is deleted, and both are said.
#[tokio::test]
async fn on_a_plain_shard_rejections_are_errors_and_deletions_only_acknowledge() {
    let (scene, log) = (
        Scene::new(1).await,
        Log::deciding(|handled| {
            Ok(match (handled.body.as_str(), handled.attempt) {
                ("1", 1..=7) => Outcome::Reject("odd".to_owned()),
                _ => Outcome::AckAndDelete,
            })
        }),
    );
    scene.publish(0, 0..3).await;
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene.start("a", &log);
    wait_until(LIMIT, || {
        let troubles = client.troubles();
        troubles
            .first()
            .is_some_and(|trouble| trouble.reason.contains("names no generation"))
    })
    .await
    .unwrap();
    log.wait_for(3).await;
    scene.wait_for_nothing_pending(1).await;
    let length: u32 = scene.query(&["XLEN", &key(0)]).await;
    assert_eq!((log.bodies(), length), (numbers(0..3), 3));
    let metrics = client.metrics();
    assert_eq!((metrics.deletes_skipped, metrics.records_deleted), (3, 0));
    assert_eq!((metrics.retries, metrics.dead_letters), (7, 0));
}

/// C19: an acknowledgement whose answer was lost is sent again before anything is handed over again.
#[tokio::test]
async fn answers_that_are_lost_cause_no_second_handling_c19() {
    let (scene, _) = Scene::alive(1).await;
    let log = Log::new();
    let proxy = testkit::TcpProxy::start(scene.redis.address())
        .await
        .unwrap();
    scene.coordinator.assign("a-m0", &[0]);
    let url = format!("redis://{}/", proxy.address());
    let builder = scene.builder("a", &log).redis_urls([url]);
    let client = builder
        .block(Duration::from_millis(200))
        .build()
        .unwrap()
        .start();
    scene.publish(0, ["first"]).await;
    log.wait_for(1).await;
    for round in 0..6 {
        scene.wait_for_nothing_pending(1).await;
        let before = client.metrics().reconnects;
        scene.publish(0, [round]).await;
        log.wait_for(round + 2).await;
        proxy.drop_replies(1);
        wait_until(LIMIT, || client.metrics().reconnects > before)
            .await
            .unwrap();
    }
    let settled = wait_until_async(LIMIT, || async { scene.pending(0).await == 0 });
    settled.await.unwrap();
    assert_eq!(log.begun().len(), 7, "{:?}", log.begun());
}

/// C21: a handler that panics costs its shard a restart; what it panics at is set aside like anything else.
#[tokio::test]
async fn a_record_at_which_the_handler_panics_is_set_aside_c21() {
    let (scene, _) = Scene::alive(1).await;
    let log = Log::deciding(|handled| {
        assert!(handled.body != "1", "the handler's own fault");
        Ok(Outcome::Ack)
    });
    scene.publish(0, 0..3).await;
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene.start("a", &log);
    log.wait_for(2).await;
    scene.wait_for_nothing_pending(1).await;
    assert_eq!(log.bodies().last().map(String::as_str), Some("2"));
    let letters = scene.dead_letters(0).await;
    assert_eq!(field(&letters[0], "body"), "1");
    let metrics = client.metrics();
    assert_eq!((metrics.handler_panics, metrics.dead_letters), (5, 1));
}
