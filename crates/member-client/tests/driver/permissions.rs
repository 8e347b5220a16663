//! The permissions that the page on operations gives to members are enough, and the page's command is what is run here.

use std::path::Path;
use std::time::Duration;

use crate::scene::{GROUP, LIMIT, Log, Scene, key};
use testkit::wait_until;

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
    let denied: Vec<redis::Value> = redis::cmd("ACL")
        .arg("LOG")
        .query_async(&mut connection)
        .await
        .unwrap();
    assert!(denied.is_empty(), "{denied:?}");
}
