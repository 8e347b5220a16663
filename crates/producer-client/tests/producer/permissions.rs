//! The permissions that the pages give to producers are enough, and the pages' commands are what is run here.

use std::path::Path;

use producer_client::{Producer, PublishError};
use stream_lifecycle::{Retention, Trim};
use testkit::wait_until_async;

use crate::lives::creation;
use crate::world::{LIMIT, World, record};

/// The command for the user `producer` on a page of the project, as words.
fn command_on(page: &str) -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join(page);
    let page = std::fs::read_to_string(page).expect("there is such a page");
    let command = page
        .lines()
        .find(|line| line.starts_with("ACL SETUSER producer "))
        .expect("the page has the command");
    command.split_whitespace().map(str::to_owned).collect()
}

/// A producer who may do what the page says.
async fn allowed_by(world: &mut World, page: &str) -> Producer {
    allowed_by_words(world, &command_on(page)).await
}

async fn allowed_by_words(world: &mut World, words: &[String]) -> Producer {
    world.run(redis::cmd(&words[0]).arg(&words[1..])).await;
    let url = format!("redis://producer:secret@127.0.0.1:{}", world.redis.port());
    world.builder_at(&url).build().expect("settings that work")
}

#[tokio::test]
async fn c11_the_permissions_on_the_page_are_enough_for_a_producer() {
    let mut world = World::of(&["orders:0", "orders:1"]).await;
    let producer = allowed_by(&mut world, "../../docs/operations.md").await;
    producer
        .publish("k", [("n", "0")])
        .await
        .expect("is published");
    let batch: Vec<_> = (1..9).map(|n| record(n, &format!("k{n}"))).collect();
    for outcome in producer.publish_batch(&batch).await {
        outcome.expect("is published");
    }
}

#[tokio::test]
async fn c11_the_permissions_of_the_crate_are_enough_for_exact_publishing() {
    let mut world = World::of(&["orders:1"]).await;
    // Every branch of the scripts: an expiry, a length, and windows that turn.
    let window = std::time::Duration::from_millis(1);
    let retention = Retention::forever()
        .trim(Trim::Exact(100))
        .and_then(|retention| retention.once_window(window))
        .and_then(|retention| retention.sliding_ttl(LIMIT))
        .expect("limits that work");
    let shard = world.shard("orders:0");
    let made = shard.create(&creation().retention(retention)).await;
    made.expect("is made");
    world.routes_in(1, &[("orders:0", Some(1))]);
    let producer = allowed_by(&mut world, "README.md").await;
    producer
        .publish_exact(&record(0, "k"))
        .await
        .expect("C11: is published");
    let added = async || {
        let once = producer.publish_once("e-1", &record(1, "k")).await;
        once.expect("C11: is published");
        producer.counters().published > 4
    };
    wait_until_async(LIMIT, added)
        .await
        .expect("C11: the windows turn");
    let batch: Vec<_> = (1..9).map(|n| record(n, "k")).collect();
    for outcome in producer.publish_batch(&batch).await {
        outcome.expect("C11: is published");
    }
}

#[tokio::test]
async fn c11_without_scripts_exact_publishing_names_what_is_missing() {
    let (mut world, _lives) = World::living(&["orders:0"]).await;
    let mut words = command_on("README.md");
    words.push("-evalsha".to_owned());
    let producer = allowed_by_words(&mut world, &words).await;
    let error = producer
        .publish_exact(&record(1, "k"))
        .await
        .expect_err("C11: scripts are not allowed");
    assert!(
        matches!(&error, PublishError::Refused { code, message } if code == "NOPERM" && message.contains("evalsha")),
        "{error:?}"
    );
    assert!(!error.is_retryable() && !error.may_have_been_added());
    assert_eq!(producer.counters().repeats, 0);
}
