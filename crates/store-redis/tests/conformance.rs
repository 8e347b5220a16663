//! The conformance suite on a real Redis, one server for each case, and on a real cluster.
#![allow(clippy::unwrap_used)]

mod support;

use support::RedisWorld;

store::conformance!(RedisWorld::single());

/// The nodes take long to find each other, so that all cases share one cluster.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_case_holds_in_a_cluster_of_three_nodes() {
    let cluster = testkit::RedisCluster::start(3).unwrap();
    store::conformance_in_one!(RedisWorld::part_of(&cluster));
}
