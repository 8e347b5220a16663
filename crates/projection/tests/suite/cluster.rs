//! The index on a cluster of three nodes: namespaces in different slots, and a slot that moves. What is answered by one node is
//! tested elsewhere.

use std::sync::Arc;
use std::time::Duration;

use projection::{ProjectionName, RedisIndex, ServedBy};
use redis::cluster::ClusterClient;
use testkit::RedisCluster;

use crate::source::item;
use crate::world::{World, calm, first, key, pairs, until_indexed};

#[tokio::test]
async fn namespaces_live_on_all_nodes_and_move() {
    let cluster = RedisCluster::start(3).unwrap();
    let client = ClusterClient::builder(cluster.urls())
        .response_timeout(Duration::from_secs(60))
        .retries(5)
        .build()
        .unwrap();
    let link = client.get_async_connection().await.unwrap();
    let name = ProjectionName::new("test").unwrap();
    let mut world = World::in_memory();
    world.index = Arc::new(RedisIndex::new(name, link));
    let projection = world.projection(calm());
    for number in 0..12 {
        let name = format!("n{number}");
        world.row(&item(&name, "x", 1, 1));
        world.row(&item(&name, "y", 2, 1));
        world.rebuild(&name).await;
        let mut build = world.begin(&name).await;
        world
            .load(&mut build, &world.rows.all(&name))
            .await
            .unwrap();
        world.upsert(&item(&name, "x", 3, 2)).await;
        world.remove(&name, "y", 1).await;
        world.index.commit(build).await.unwrap();
        assert_eq!(world.held(&name).await, pairs(&[("x", 2)]));
    }
    for node in cluster.nodes() {
        let mut connection = node.connection().await.unwrap();
        let count: usize = redis::cmd("DBSIZE")
            .query_async(&mut connection)
            .await
            .unwrap();
        assert!(count > 0, "the namespaces are spread over the nodes");
    }
    cluster.move_slot_of(&key("n0", "z")).unwrap();
    // Whoever answers until the client has found the slot: the answer is the same.
    world.row(&item("n0", "x", 3, 2));
    world.rows.delete("n0", "y");
    for _ in 0..3 {
        assert_eq!(
            first(&projection, "n0", 5).await.items,
            world.rows.all("n0")
        );
    }
    until_indexed(&projection, "n0").await;
    assert_eq!(first(&projection, "n0", 5).await.served_by, ServedBy::Index);
}
