//! A Sentinel that names the master: the handle follows it through a failover by itself.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::{Client, RedisError, RedisResult};
use stream_lifecycle::{
    LifecycleError, Published, Reconnecting, ShardInspect, ShardProducer, ShardRef,
};
use testkit::{RedisServer, free_port, wait_until_async};

use crate::support::{base, creation, fields, once, try_query};

const PATIENCE: Duration = Duration::from_secs(40);

/// A Sentinel that watches one master; ended with the test.
struct Sentinel {
    process: Child,
    client: Client,
}

impl Sentinel {
    fn start(master: &RedisServer) -> Self {
        let port = free_port();
        let path = master.folder().join("sentinel.conf");
        let lines = [
            format!("port {port}"),
            "bind 127.0.0.1".to_owned(),
            format!("sentinel monitor shards 127.0.0.1 {} 1", master.port()),
            "sentinel down-after-milliseconds shards 500".to_owned(),
            "sentinel failover-timeout shards 2000".to_owned(),
        ];
        fs::write(&path, lines.join("\n")).unwrap();
        let binary =
            std::env::var("REDIS_SERVER_BIN").unwrap_or_else(|_| "redis-server".to_owned());
        let process = Command::new(binary)
            .arg(&path)
            .arg("--sentinel")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let client = Client::open(format!("redis://127.0.0.1:{port}/")).unwrap();
        Self { process, client }
    }
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        // Both can only fail if it has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

async fn master(sentinel: Client) -> RedisResult<MultiplexedConnection> {
    let link = sentinel.get_multiplexed_async_connection().await?;
    let words = ["SENTINEL", "GET-MASTER-ADDR-BY-NAME", "shards"];
    let (host, port): (String, u16) = try_query(&link, &words).await?;
    let client = Client::open(format!("redis://{host}:{port}/"))?;
    client.get_multiplexed_async_connection().await
}

#[tokio::test]
async fn a_sentinel_is_asked_for_the_new_master() {
    let mut first = RedisServer::builder().start().unwrap();
    let second = RedisServer::builder()
        .replica_of(first.port())
        .start()
        .unwrap();
    let sentinel = Sentinel::start(&first);
    let watching = sentinel.client.clone();
    let knows_the_replica = wait_until_async(PATIENCE, async || {
        let Ok(link) = watching.get_multiplexed_async_connection().await else {
            return false;
        };
        let replicas: Result<Vec<redis::Value>, RedisError> =
            try_query(&link, &["SENTINEL", "REPLICAS", "shards"]).await;
        replicas.is_ok_and(|replicas| replicas.len() == 1)
    });
    knows_the_replica.await.unwrap();
    let client = sentinel.client.clone();
    let link = Reconnecting::new(move || master(client.clone()));
    let handle = ShardRef::new(link, base())
        .create(&creation(1))
        .await
        .unwrap();
    let added = handle.add_once(&once("k"), &fields("a")).await.unwrap();
    let copy = second.connection().await.unwrap();
    let copied = wait_until_async(PATIENCE, async || {
        try_query::<u64>(&copy, &["XLEN", "orders:3"])
            .await
            .is_ok_and(|length| length == 1)
    });
    copied.await.unwrap();
    first.kill();
    let followed = wait_until_async(PATIENCE, async || {
        match handle.add_once(&once("k"), &fields("a")).await {
            Ok(published) => published == Published::Duplicate(added.id()),
            Err(LifecycleError::Ambiguous(_)) => false,
            Err(error) => {
                assert!(error.is_retryable(), "{error:?}");
                false
            }
        }
    });
    followed.await.unwrap();
    assert_eq!(handle.snapshot(10).await.unwrap().len(), 1);
    handle.publish(&fields("b")).await.unwrap();
    // The Sentinel ended every connection when it made the replica the master.
    let copy = second.connection().await.unwrap();
    let length: u64 = try_query(&copy, &["XLEN", "orders:3"]).await.unwrap();
    assert_eq!(length, 2);
}
