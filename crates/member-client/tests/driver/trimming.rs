//! Entries that were trimmed before anybody had read them (case C30).

use std::time::Duration;

use stream_lifecycle::ShardInspect;
use testkit::wait_until;

use crate::scene::{LIMIT, Log, Scene, key};

/// C30: the lag alone would go back to 0 as if nothing had happened.
#[tokio::test]
async fn entries_that_were_trimmed_unread_are_counted_c30() {
    let (scene, lives) = Scene::alive(1).await;
    let log = Log::held();
    let builder = scene.builder("a", &log);
    let builder = builder
        .read_count(2)
        .block(Duration::from_millis(50))
        .recheck_interval(Duration::from_millis(50));
    scene.coordinator.assign("a-m0", &[0]);
    let client = builder.build().unwrap().start();
    log.let_through(1);
    scene.publish(0, ["first"]).await;
    log.wait_for(1).await;
    scene.wait_for_nothing_pending(1).await;
    // One is given to the reader, who is busy; of the eight behind it five are trimmed.
    scene.publish(0, ["given"]).await;
    log.wait_for_begun(2).await;
    scene.publish(0, 0..8).await;
    let _: u32 = scene.query(&["XTRIM", &key(0), "MAXLEN", "=", "3"]).await;
    log.let_through(100);
    wait_until(LIMIT, || client.metrics().trimmed_unread == 5)
        .await
        .unwrap();
    scene.wait_for_nothing_pending(1).await;
    let evidence = lives[0].drain_evidence().await.unwrap();
    assert_eq!(evidence.groups[0].trimmed_unread, 5);
    assert_eq!(client.metrics().trimmed_unread, 5);
}
