//! A server with a shard, and short ways to say what tests say often. No assertion about the product is made here.

use std::collections::BTreeMap;
use std::time::Duration;

use redis::AsyncConnectionConfig;
use redis::aio::MultiplexedConnection;
use stream_lifecycle::{
    Base, ConsumerName, Creation, Fields, Generation, GroupName, Handle, Incarnation, Lease,
    LifecycleError, MemberEpoch, OnceKey, OwnerName, Reading, Registration, Retention,
    ShardConsumer, ShardRecovery, ShardRef, StreamId, Token,
};
use testkit::RedisServer;

pub(crate) type Link = MultiplexedConnection;

/// The shard of most tests.
pub(crate) const BASE: &str = "orders:3";

/// A server and a connection to it.
pub(crate) struct World {
    pub(crate) server: RedisServer,
    pub(crate) link: Link,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(RedisServer::builder().start().unwrap()).await
    }

    pub(crate) async fn with(server: RedisServer) -> Self {
        let link = connect(&server).await;
        Self { server, link }
    }

    /// A connection of its own.
    pub(crate) async fn connect(&self) -> Link {
        connect(&self.server).await
    }

    pub(crate) fn shard(&self) -> ShardRef<Link> {
        self.shard_at(BASE)
    }

    pub(crate) fn shard_at(&self, base: &str) -> ShardRef<Link> {
        ShardRef::new(self.link.clone(), Base::new(base).unwrap())
    }

    /// The first generation, with the group `g`.
    pub(crate) async fn first(&self) -> Handle<Link> {
        self.shard().create(&creation(1)).await.unwrap()
    }

    pub(crate) async fn first_with(&self, retention: Retention) -> Handle<Link> {
        let creation = creation(1).retention(retention);
        self.shard().create(&creation).await.unwrap()
    }

    pub(crate) async fn query<T: redis::FromRedisValue>(&self, words: &[&str]) -> T {
        query(&self.link, words).await
    }

    pub(crate) async fn keys(&self) -> Vec<String> {
        let mut keys: Vec<String> = self.query(&["KEYS", "*"]).await;
        keys.sort();
        keys
    }

    /// Every key with its whole content.
    pub(crate) async fn dump(&self) -> BTreeMap<String, Vec<u8>> {
        let mut dump = BTreeMap::new();
        for key in self.keys().await {
            let content: Vec<u8> = self.query(&["DUMP", &key]).await;
            dump.insert(key, content);
        }
        dump
    }

    pub(crate) async fn now_ms(&self) -> u64 {
        let (seconds, micros): (u64, u64) = self.query(&["TIME"]).await;
        seconds * 1_000 + micros / 1_000
    }

    /// Waits until Redis' clock is past a moment.
    pub(crate) async fn until(&self, at_ms: u64) {
        let passed = testkit::wait_until_async(Duration::from_secs(20), async || {
            self.now_ms().await > at_ms
        });
        passed.await.unwrap();
    }
}

pub(crate) async fn query<T: redis::FromRedisValue>(link: &Link, words: &[&str]) -> T {
    try_query(link, words).await.unwrap()
}

pub(crate) async fn try_query<T: redis::FromRedisValue>(
    link: &Link,
    words: &[&str],
) -> redis::RedisResult<T> {
    let mut command = redis::cmd(words[0]);
    command.arg(&words[1..]);
    command.query_async(&mut link.clone()).await
}

pub(crate) fn creation(incarnation: u128) -> Creation {
    Creation::new(Incarnation::from(incarnation)).groups([group("g")])
}

pub(crate) fn generation(number: u64) -> Generation {
    Generation::new(number).unwrap()
}

pub(crate) fn group(name: &str) -> GroupName {
    GroupName::new(name).unwrap()
}

pub(crate) fn consumer(name: &str) -> ConsumerName {
    ConsumerName::new(name).unwrap()
}

pub(crate) fn owner(name: &str) -> OwnerName {
    OwnerName::new(name).unwrap()
}

pub(crate) fn once(key: &str) -> OnceKey {
    OnceKey::new(key).unwrap()
}

pub(crate) fn fields(value: &str) -> Fields {
    Fields::new([("v", value)]).unwrap()
}

pub(crate) fn registration(name: &str, token: u64, epoch: u64) -> Registration {
    let (token, epoch) = (Token::new(token).unwrap(), MemberEpoch::new(epoch).unwrap());
    Registration::new(group("g"), consumer(name), token, epoch)
}

pub(crate) fn id(text: &str) -> StreamId {
    text.parse().unwrap()
}

/// Reads new entries of group `g`; answers their ids.
pub(crate) async fn read(handle: &Handle<Link>, name: &str, count: usize) -> Vec<StreamId> {
    let (group, consumer) = (group("g"), consumer(name));
    let reading = Reading::new(count);
    let batch = handle.read(&group, &consumer, &reading).await.unwrap();
    batch
        .records
        .iter()
        .map(|record| record.entry().id)
        .collect()
}

/// Takes the lease of group `g` for five seconds.
pub(crate) async fn lease(handle: &Handle<Link>, name: &str) -> Result<Lease, LifecycleError> {
    let (group, owner) = (group("g"), owner(name));
    handle
        .lease_acquire(&group, &owner, Duration::from_secs(5))
        .await
}

pub(crate) fn base() -> Base {
    Base::new(BASE).unwrap()
}

/// Random numbers that are the same for the same seed.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) const fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

/// A connection that gives up only when a test would anyway.
pub(crate) async fn connect(server: &RedisServer) -> Link {
    let patient = AsyncConnectionConfig::new().set_response_timeout(Some(Duration::from_secs(60)));
    let client = server.client();
    let connecting = client.get_multiplexed_async_connection_with_config(&patient);
    connecting.await.unwrap()
}
