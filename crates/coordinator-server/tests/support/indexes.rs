//! What indexes hold in Redis, and who serves the list of groups.

use std::time::Duration;

use protocol::{GroupList, ListedFrom};
use redis::aio::MultiplexedConnection;
use testkit::wait_until_async;

use super::Server;
use super::redis::ask;

/// For how long is waited for what has to come.
pub const PATIENCE: Duration = Duration::from_secs(20);

pub async fn keys(connection: &mut MultiplexedConnection, pattern: &str) -> Vec<String> {
    ask(connection, &["KEYS", pattern]).await
}

pub async fn forget(connection: &mut MultiplexedConnection, pattern: &str) {
    for key in keys(connection, pattern).await {
        ask::<i64>(connection, &["DEL", &key]).await;
    }
}

pub async fn list(server: &Server, query: &str) -> GroupList {
    let path = format!("/coord/v1/monitoring/groups{query}");
    let request = server.request("GET", &path);
    let answer = request.basic_auth("admin", Some("admin")).send().await;
    let answer = answer.unwrap();
    assert_eq!(answer.status(), 200, "{path}");
    answer.json().await.unwrap()
}

pub async fn until_indexed(server: &Server) {
    let indexed = || async { list(server, "").await.served_by == Some(ListedFrom::Index) };
    wait_until_async(PATIENCE, indexed).await.unwrap();
}
