//! Redis Cluster (C13): shards of different slots, slots that move, nodes that go.

use std::time::Duration;

use coordinator_core::routing::redis_slot;
use producer_client::{Producer, ProducerBuilder, PublishError, Record};
use redis::Commands;
use testkit::{RedisCluster, RedisServer, wait_until_async};

use crate::coordinator::{Answer, Coordinator, routing};
use crate::world::{LIMIT, numbered, record};

pub(crate) const SIX: [&str; 6] = [
    "orders:0", "orders:1", "orders:2", "orders:3", "orders:4", "orders:5",
];

pub(crate) struct Clustered {
    pub(crate) cluster: RedisCluster,
    pub(crate) coordinator: Coordinator,
}

impl Clustered {
    pub(crate) async fn start() -> Self {
        let cluster = RedisCluster::start(3).expect("a cluster");
        let coordinator = Coordinator::start(Answer::Routing(routing(1, &SIX))).await;
        let clustered = Self {
            cluster,
            coordinator,
        };
        for stream in SIX {
            let node = clustered.owner(stream);
            let mut connection = node.client().get_connection().expect("connects");
            let made: () = connection
                .xgroup_create_mkstream(stream, "orders", "0")
                .expect("is made");
            made
        }
        clustered
    }

    /// The node that served the stream's slot when the cluster was made.
    fn owner(&self, stream: &str) -> &RedisServer {
        &self.cluster.nodes()[self.owner_index(stream)]
    }

    pub(crate) fn owner_index(&self, stream: &str) -> usize {
        usize::from(redis_slot(stream.as_bytes()).get()) * self.cluster.nodes().len() / 16_384
    }

    fn builder(&self, urls: Vec<String>) -> ProducerBuilder {
        Producer::builder(self.coordinator.client(), "orders", urls)
            .refresh_interval(Duration::from_secs(600))
            .routing_lease(Duration::from_secs(3_600))
            .connect_timeout(Duration::from_millis(500))
    }

    pub(crate) fn producer(&self) -> Producer {
        self.builder(self.cluster.urls())
            .build()
            .expect("settings that work")
    }

    /// Moves the stream and its slot to another node; with `half`, only the stream: the slot is then still on its way.
    fn migrate(&self, stream: &str, half: bool) -> usize {
        let moving = self.begin_move(stream);
        moving.carry(&[stream.to_owned()]);
        if !half {
            moving.end();
        }
        moving.to
    }

    /// Lets the slot of the stream be on its way to another node, with nothing moved yet.
    pub(crate) fn begin_move(&self, stream: &str) -> Move<'_> {
        let from = self.owner_index(stream);
        let moving = Move {
            world: self,
            from,
            to: (from + 1) % self.cluster.nodes().len(),
            slot: redis_slot(stream.as_bytes()).get(),
        };
        moving.set(moving.to, "IMPORTING", &moving.id(from));
        moving.set(from, "MIGRATING", &moving.id(moving.to));
        moving
    }

    pub(crate) fn node(&self, index: usize) -> &RedisServer {
        &self.cluster.nodes()[index]
    }

    pub(crate) fn length(&self, stream: &str, node: usize) -> usize {
        let mut connection = self.node(node).client().get_connection().expect("connects");
        let asking: String = redis::cmd("ASKING")
            .query(&mut connection)
            .expect("answers");
        assert_eq!(asking, "OK");
        redis::cmd("XLEN")
            .arg(stream)
            .query(&mut connection)
            .expect("answers")
    }
}

/// A slot on its way.
pub(crate) struct Move<'a> {
    world: &'a Clustered,
    from: usize,
    pub(crate) to: usize,
    slot: u16,
}

impl Move<'_> {
    pub(crate) fn carry(&self, keys: &[String]) {
        for key in keys {
            let mut migrate = redis::cmd("MIGRATE");
            migrate
                .arg("127.0.0.1")
                .arg(self.world.node(self.to).port());
            migrate.arg(key).arg(0).arg(5_000);
            let moved: String = run(self.world.node(self.from), &mut migrate);
            assert_eq!(moved, "OK", "{key}");
        }
    }

    pub(crate) fn end(&self) {
        let id = self.id(self.to);
        self.set(self.to, "NODE", &id);
        self.set(self.from, "NODE", &id);
    }

    fn id(&self, node: usize) -> String {
        run(self.world.node(node), redis::cmd("CLUSTER").arg("MYID"))
    }

    fn set(&self, node: usize, state: &str, id: &str) {
        let mut command = redis::cmd("CLUSTER");
        command.arg("SETSLOT").arg(self.slot).arg(state).arg(id);
        let done: String = run(self.world.node(node), &mut command);
        assert_eq!(done, "OK");
    }
}

pub(crate) fn run<T: redis::FromRedisValue>(node: &RedisServer, command: &mut redis::Cmd) -> T {
    let mut connection = node.client().get_connection().expect("connects");
    command.query(&mut connection).expect("answers")
}

pub(crate) fn keys_of(stream: &str) -> Vec<String> {
    let times = producer_client::RoutingTimes {
        refresh_interval: LIMIT,
        lease: LIMIT,
    };
    let now = std::time::Instant::now();
    let table =
        producer_client::RoutingTable::new(routing(1, &SIX), ("orders", "orders"), now, times)
            .expect("a usable answer");
    (0..1_000)
        .map(|n| format!("key-{n}"))
        .filter(|key| table.route(key.as_bytes()).expect("shards").stream_key == stream)
        .take(5)
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn shards_on_all_nodes_are_written() {
    let world = Clustered::start().await;
    let producer = world.producer();
    for n in 0..60 {
        producer
            .publish(format!("k{n}"), [("n", "1")])
            .await
            .expect("C13: is published");
    }
    for outcome in producer.publish_batch(&numbered(600, 60)).await {
        outcome.expect("C13: is published");
    }
    let lengths = SIX.map(|stream| world.length(stream, world.owner_index(stream)));
    assert_eq!(lengths.iter().sum::<usize>(), 660);
    assert!(lengths.iter().all(|length| *length > 0), "{lengths:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_node_is_enough_to_find_the_others() {
    let world = Clustered::start().await;
    let one = vec![world.node(1).url()];
    let producer = world.builder(one).build().expect("settings that work");
    for outcome in producer.publish_batch(&numbered(60, 60)).await {
        outcome.expect("C13: is published");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slot_that_moved_is_followed() {
    let world = Clustered::start().await;
    let producer = world.producer();
    let keys = keys_of("orders:0");
    producer
        .publish(&keys[0], [("n", "1")])
        .await
        .expect("is published");
    let to = world.migrate("orders:0", false);
    producer
        .publish(&keys[0], [("n", "2")])
        .await
        .expect("C13: is published at the new node");
    let batch: Vec<Record> = (0..10).map(|n| record(n, &keys[0])).collect();
    for outcome in producer.publish_batch(&batch).await {
        outcome.expect("C13: is published at the new node");
    }
    assert_eq!(world.length("orders:0", to), 12);
    assert_eq!(
        producer.counters().stale_routes,
        0,
        "C13: a slot that moved is no stale route"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slot_on_its_way_is_asked_for() {
    let world = Clustered::start().await;
    let producer = world.producer();
    let keys = keys_of("orders:0");
    producer
        .publish(&keys[0], [("n", "1")])
        .await
        .expect("is published");
    let to = world.migrate("orders:0", true);
    producer
        .publish(&keys[0], [("n", "2")])
        .await
        .expect("C13: is published where the stream is");
    let batch: Vec<Record> = (0..10).map(|n| record(n, &keys[0])).collect();
    for outcome in producer.publish_batch(&batch).await {
        outcome.expect("C13: is published where the stream is");
    }
    assert_eq!(world.length("orders:0", to), 12);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_dead_node_concerns_its_shards_alone() {
    let mut world = Clustered::start().await;
    for node in 0..3 {
        let set: String = run(
            world.node(node),
            redis::cmd("CONFIG").arg(&["SET", "cluster-require-full-coverage", "no"]),
        );
        assert_eq!(set, "OK");
    }
    let producer = world.producer();
    let (here, there) = two_streams_of_different_nodes(&world);
    let (key_here, key_there) = (keys_of(here).remove(0), keys_of(there).remove(0));
    producer
        .publish(&key_here, [("n", "1")])
        .await
        .expect("is published");
    producer
        .publish(&key_there, [("n", "1")])
        .await
        .expect("is published");
    let dead = world.owner_index(there);
    world.cluster.node_mut(dead).kill();
    wait_until_async(LIMIT, || async {
        let error = producer
            .publish(&key_there, [("n", "2")])
            .await
            .expect_err("its node is dead");
        matches!(
            error,
            PublishError::Unreachable { .. } | PublishError::Busy { .. }
        )
    })
    .await
    .expect("C13: is told as not added");
    producer
        .publish(&key_here, [("n", "2")])
        .await
        .expect("C13: the others go on");
}

fn two_streams_of_different_nodes(world: &Clustered) -> (&'static str, &'static str) {
    let here = SIX[0];
    let there = SIX
        .iter()
        .find(|stream| world.owner_index(stream) != world.owner_index(here));
    (here, there.expect("six shards are on more than one node"))
}
