//! Heartbeats and the watch, as far as the driver has a part in them.

use std::time::{Duration, Instant};

use member_client::{Health, StopReason};
use testkit::wait_until;

use crate::scene::{LIMIT, Log, Scene};

#[tokio::test]
async fn a_watch_makes_changes_seen_long_before_the_next_heartbeat() {
    let (scene, log) = (Scene::new(1).await, Log::new());
    scene
        .coordinator
        .change(|script| (script.interval_ms, script.lease_ms) = (5_000, 30_000));
    scene.publish(0, ["x"]).await;
    let client = scene
        .builder("a", &log)
        .concurrency(2)
        .build()
        .unwrap()
        .start();
    wait_until(LIMIT, || {
        client
            .health()
            .iter()
            .all(|(_, health)| *health == Health::Healthy)
    })
    .await
    .unwrap();
    let start = Instant::now();
    scene.coordinator.assign("a-m1", &[0]);
    log.wait_for(1).await;
    assert!(start.elapsed() < Duration::from_secs(3));
    assert!(client.metrics().hints > 0);
}

#[tokio::test]
async fn without_a_watch_changes_are_seen_with_the_next_heartbeat() {
    let (scene, log) = (Scene::new(1).await, Log::new());
    scene.coordinator.change(|script| script.interval_ms = 400);
    scene.publish(0, ["x"]).await;
    let client = scene
        .builder("a", &log)
        .watch(false)
        .build()
        .unwrap()
        .start();
    wait_until(LIMIT, || client.health()[0].1 == Health::Healthy)
        .await
        .unwrap();
    let before = scene.coordinator.heartbeats().len();
    scene.coordinator.assign("a-m0", &[0]);
    log.wait_for(1).await;
    assert_eq!(client.metrics().hints, 0);
    assert!(scene.coordinator.heartbeats().len() > before);
}

#[tokio::test]
async fn all_members_of_a_process_share_its_instance_id_and_have_sequences_of_their_own() {
    let (scene, log) = (Scene::new(1).await, Log::new());
    let client = scene
        .builder("a", &log)
        .concurrency(2)
        .member_name("billing")
        .rack("r1")
        .build()
        .unwrap()
        .start();
    wait_until(LIMIT, || scene.coordinator.heartbeats().len() >= 6)
        .await
        .unwrap();
    let heartbeats = scene.coordinator.heartbeats();
    let first = &heartbeats[0];
    assert_eq!(
        (first.member_name.as_deref(), first.rack.as_deref()),
        (Some("billing"), Some("r1"))
    );
    assert!(
        heartbeats.iter().all(
            |request| request.instance_id == first.instance_id && request.instance_id.is_some()
        )
    );
    for member in ["a-m0", "a-m1"] {
        let sequences: Vec<u64> = heartbeats
            .iter()
            .filter(|request| request.member_id == member)
            .map(|request| request.sequence.unwrap())
            .collect();
        assert_eq!(sequences, (1..=sequences.len() as u64).collect::<Vec<_>>());
    }
    drop(client);
}

/// C38: an answer that does not arrive is asked for again, and nothing stops meanwhile.
#[tokio::test]
async fn lost_answers_of_the_coordinator_disturb_nothing() {
    let (scene, log) = (Scene::new(1).await, Log::new());
    let address = scene.coordinator.address().to_owned();
    let proxy = testkit::TcpProxy::start(address).await.unwrap();
    let through = scene.coordinator.through(&proxy.address());
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene
        .builder("a", &log)
        .coordinator(through)
        .watch(false)
        .request_timeout(Duration::from_millis(300))
        .build()
        .unwrap()
        .start();
    for round in 1..=10 {
        proxy.drop_replies(1);
        scene.publish(0, [round]).await;
        log.wait_for(round).await;
        wait_until(LIMIT, || proxy.replies_left_to_drop() == 0)
            .await
            .unwrap();
    }
    let metrics = client.metrics();
    assert_eq!((metrics.abandonments, metrics.shards_started), (0, 1));
}

#[tokio::test]
async fn a_coordinator_that_refuses_the_message_ends_the_member_with_the_reason() {
    let (scene, log) = (Scene::new(1).await, Log::new());
    scene.coordinator.change(|script| script.unwelcome = true);
    let stopped = scene.start("a", &log).join().await;
    assert!(
        matches!(&stopped[0].reason, StopReason::InvalidRequest { message } if message.contains("no heartbeat")),
        "{stopped:?}"
    );
}
