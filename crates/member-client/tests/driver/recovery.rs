//! What earlier owners left behind: nothing is lost, nothing is handled twice within one ownership.

use std::time::Duration;

use testkit::wait_until;

use crate::scene::{GROUP, LIMIT, Log, Scene, key, numbers};

#[tokio::test]
async fn entries_of_dead_consumers_come_first_and_in_the_order_of_the_stream() {
    let (scene, log) = (Scene::new(1).await, Log::new());
    scene.publish(0, 0..30).await;
    // The consumers alternate, and one of them has the name of the new owner.
    for consumer in ["dead-1", "a-m0", "dead-2", "a-m0"] {
        scene.leave_pending(0, consumer, 5).await;
    }
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene
        .builder("a", &log)
        .read_count(7)
        .build()
        .unwrap()
        .start();
    log.wait_for(30).await;
    assert_eq!(log.bodies(), numbers(0..30));
    let deliveries: Vec<u64> = log
        .accepted()
        .iter()
        .map(|handled| handled.deliveries)
        .collect();
    assert_eq!(deliveries, [vec![2; 20], vec![1; 10]].concat());
    scene.wait_for_nothing_pending(1).await;
    assert_eq!(client.metrics().records_recovered, 20);
}

/// C15: entries that were deleted or trimmed while they were pending.
#[tokio::test]
async fn pending_entries_without_a_record_are_cleared_away_and_counted_as_lost() {
    let (scene, log) = (Scene::new(1).await, Log::new());
    let ids = scene.publish(0, 0..10).await;
    scene.leave_pending(0, "dead", 4).await;
    scene.leave_pending(0, "a-m0", 4).await;
    let mut connection = scene.connection().await;
    for id in [&ids[1], &ids[5], &ids[6]] {
        redis::cmd("XDEL")
            .arg(key(0))
            .arg(id)
            .exec_async(&mut connection)
            .await
            .unwrap();
    }
    redis::cmd("XTRIM")
        .arg(key(0))
        .arg("MINID")
        .arg(&ids[1])
        .exec_async(&mut connection)
        .await
        .unwrap();
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene.start("a", &log);
    log.wait_for(6).await;
    assert_eq!(log.bodies(), ["2", "3", "4", "7", "8", "9"]);
    scene.wait_for_nothing_pending(1).await;
    let metrics = client.metrics();
    assert_eq!((metrics.records_lost, metrics.records_recovered), (4, 4));
}

/// C18: consumers in Redis are as many as members, however often the process starts.
#[tokio::test]
async fn restarts_leave_no_further_consumer_names_behind() {
    let (scene, log) = (Scene::new(1).await, Log::new());
    scene.coordinator.assign("a-m0", &[0]);
    for round in 1..=3 {
        scene.publish(0, ["x"]).await;
        let client = scene.start("a", &log);
        log.wait_for(round).await;
        // A crash: nothing is said to anybody.
        drop(client);
    }
    let mut connection = scene.connection().await;
    let consumers: Vec<redis::Value> = redis::cmd("XINFO")
        .arg("CONSUMERS")
        .arg(key(0))
        .arg(GROUP)
        .query_async(&mut connection)
        .await
        .unwrap();
    assert_eq!(consumers.len(), 1);
}

/// C23: 1,000 entries, a shard that changes hands at random moments and members that are thrown out in between.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_entries_survive_random_stops_of_their_readers() {
    let (scene, log) = (Scene::new(1).await, Log::new());
    // Members that are thrown out often stand aside for a time that goes by the lease.
    scene.coordinator.change(|script| script.lease_ms = 400);
    let _clients = [scene.start("a", &log), scene.start("b", &log)];
    let members = ["a-m0", "b-m0"];
    let publishing = async {
        for chunk in 0..100 {
            scene.publish(0, chunk * 10..chunk * 10 + 10).await;
            // waits: spreads the entries over the changes of hands
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let meddling = async {
        let mut seed = 4_711_u64;
        for round in 0..40_usize {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (owner, other) = (members[round % 2], members[1 - round % 2]);
            scene.coordinator.assign(other, &[]);
            // As the real coordinator: the next owner is told once the other has let go.
            let gone = || {
                scene.coordinator.last_heartbeat(other).is_none_or(|last| {
                    last.owned_shards.is_empty() && last.revoking_shards.is_empty()
                })
            };
            wait_until(LIMIT, gone).await.unwrap();
            scene.coordinator.assign(owner, &[0]);
            // waits: a random moment
            tokio::time::sleep(Duration::from_millis((seed >> 33) % 60)).await;
            if round % 5 == 4 && round < 35 {
                scene
                    .coordinator
                    .change(|script| script.fence.push(owner.to_owned()));
                // waits: a random moment
                tokio::time::sleep(Duration::from_millis((seed >> 40) % 40)).await;
            }
        }
    };
    tokio::join!(publishing, meddling);
    scene.coordinator.assign("a-m0", &[0]);
    scene.coordinator.assign("b-m0", &[]);
    log.wait_for(1_000).await;
    scene.wait_for_nothing_pending(1).await;
    let mut bodies: Vec<u32> = log
        .bodies()
        .iter()
        .map(|body| body.parse().unwrap())
        .collect();
    bodies.sort_unstable();
    bodies.dedup();
    assert_eq!(bodies, (0..1_000).collect::<Vec<_>>());
}

/// C19: a lost connection is no reason to hand a record over twice; its acknowledgement is sent again first.
#[tokio::test]
async fn records_whose_acknowledgement_was_lost_are_not_handed_over_again() {
    let (scene, log) = (Scene::new(1).await, Log::new());
    let proxy = testkit::TcpProxy::start(scene.redis.address())
        .await
        .unwrap();
    scene.coordinator.assign("a-m0", &[0]);
    let url = format!("redis://{}/", proxy.address());
    let client = scene
        .builder("a", &log)
        .redis_urls([url])
        .block(Duration::from_millis(200))
        .build()
        .unwrap()
        .start();
    scene.publish(0, ["first"]).await;
    log.wait_for(1).await;
    for round in 0..10 {
        scene.wait_for_nothing_pending(1).await;
        // The answer that is lost is that of the acknowledgement, or of the read after it.
        let before = client.metrics().reconnects;
        scene.publish(0, [format!("{round}")]).await;
        log.wait_for(round + 2).await;
        proxy.drop_replies(1);
        wait_until(LIMIT, || client.metrics().reconnects > before)
            .await
            .unwrap();
    }
    scene.publish(0, ["last"]).await;
    log.wait_for(12).await;
    scene.wait_for_nothing_pending(1).await;
    assert_eq!(log.accepted().len(), 12, "{:?}", log.bodies());
}

#[tokio::test]
async fn an_idle_owner_finds_entries_that_were_left_pending_behind_its_back() {
    let (scene, log) = (Scene::new(1).await, Log::new());
    scene.coordinator.assign("a-m0", &[0]);
    let builder = scene
        .builder("a", &log)
        .block(Duration::from_millis(50))
        .recheck_interval(Duration::from_millis(100));
    let _client = builder.build().unwrap().start();
    scene.publish(0, ["x"]).await;
    log.wait_for(1).await;
    // Somebody takes an entry although the shard is not theirs: a command that was under way when they were stopped.
    let mut connection = scene.connection().await;
    let mut both = redis::pipe();
    both.atomic()
        .cmd("XADD")
        .arg(key(0))
        .arg("*")
        .arg("body")
        .arg("y");
    both.cmd("XREADGROUP")
        .arg("GROUP")
        .arg(GROUP)
        .arg("late")
        .arg("STREAMS")
        .arg(key(0))
        .arg(">");
    both.exec_async(&mut connection).await.unwrap();
    log.wait_for(2).await;
    scene.wait_for_nothing_pending(1).await;
}
