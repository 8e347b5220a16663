//! Opening stores: what is refused at once, and what the driver needs from the process.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use store::{GroupStore, StoreError};
use store_redis::{ConfigError, ConnectError, RedisConfig, RedisStore};
use support::server;
use testkit::RedisCluster;

#[tokio::test]
async fn a_configuration_that_can_not_work_is_refused() {
    let refused = RedisStore::connect(RedisConfig::new(["mysql://somewhere"])).await;
    assert!(
        matches!(
            refused,
            Err(ConnectError::Config(ConfigError::BadUrl { .. }))
        ),
        "{refused:?}"
    );
    let urls = ["redis://:one@127.0.0.1:1/", "redis://:two@127.0.0.1:2/"];
    let refused = RedisStore::connect(RedisConfig::new(urls)).await;
    assert!(
        matches!(
            refused,
            Err(ConnectError::Config(ConfigError::BadCluster { .. }))
        ),
        "{refused:?}"
    );
}

/// A server that does not speak TLS fails as a broken connection, and not for want of a TLS implementation.
#[tokio::test]
async fn tls_is_at_hand() {
    let server = server();
    let config = RedisConfig::new([format!("rediss://{}/", server.address())])
        .with_connect_timeout(Duration::from_millis(300));
    let store = RedisStore::connect(config).await.unwrap();
    let outcome = store.check_ready().await;
    assert!(
        matches!(&outcome, Err(StoreError::Unavailable { .. })),
        "{outcome:?}"
    );
    assert!(
        !format!("{outcome:?}").to_lowercase().contains("provider"),
        "{outcome:?}"
    );
}

/// One node of a cluster is not enough: the rest of the keys would be elsewhere.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_url_is_not_taken_for_a_cluster_and_several_not_for_a_single_server() {
    let cluster = RedisCluster::start(3).unwrap();
    let refused = RedisStore::connect(RedisConfig::new([cluster.urls().remove(0)])).await;
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("cluster"), "{message}");

    let (one, two) = (server(), server());
    let refused = RedisStore::connect(RedisConfig::new([one.url(), two.url()])).await;
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("cluster"), "{message}");
}
