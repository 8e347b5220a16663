//! Shards with a lifecycle, made, sealed and destroyed as their owner does it. No assertion about the producer is made here.

use producer_client::{Record, RoutingTable, RoutingTimes};
use redis::aio::MultiplexedConnection;
use stream_lifecycle::{
    Base, Creation, GroupName, Handle, Incarnation, Naming, ShardAdmin, ShardRef,
};

use crate::coordinator::{Answer, routing_in};
use crate::world::{LIMIT, World};

pub(crate) type Life = Handle<MultiplexedConnection>;

/// How the coordinator makes shards: under their flat names, with the group of the stream.
pub(crate) fn creation() -> Creation {
    Creation::new(Incarnation::random())
        .naming(Naming::Flat)
        .groups([GroupName::new("orders").expect("a name")])
}

impl World {
    /// Redis with these shards in their first generation, and a coordinator that tells so.
    pub(crate) async fn living(stream_keys: &[&str]) -> (Self, Vec<Life>) {
        let world = Self::of(&[]).await;
        let mut lives = Vec::new();
        for key in stream_keys {
            lives.push(world.bear(key).await);
        }
        let shards: Vec<_> = stream_keys.iter().map(|key| (*key, Some(1))).collect();
        world.routes_in(1, &shards);
        (world, lives)
    }

    pub(crate) fn routes_in(&self, metadata_version: u64, shards: &[(&str, Option<u64>)]) {
        self.coordinator
            .answer(Answer::Routing(routing_in(metadata_version, shards)));
    }

    pub(crate) fn shard(&self, key: &str) -> ShardRef<MultiplexedConnection> {
        ShardRef::new(self.connection.clone(), Base::new(key).expect("a base"))
    }

    /// The first generation.
    pub(crate) async fn bear(&self, key: &str) -> Life {
        let born = self.shard(key).create(&creation()).await;
        born.expect("is made")
    }

    /// The next generation after the one of `life`, which ends.
    pub(crate) async fn renew(&self, key: &str, life: &Life) -> Life {
        life.destroy().await.expect("is destroyed");
        let shard = self.shard(key);
        let reborn = shard
            .recreate(life.identity().generation, &creation())
            .await;
        reborn.expect("is made anew")
    }

    pub(crate) async fn flush(&mut self) {
        self.run(&mut redis::cmd("FLUSHALL")).await;
    }
}

/// A record whose key goes to `shard` out of `count`.
pub(crate) fn record_for(shard: u32, count: u32, n: u64) -> Record {
    let keys: Vec<String> = (0..count).map(|index| format!("orders:{index}")).collect();
    let shards: Vec<_> = keys.iter().map(|key| (key.as_str(), None)).collect();
    let times = RoutingTimes {
        refresh_interval: LIMIT,
        lease: LIMIT,
    };
    let now = std::time::Instant::now();
    let table = RoutingTable::new(routing_in(1, &shards), ("orders", "orders"), now, times)
        .expect("a usable answer");
    let key = (0..1_000)
        .map(|n| format!("k{n}"))
        .find(|key| {
            table
                .route(key.as_bytes())
                .expect("shards")
                .shard
                .shard_index
                == shard
        })
        .expect("every shard has keys");
    crate::world::record(n, &key)
}
