//! The permissions that the page on operations gives to producers are enough, and the page's command is what is run here.

use std::path::Path;

use crate::world::{World, record};

/// The page's command for the user `producer`, as words.
fn command_on_the_page() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operations.md");
    let page = std::fs::read_to_string(page).expect("there is a page on operations");
    let command = page
        .lines()
        .find(|line| line.starts_with("ACL SETUSER producer "))
        .expect("the page has the command");
    command.split_whitespace().map(str::to_owned).collect()
}

#[tokio::test]
async fn c11_the_permissions_on_the_page_are_enough_for_a_producer() {
    let mut world = World::of(&["orders:0", "orders:1"]).await;
    let words = command_on_the_page();
    world.run(redis::cmd(&words[0]).arg(&words[1..])).await;
    let url = format!("redis://producer:secret@127.0.0.1:{}", world.redis.port());
    let producer = world.builder_at(&url).build().expect("settings that work");
    producer
        .publish("k", [("n", "0")])
        .await
        .expect("is published");
    let batch: Vec<_> = (1..9).map(|n| record(n, &format!("k{n}"))).collect();
    for outcome in producer.publish_batch(&batch).await {
        outcome.expect("is published");
    }
}
