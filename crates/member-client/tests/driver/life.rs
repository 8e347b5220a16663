//! Shards whose lives are told apart, as a provisioning coordinator leaves them, and looks at what is recorded of them. No
//! assertions about the product here.

use redis::aio::MultiplexedConnection;
use stream_lifecycle::{
    Base, Creation, Generation, GroupName, Handle, Incarnation, Naming, RedisLink, ShardRef,
};

use crate::scene::{GROUP, Scene, key};

pub(crate) type Life = Handle<MultiplexedConnection>;

fn creation(generation: u64) -> Creation {
    Creation::new(Incarnation::from(u128::from(generation)))
        .naming(Naming::Flat)
        .groups([group()])
}

pub(crate) fn group() -> GroupName {
    GroupName::new(GROUP).unwrap()
}

/// The first life of a shard, over any connection.
pub(crate) async fn first_life<L: RedisLink>(link: L, shard: u32) -> Handle<L> {
    let shard = ShardRef::new(link, Base::new(key(shard)).unwrap());
    shard.create(&creation(1)).await.unwrap()
}

impl Scene {
    /// Shards in their first life, of which the coordinator speaks.
    pub(crate) async fn alive(shards: u32) -> (Self, Vec<Life>) {
        let scene = Self::new(0).await;
        let mut lives = Vec::new();
        for shard in 0..shards {
            lives.push(scene.be_born(shard).await);
            scene.coordinator.tell(shard, 1);
        }
        (scene, lives)
    }

    pub(crate) async fn shard(&self, shard: u32) -> ShardRef<MultiplexedConnection> {
        ShardRef::new(self.connection().await, Base::new(key(shard)).unwrap())
    }

    /// The first life of a shard; nothing is said to the coordinator.
    pub(crate) async fn be_born(&self, shard: u32) -> Life {
        first_life(self.connection().await, shard).await
    }

    /// The life after this one, which was destroyed.
    pub(crate) async fn be_reborn(&self, shard: u32, after: u64) -> Life {
        let shard = self.shard(shard).await;
        let after = Generation::new(after).unwrap();
        let next = creation(after.next().get());
        shard.recreate(after, &next).await.unwrap()
    }

    pub(crate) async fn query<T: redis::FromRedisValue>(&self, words: &[&str]) -> T {
        let mut connection = self.connection().await;
        let mut command = redis::cmd(words[0]);
        command
            .arg(&words[1..])
            .query_async(&mut connection)
            .await
            .unwrap()
    }

    /// The dead letters of a shard, each as its fields.
    pub(crate) async fn dead_letters(&self, shard: u32) -> Vec<Vec<(String, String)>> {
        let key = format!("{{orders:{shard}}}:dlq:{GROUP}");
        let rows: Vec<(String, Vec<(String, String)>)> =
            self.query(&["XRANGE", &key, "-", "+"]).await;
        rows.into_iter().map(|(_, fields)| fields).collect()
    }
}

/// The value of a field.
pub(crate) fn field<'a>(fields: &'a [(String, String)], name: &str) -> &'a str {
    let found = fields.iter().find(|(known, _)| known == name);
    found.map_or("", |(_, value)| value)
}
