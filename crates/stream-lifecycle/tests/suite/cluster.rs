//! A cluster of three nodes: shards in different slots, and a slot that is on its way.

use redis::cluster::ClusterClient;
use redis::cluster_async::ClusterConnection;
use stream_lifecycle::{
    Base, Draining, Handle, LifecycleError, Published, Rejection, ShardAdmin, ShardConsumer,
    ShardInspect, ShardProducer, ShardRedelivery, ShardRef, StreamId,
};
use testkit::{RedisCluster, RedisServer};

use crate::support::{
    connect as connect_to, consumer, creation, fields, group, once, query, registration,
};

async fn connect(cluster: &RedisCluster) -> ClusterConnection {
    let client = ClusterClient::builder(cluster.urls())
        .response_timeout(std::time::Duration::from_secs(60))
        .retries(3)
        .min_retry_wait(1)
        .max_retry_wait(5)
        .build()
        .unwrap();
    client.get_async_connection().await.unwrap()
}

async fn slot_of(node: &RedisServer, key: &str) -> u64 {
    let link = connect_to(node).await;
    query(&link, &["CLUSTER", "KEYSLOT", key]).await
}

#[tokio::test]
async fn shards_live_on_all_nodes_and_pipelines_work() {
    let cluster = RedisCluster::start(3).unwrap();
    let link = connect(&cluster).await;
    let mut owners = std::collections::BTreeSet::new();
    for number in 0..12 {
        let base = Base::of_shard("orders", number).unwrap();
        owners.insert(slot_of(&cluster.nodes()[0], base.as_str()).await * 3 / 16_384);
        let shard = ShardRef::new(link.clone(), base);
        let handle = shard.create(&creation(1)).await.unwrap();
        let entries: Vec<_> = (0..20).map(|number| fields(&number.to_string())).collect();
        let ids = handle.publish_all(&entries).await;
        assert!(ids.iter().all(Result::is_ok), "{ids:?}");
        let repeated = [(once("k"), fields("a")), (once("k"), fields("a"))];
        let outcomes = handle.add_all_once(&repeated).await;
        assert!(
            matches!(outcomes[1], Ok(Published::Duplicate(_))),
            "{outcomes:?}"
        );
        let reading = stream_lifecycle::Reading::new(100);
        let batch = handle
            .read(&group("g"), &consumer("c"), &reading)
            .await
            .unwrap();
        assert_eq!(batch.records.len(), 21);
        let ids: Vec<StreamId> = batch
            .records
            .iter()
            .map(|record| record.entry().id)
            .collect();
        let who = registration("c", 1, 1);
        handle.register(&who).await.unwrap();
        let rejection = Rejection::new("x");
        let told = handle.dead_letter(&who, &ids[..1], &rejection).await;
        assert_eq!(told.unwrap().moved.len(), 1);
        let told = handle.ack_and_delete(&who, &ids[1..2]).await.unwrap();
        assert_eq!((told.acknowledged, told.deleted), (1, 1));
        let acked = handle.ack(&group("g"), &ids).await.unwrap();
        assert_eq!((acked.count, acked.unknown), (19, 2));
        handle.destroy_if_drained(&Draining::new()).await.unwrap();
        let next = shard
            .recreate(handle.generation(), &creation(2))
            .await
            .unwrap();
        next.publish(&fields("a")).await.unwrap();
        assert!(handle.publish(&fields("a")).await.unwrap_err().is_stale());
    }
    assert_eq!(owners.len(), 3);
}

/// Moves keys of a slot one at a time.
struct Move<'a> {
    from: &'a RedisServer,
    to: &'a RedisServer,
    slot: String,
}

impl Move<'_> {
    async fn set(&self, node: &RedisServer, state: &str, other: &RedisServer) {
        let id: String = query(&connect_to(other).await, &["CLUSTER", "MYID"]).await;
        let link = connect_to(node).await;
        let () = query(&link, &["CLUSTER", "SETSLOT", &self.slot, state, &id]).await;
    }

    async fn key(&self, key: &str) {
        let link = connect_to(self.from).await;
        let port = self.to.port().to_string();
        let () = query(&link, &["MIGRATE", "127.0.0.1", &port, key, "0", "5000"]).await;
    }
}

/// What an operation did while the slot was on its way: it worked, or it did not begin.
fn worked<T>(outcome: Result<T, LifecycleError>) -> bool {
    match outcome {
        Ok(_) => true,
        Err(LifecycleError::Busy { code, .. }) => {
            assert!(
                ["TRYAGAIN", "ASK", "MOVED"].contains(&code.as_str()),
                "{code}"
            );
            false
        }
        Err(other) => panic!("{other:?}"),
    }
}

/// All keys are there from the start, so that with a slot half moved a script runs on all of its keys, or not at all.
#[tokio::test]
async fn with_a_slot_half_moved_a_script_runs_or_does_not_begin() {
    let cluster = RedisCluster::start(3).unwrap();
    let link = connect(&cluster).await;
    let base = Base::of_shard("orders", 3).unwrap();
    let slot = slot_of(&cluster.nodes()[0], base.as_str()).await;
    let at = usize::try_from(slot * 3 / 16_384).unwrap();
    let shard = ShardRef::new(link.clone(), base);
    let handle = shard.create(&creation(1)).await.unwrap();
    let nodes = cluster.nodes();
    let moving = Move {
        from: &nodes[at],
        to: &nodes[(at + 1) % 3],
        slot: slot.to_string(),
    };
    moving.set(moving.to, "IMPORTING", moving.from).await;
    moving.set(moving.from, "MIGRATING", moving.to).await;
    let keys = handle.keys().clone();
    let mut added = 0;
    let mut seen = Vec::new();
    for moved in 0..=5 {
        if moved > 0 {
            moving.key(keys.five()[moved - 1]).await;
        }
        let outcomes = every(&handle, moved).await;
        added += usize::from(outcomes[0]) + usize::from(outcomes[1]);
        assert!(
            outcomes.iter().all(|outcome| *outcome == outcomes[0]),
            "{moved}: {outcomes:?}"
        );
        seen.push(outcomes[0]);
    }
    assert_eq!(seen, [true, false, false, false, false, true]);
    moving.set(moving.to, "NODE", moving.to).await;
    moving.set(moving.from, "NODE", moving.to).await;
    let entries = handle.snapshot(100).await.unwrap();
    assert_eq!(entries.len(), added);
    for (moved, began) in seen.into_iter().enumerate() {
        // What did not begin was not recorded; what did, was.
        let key = once(&format!("k{moved}"));
        let again = handle.add_once(&key, &fields("a")).await.unwrap();
        assert_eq!(matches!(again, Published::Duplicate(_)), began, "{moved}");
    }
    assert_eq!(
        handle.status().await.unwrap().stream.unwrap().group_count,
        1
    );
}

async fn every(handle: &Handle<ClusterConnection>, moved: usize) -> [bool; 7] {
    let key = once(&format!("k{moved}"));
    [
        worked(handle.publish(&fields("a")).await),
        worked(handle.add_once(&key, &fields("a")).await),
        worked(handle.ensure_group(&group("g")).await),
        worked(handle.ack(&group("g"), &[StreamId { ms: 1, seq: 0 }]).await),
        worked(handle.status().await),
        worked(handle.unseal().await),
        worked(match handle.destroy_if_drained(&Draining::new()).await {
            Err(LifecycleError::NotDrained { .. }) => Ok(()),
            outcome => outcome.map(drop),
        }),
    ]
}

/// Nothing is created while its slot is on its way: keys that do not exist yet can't be told from keys that have moved.
#[tokio::test]
async fn with_a_slot_on_its_way_a_creation_does_not_begin() {
    let cluster = RedisCluster::start(3).unwrap();
    let link = connect(&cluster).await;
    let base = Base::of_shard("orders", 5).unwrap();
    let slot = slot_of(&cluster.nodes()[0], base.as_str()).await;
    let at = usize::try_from(slot * 3 / 16_384).unwrap();
    let nodes = cluster.nodes();
    let moving = Move {
        from: &nodes[at],
        to: &nodes[(at + 1) % 3],
        slot: slot.to_string(),
    };
    moving.set(moving.to, "IMPORTING", moving.from).await;
    moving.set(moving.from, "MIGRATING", moving.to).await;
    let shard = ShardRef::new(link, base);
    assert!(!worked(shard.create(&creation(1)).await));
    moving.set(moving.to, "NODE", moving.to).await;
    moving.set(moving.from, "NODE", moving.to).await;
    shard.create(&creation(1)).await.unwrap();
}
