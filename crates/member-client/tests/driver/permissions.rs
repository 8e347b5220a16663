//! The permissions that the page on operations gives to members are enough, and the page's command is what is run here.

use std::path::Path;
use std::time::Duration;

use member_client::{Outcome, RunningClient};
use testkit::wait_until;

use crate::scene::{GROUP, LIMIT, Log, Scene, key};

/// The page's command for this user, as words.
fn command_on_the_page(user: &str) -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operations.md");
    let page = std::fs::read_to_string(page).unwrap();
    let start = format!("ACL SETUSER {user} ");
    let mut lines = page.lines().skip_while(|line| !line.starts_with(&start));
    let first = lines.next().expect("the page has the command");
    let rest = lines.take_while(|line| line.starts_with(' '));
    let words = std::iter::once(first).chain(rest);
    words
        .flat_map(str::split_whitespace)
        .map(str::to_owned)
        .collect()
}

/// C11: nothing that a member does is denied: recovering what others left, reading, acknowledging, making a lost group
/// anew, and letting go at once although the read would wait for long.
#[tokio::test]
async fn c11_the_permissions_on_the_page_are_enough_for_a_member() {
    let (scene, log) = (Scene::new(1).await, Log::new());
    let mut connection = scene.connection().await;
    let words = command_on_the_page("member");
    redis::cmd(&words[0])
        .arg(&words[1..])
        .exec_async(&mut connection)
        .await
        .unwrap();
    scene.publish(0, 0..3).await;
    scene.leave_pending(0, "gone", 2).await;
    scene.coordinator.assign("a-m0", &[0]);
    let url = format!("redis://member:secret@{}/", scene.redis.address());
    let client = scene
        .builder("a", &log)
        .redis_urls([url])
        .block(Duration::from_secs(6))
        .build()
        .unwrap()
        .start();
    log.wait_for(3).await;
    scene.wait_for_nothing_pending(1).await;
    redis::cmd("XGROUP")
        .arg(&["DESTROY", &key(0), GROUP])
        .exec_async(&mut connection)
        .await
        .unwrap();
    wait_until(LIMIT, || client.metrics().group_repairs == 1)
        .await
        .unwrap();
    scene.publish(0, 3..5).await;
    log.wait_for(5).await;
    client.shutdown().await;
    let log: Vec<redis::Value> = redis::cmd("ACL")
        .arg("LOG")
        .query_async(&mut connection)
        .await
        .unwrap();
    // The driver says its name and version from 7.2 on, and does without.
    let denied: Vec<_> = log
        .iter()
        .filter(|entry| !format!("{entry:?}").contains("client|setinfo"))
        .collect();
    assert!(denied.is_empty(), "{denied:?}");
}

/// C11: as much as the README asks for is enough where the lives of shards are told apart: recovering, registering, counting,
/// postponing, setting aside, deleting, making a lost group and a lost stream anew.
#[tokio::test]
async fn c11_the_permissions_in_the_readme_are_enough_for_everything() {
    let (scene, _) = Scene::alive(1).await;
    let readme = include_str!("../../README.md");
    let line = readme.lines().find(|line| line.starts_with("ACL SETUSER "));
    let words: Vec<&str> = line.unwrap().split_whitespace().collect();
    let _: String = scene.query(&words).await;
    let log = Log::deciding(|handled| {
        Ok(match (handled.body.as_str(), handled.attempt) {
            ("0", _) => Outcome::Reject("odd".to_owned()),
            ("1", ..=2) => Outcome::Retry,
            ("2", _) => Outcome::AckAndDelete,
            _ => Outcome::Ack,
        })
    });
    scene.publish(0, 0..4).await;
    scene.leave_pending(0, "gone", 2).await;
    scene.coordinator.assign("a-m0", &[0]);
    let url = format!("redis://member:secret@{}/", scene.redis.address());
    let builder = scene.builder("a", &log).redis_urls([url]);
    let client: RunningClient = builder.build().unwrap().start();
    log.wait_for(3).await;
    scene.wait_for_nothing_pending(1).await;
    let metrics = client.metrics();
    assert_eq!((metrics.dead_letters, metrics.records_deleted), (1, 1));
    let _: u32 = scene.query(&["XGROUP", "DESTROY", &key(0), GROUP]).await;
    wait_until(LIMIT, || client.metrics().group_repairs == 1)
        .await
        .unwrap();
    let _: u32 = scene.query(&["DEL", &key(0)]).await;
    wait_until(LIMIT, || client.metrics().streams_lost == 1)
        .await
        .unwrap();
    scene.publish(0, ["last"]).await;
    log.wait_for(4).await;
    client.shutdown().await;
    assert_eq!(metrics.reconnects, 0, "{metrics:?}");
}
