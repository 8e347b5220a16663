//! The permissions that the page gives to a coordinator are enough for a stream's whole life, and the page's command is what is run here.
#![allow(clippy::unwrap_used)]

mod support;

use std::path::Path;

use protocol::{
    CreateGroupRequest, ListedFrom, MessageQuery, MigrationState, PageDirection, ScaleRequest,
};
use support::{Daemon, PATIENCE};
use testkit::{RedisServer, wait_until_async};

/// The page's command for the user `coordinator`, as words.
fn command_on_the_page() -> Vec<String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/operations.md");
    let page = std::fs::read_to_string(page).unwrap();
    let mut lines = page
        .lines()
        .skip_while(|line| !line.starts_with("ACL SETUSER coordinator "));
    let first = lines.next().expect("the page has the command");
    let rest = lines.take_while(|line| line.starts_with(' '));
    let words = std::iter::once(first).chain(rest);
    words
        .flat_map(str::split_whitespace)
        .map(str::to_owned)
        .collect()
}

fn to(target: u32) -> ScaleRequest {
    ScaleRequest {
        target_shard_count: target,
        requested_by: "test".to_owned(),
        reason: "to see".to_owned(),
        deprecated_after: None,
    }
}

#[tokio::test]
async fn c11_the_permissions_on_the_page_are_enough_for_a_coordinator() {
    let redis = RedisServer::builder().start().unwrap();
    let mut connection = redis.connection().await.unwrap();
    let words = command_on_the_page();
    redis::cmd(&words[0])
        .arg(&words[1..])
        .exec_async(&mut connection)
        .await
        .unwrap();
    let url = format!("redis://coordinator:secret@{}/", redis.address());
    let daemon = Daemon::start(&["--store", &url, "--routing-lease", "1ms"]).await;
    daemon.create("orders", 2).await;
    let billing = CreateGroupRequest {
        initial_shard_count: None,
        requested_by: "test".to_owned(),
        reason: None,
    };
    daemon
        .client
        .create_group("orders", "billing", &billing)
        .await
        .unwrap();
    for target in [4, 1, 2] {
        daemon
            .client
            .scale_stream("orders", &to(target))
            .await
            .unwrap();
        let is_over = || async {
            let known = daemon.client.migrations("orders", "billing").await.unwrap();
            known.migrations[0].state == MigrationState::Deprecated
        };
        wait_until_async(PATIENCE, is_over).await.unwrap();
    }
    let offsets = daemon.client.offsets("orders", "billing").await.unwrap();
    let problems: Vec<_> = offsets.shards.iter().map(|shard| &shard.problem).collect();
    assert_eq!(problems, [&None, &None]);
    let generations: Vec<_> = offsets
        .shards
        .iter()
        .map(|shard| shard.generation)
        .collect();
    assert_eq!(generations, [Some(1), Some(2)]);
    for direction in [PageDirection::Forward, PageDirection::Backward] {
        let query = MessageQuery {
            direction,
            cursor: None,
            limit: 5,
        };
        let page = daemon.client.messages("orders", "billing", 1, &query).await;
        assert_eq!(page.unwrap().records, []);
    }
    let is_indexed = || async {
        let list = daemon.client.groups().await.unwrap();
        list.served_by == Some(ListedFrom::Index)
    };
    wait_until_async(PATIENCE, is_indexed).await.unwrap();
    let log: Vec<Vec<redis::Value>> = redis::cmd("ACL")
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
