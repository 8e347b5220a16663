//! Shards spread over the nodes of a Redis Cluster.

use member_client::{MemberClient, RunningClient};
use testkit::{RedisCluster, wait_until_async};

use crate::coordinator::Coordinator;
use crate::scene::{GROUP, LIMIT, Log, create_group, key, publish};

fn start_member(cluster: &RedisCluster, coordinator: &Coordinator, log: &Log) -> RunningClient {
    MemberClient::builder(log.clone())
        .coordinator(coordinator.client())
        .redis_urls(cluster.urls())
        .stream_prefix("orders")
        .consumer_group(GROUP)
        .member_base("a")
        .build()
        .unwrap()
        .start()
}

/// C13: one read per shard, each at the node that has it; a node that dies and comes back is found again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shards_on_different_nodes_are_read_where_they_are() {
    let mut cluster = RedisCluster::start(3).unwrap();
    let client = redis::cluster::ClusterClient::new(cluster.urls()).unwrap();
    let mut connection = client.get_async_connection().await.unwrap();
    let (coordinator, log) = (Coordinator::start().await, Log::new());
    for shard in 0..6 {
        create_group(&mut connection, shard).await;
        publish(&mut connection, shard, "x").await;
    }
    coordinator.assign("a-m0", &[0, 1, 2, 3, 4, 5]);
    let running = start_member(&cluster, &coordinator, &log);
    log.wait_for(6).await;
    assert_eq!(running.metrics().group_repairs, 0);
    // The data of the node is gone with it: the owner is asked for groups again, which the test provides.
    cluster.node_mut(0).restart().unwrap();
    let answering = wait_until_async(LIMIT, || {
        let mut connection = connection.clone();
        async move {
            redis::cmd("XLEN")
                .arg(key(0))
                .exec_async(&mut connection)
                .await
                .is_ok()
        }
    });
    answering.await.unwrap();
    for shard in 0..6 {
        publish(&mut connection, shard, "y").await;
    }
    log.wait_for(12).await;
}

/// C13 and C36: lives are told apart on every node, and each shard's owner works where its slot is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shards_whose_lives_are_told_apart_are_owned_on_every_node() {
    let cluster = RedisCluster::start(3).unwrap();
    let client = redis::cluster::ClusterClient::new(cluster.urls()).unwrap();
    let mut connection = client.get_async_connection().await.unwrap();
    let (coordinator, log) = (Coordinator::start().await, Log::rejecting("poison"));
    for shard in 0..6 {
        crate::life::first_life(connection.clone(), shard).await;
        coordinator.tell(shard, 1);
        publish(&mut connection, shard, "x").await;
        publish(&mut connection, shard, "poison").await;
        publish(&mut connection, shard, "y").await;
    }
    coordinator.assign("a-m0", &[0, 1, 2, 3, 4, 5]);
    let running = start_member(&cluster, &coordinator, &log);
    log.wait_for(12).await;
    testkit::wait_until(LIMIT, || running.metrics().dead_letters == 6)
        .await
        .unwrap();
    testkit::wait_until(LIMIT, || running.metrics().records_acked == 12)
        .await
        .unwrap();
    let metrics = running.metrics();
    assert_eq!((metrics.reconnects, metrics.shards_superseded), (0, 0));
}

/// C13: a slot that moves while its reader waits is followed to the node that has it now; no group is made anew, and nothing is lost or read twice.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slot_that_moves_under_a_waiting_reader_is_followed_c13() {
    let cluster = RedisCluster::start(3).unwrap();
    let client = redis::cluster::ClusterClient::new(cluster.urls()).unwrap();
    let mut connection = client.get_async_connection().await.unwrap();
    let (coordinator, log) = (Coordinator::start().await, Log::new());
    for shard in 0..3 {
        crate::life::first_life(connection.clone(), shard).await;
        coordinator.tell(shard, 1);
        publish(&mut connection, shard, "x").await;
    }
    coordinator.assign("a-m0", &[0, 1, 2]);
    let running = start_member(&cluster, &coordinator, &log);
    log.wait_for(3).await;
    for round in 0..3 {
        let to = cluster.move_slot_of(&key(0)).unwrap();
        let there: u64 = redis::cmd("XLEN")
            .arg(key(0))
            .query_async(&mut cluster.nodes()[to].connection().await.unwrap())
            .await
            .unwrap();
        assert_eq!(there, 1 + round, "it is at node {to} now");
        for shard in 0..3 {
            publish(&mut connection, shard, "y").await;
        }
        log.wait_for(3 + 3 * (usize::try_from(round).unwrap() + 1))
            .await;
    }
    let metrics = running.metrics();
    assert_eq!((metrics.group_repairs, metrics.streams_lost), (0, 0));
    assert_eq!(metrics.shards_superseded, 0);
    testkit::wait_until(LIMIT, || running.metrics().records_acked == 12)
        .await
        .unwrap();
    assert_eq!(running.metrics().records_handled, 12);
}
