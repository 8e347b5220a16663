//! Giving a shard up: the blocked read ends first, what is in hand is finished, and nothing is done after the lease.

use std::time::{Duration, Instant};

use member_client::{Health, StopReason};
use testkit::{wait_until, wait_until_async};

use crate::scene::{GROUP, LIMIT, Log, Scene, key, numbers};

fn has_let_go(scene: &Scene, member: &str) -> bool {
    scene
        .coordinator
        .last_heartbeat(member)
        .is_some_and(|last| last.owned_shards.is_empty() && last.revoking_shards.is_empty())
}

/// A reader that already waits would be served first, so its wait ends before the shard is reported as given up.
#[tokio::test]
async fn no_entry_reaches_the_old_owner_after_it_has_let_go() {
    let (scene, log) = (Scene::new(1).await, Log::new());
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene
        .builder("a", &log)
        .block(Duration::from_secs(5))
        .build()
        .unwrap()
        .start();
    scene.publish(0, ["x"]).await;
    log.wait_for(1).await;
    let start = Instant::now();
    scene.coordinator.assign("a-m0", &[]);
    wait_until(LIMIT, || has_let_go(&scene, "a-m0"))
        .await
        .unwrap();
    assert!(
        start.elapsed() < Duration::from_secs(3),
        "the wait was not ended at the server"
    );
    scene.publish(0, ["y"]).await;
    let mut connection = scene.connection().await;
    let blocked: String = redis::cmd("INFO")
        .arg("clients")
        .query_async(&mut connection)
        .await
        .unwrap();
    assert!(blocked.contains("blocked_clients:0"), "{blocked}");
    assert_eq!(scene.pending(0).await, 0);
    assert_eq!(client.metrics().records_handled, 1);
}

/// A read that waits is held back by the server while writes are paused, as during a fail-over. Redis before 8.2 crashes of `CLIENT UNBLOCK` then.
#[tokio::test]
async fn a_shard_is_given_up_while_redis_pauses_writes_and_redis_lives() {
    let (scene, log) = (Scene::new(1).await, Log::new());
    scene.coordinator.assign("a-m0", &[0]);
    let block = Duration::from_millis(100);
    let client = scene.builder("a", &log).block(block).build().unwrap();
    let _client = client.start();
    scene.publish(0, ["x"]).await;
    log.wait_for(1).await;
    let connection = scene.connection().await;
    let ask = async |words: &[&str]| -> String {
        let mut command = redis::cmd(words[0]);
        command.arg(&words[1..]);
        command.query_async(&mut connection.clone()).await.unwrap()
    };
    assert_eq!(ask(&["CLIENT", "PAUSE", "60000", "WRITE"]).await, "OK");
    // Longer than it would wait by itself: it is the pause that it waits for.
    wait_until_async(LIMIT, || async {
        let clients = ask(&["CLIENT", "LIST"]).await;
        clients.lines().any(|line| {
            let has = |word: &str| line.split(' ').any(|found| found == word);
            has("cmd=xreadgroup") && has("flags=b") && !has("idle=0")
        })
    })
    .await
    .unwrap();
    scene.coordinator.assign("a-m0", &[]);
    wait_until(LIMIT, || has_let_go(&scene, "a-m0"))
        .await
        .unwrap();
    assert_eq!(ask(&["CLIENT", "UNPAUSE"]).await, "OK");
    scene.coordinator.assign("a-m0", &[0]);
    scene.publish(0, ["y"]).await;
    log.wait_for(2).await;
    assert_eq!(log.bodies(), ["x", "y"]);
}

#[tokio::test]
async fn the_record_in_hand_is_finished_and_the_rest_is_left_to_the_next_owner() {
    let (scene, log, next) = (Scene::new(1).await, Log::held(), Log::new());
    scene.publish(0, 0..5).await;
    scene.coordinator.assign("a-m0", &[0]);
    let _a = scene.start("a", &log);
    log.wait_for_begun(1).await;
    scene.coordinator.assign("a-m0", &[]);
    let draining = || {
        scene
            .coordinator
            .last_heartbeat("a-m0")
            .is_some_and(|last| {
                last.revoking_shards
                    .first()
                    .is_some_and(|row| row.in_flight == 1)
            })
    };
    wait_until(LIMIT, draining).await.unwrap();
    log.let_through(1);
    wait_until(LIMIT, || has_let_go(&scene, "a-m0"))
        .await
        .unwrap();
    assert_eq!(log.bodies(), ["0"]);
    scene.coordinator.assign("b-m0", &[0]);
    let _b = scene.start("b", &next);
    next.wait_for(4).await;
    assert_eq!(next.bodies(), numbers(1..5));
}

/// C37, rule T2: without the coordinator everything stops when the lease is over; nothing is acknowledged afterwards.
#[tokio::test]
async fn when_the_lease_is_over_the_work_in_hand_is_dropped_without_acknowledgement() {
    let (scene, log) = (Scene::new(1).await, Log::held());
    scene.coordinator.change(|script| script.lease_ms = 600);
    scene.publish(0, 0..2).await;
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene.start("a", &log);
    log.wait_for_begun(1).await;
    scene.coordinator.change(|script| script.down = true);
    wait_until(LIMIT, || client.metrics().abandonments == 1)
        .await
        .unwrap();
    // The handler's future is gone: letting it through moves nothing.
    log.let_through(1);
    assert_eq!((scene.pending(0).await, log.accepted().len()), (2, 0));
    let failing = || client.health()[0].1 == Health::Failing;
    wait_until(LIMIT, failing).await.unwrap();
    log.let_through(10);
    scene.coordinator.change(|script| script.down = false);
    log.wait_for(2).await;
    assert_eq!(log.bodies(), numbers(0..2));
    assert_eq!(log.accepted()[0].deliveries, 2);
    let epochs: Vec<i64> = log.begun().iter().map(|handled| handled.epoch).collect();
    assert!(epochs[0] < epochs[1], "{epochs:?}");
}

/// C37: a fenced member drops what it has, and joins with nothing.
#[tokio::test]
async fn a_fenced_member_drops_its_work_and_gets_it_again_after_joining() {
    let (scene, log) = (Scene::new(1).await, Log::held());
    scene.publish(0, ["x"]).await;
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene.start("a", &log);
    log.wait_for_begun(1).await;
    scene
        .coordinator
        .change(|script| script.fence.push("a-m0".to_owned()));
    log.wait_for_begun(2).await;
    assert_eq!(
        (log.accepted().len(), client.metrics().abandonments),
        (0, 1)
    );
    let joins: Vec<_> = scene
        .coordinator
        .heartbeats()
        .into_iter()
        .filter(protocol::HeartbeatRequest::is_join)
        .collect();
    assert_eq!(joins.len(), 2);
    assert!(joins[1].owned_shards.is_empty() && joins[1].revoking_shards.is_empty());
    log.let_through(1);
    log.wait_for(1).await;
    scene.wait_for_nothing_pending(1).await;
}

/// C36: a raised epoch that does not concern the shard refuses no acknowledgement and restarts nothing.
#[tokio::test]
async fn acknowledgements_go_on_while_the_members_epoch_rises() {
    let (scene, log) = (Scene::new(1).await, Log::new());
    scene
        .coordinator
        .change(|script| (script.restless, script.interval_ms) = (true, 10));
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene.start("a", &log);
    let epoch = || {
        scene
            .coordinator
            .last_heartbeat("a-m0")
            .map_or(0, |last| last.member_epoch)
    };
    for round in 1..=20 {
        scene.publish(0, [round]).await;
        log.wait_for(round).await;
        let before = epoch();
        wait_until(LIMIT, || epoch() > before).await.unwrap();
    }
    scene.wait_for_nothing_pending(1).await;
    let metrics = client.metrics();
    assert_eq!(
        (
            metrics.records_acked,
            metrics.shards_started,
            metrics.acks_unknown
        ),
        (20, 1, 0)
    );
}

#[tokio::test]
async fn a_shutdown_finishes_what_is_in_hand_and_leaves_the_group() {
    let (scene, log) = (Scene::new(2).await, Log::held());
    scene.publish(0, ["x"]).await;
    scene.coordinator.assign("a-m0", &[0, 1]);
    let client = scene
        .builder("a", &log)
        .block(Duration::from_secs(5))
        .build()
        .unwrap()
        .start();
    log.wait_for_begun(1).await;
    let shutting_down = tokio::spawn(client.shutdown());
    let leaving = || {
        scene
            .coordinator
            .last_heartbeat("a-m0")
            .is_some_and(|last| last.is_leave())
    };
    wait_until(LIMIT, leaving).await.unwrap();
    let start = Instant::now();
    log.let_through(1);
    let stopped = shutting_down.await.unwrap();
    assert!(start.elapsed() < Duration::from_secs(3));
    assert_eq!(
        stopped
            .iter()
            .map(|member| (member.member_id.as_str(), &member.reason))
            .collect::<Vec<_>>(),
        [("a-m0", &StopReason::Left)]
    );
    assert_eq!(
        (log.bodies(), scene.pending(0).await),
        (vec!["x".to_owned()], 0)
    );
    let last = scene.coordinator.last_heartbeat("a-m0").unwrap();
    assert_eq!((last.member_epoch, last.owned_shards), (-1, vec![]));
}

#[tokio::test]
async fn a_shutdown_that_takes_too_long_is_cut_short() {
    let (scene, log) = (Scene::new(1).await, Log::held());
    scene.publish(0, ["x"]).await;
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene
        .builder("a", &log)
        .shutdown_timeout(Duration::from_millis(300))
        .build()
        .unwrap()
        .start();
    log.wait_for_begun(1).await;
    let stopped = client.shutdown().await;
    assert_eq!(
        stopped[0].reason,
        StopReason::ShutdownTimedOut { timeout_ms: 300 }
    );
    assert_eq!(scene.pending(0).await, 1);
}

#[tokio::test]
async fn dropping_a_client_ends_its_reading() {
    let (scene, log) = (Scene::new(1).await, Log::new());
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene.start("a", &log);
    scene.publish(0, ["x"]).await;
    log.wait_for(1).await;
    drop(client);
    let mut connection = scene.connection().await;
    let nobody = wait_until_async(LIMIT, || {
        let mut connection = connection.clone();
        async move {
            let clients: String = redis::cmd("INFO")
                .arg("clients")
                .query_async(&mut connection)
                .await
                .unwrap();
            clients.contains("blocked_clients:0")
        }
    });
    nobody.await.unwrap();
    let group: redis::Value = redis::cmd("XINFO")
        .arg("CONSUMERS")
        .arg(key(0))
        .arg(GROUP)
        .query_async(&mut connection)
        .await
        .unwrap();
    assert!(matches!(group, redis::Value::Array(consumers) if consumers.len() == 1));
}
