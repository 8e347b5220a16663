//! What the index does in Redis itself: which keys it touches, which commands an answer costs, and that reads write nothing. What is
//! answered is tested elsewhere.

use std::collections::BTreeMap;
use std::time::Duration;

use projection::{Index, Limit, Range, ServedBy};
use redis::aio::MultiplexedConnection;

use crate::source::{Item, item, space};
use crate::world::{World, all, calm, first, key, redis_index};

/// Every key of a namespace, as bytes.
async fn dump(connection: &mut MultiplexedConnection, name: &str) -> BTreeMap<String, Vec<u8>> {
    let mut dump = BTreeMap::new();
    for part in ["z", "h", "d", "t", "m"] {
        let key = key(name, part);
        let bytes: Option<Vec<u8>> = redis::cmd("DUMP")
            .arg(&key)
            .query_async(connection)
            .await
            .unwrap();
        dump.insert(key, bytes.unwrap_or_default());
    }
    dump
}

/// Point 1, byte for byte.
#[tokio::test]
async fn point_1_whatever_happens_to_a_namespace_leaves_the_keys_of_another_as_they_are() {
    let mut world = World::in_redis().await;
    let mut connection = world.server().connection().await.unwrap();
    for name in ["ranked", "casual"] {
        world.row(&item(name, "x", 1, 1));
        world.row(&item(name, "y", 2, 1));
        world.rebuild(name).await;
        world.remove(name, "x", 1).await;
    }
    let before = dump(&mut connection, "ranked").await;
    world.rebuild("casual").await;
    world.upsert(&item("casual", "y", 9, 7)).await;
    world.remove("casual", "y", 8).await;
    let mut build = world.begin("casual").await;
    world
        .load(&mut build, &world.rows.all("casual"))
        .await
        .unwrap();
    world.index.abandon(build).await.unwrap();
    world.begin("casual").await;
    assert_eq!(dump(&mut connection, "ranked").await, before);
}

/// Point 2: reads write nothing.
#[tokio::test]
async fn reads_change_no_byte() {
    let mut world = World::in_redis().await;
    let mut connection = world.server().connection().await.unwrap();
    world
        .rows
        .fill((0..100).map(|n| item("a", &format!("{n}"), n, 1)));
    world.rebuild("a").await;
    world.begin("a").await;
    let before = dump(&mut connection, "a").await;
    world.read("a").await.unwrap();
    assert_eq!(dump(&mut connection, "a").await, before);
}

#[tokio::test]
async fn nothing_is_left_of_a_rebuild_that_ended_and_little_of_one_that_did_not() {
    let mut world = World::in_redis().await;
    let mut connection = world.server().connection().await.unwrap();
    world.row(&item("a", "x", 1, 1));
    world.rebuild("a").await;
    let mut build = world.begin("a").await;
    world.load(&mut build, &world.rows.all("a")).await.unwrap();
    world.index.abandon(build).await.unwrap();
    let count: usize = redis::cmd("DBSIZE")
        .query_async(&mut connection)
        .await
        .unwrap();
    assert_eq!(count, 3);
    let mut build = world.begin("a").await;
    world.load(&mut build, &world.rows.all("a")).await.unwrap();
    let keys: Vec<String> = redis::cmd("KEYS")
        .arg("*:b:*")
        .query_async(&mut connection)
        .await
        .unwrap();
    assert_eq!(keys.len(), 2);
    for key in keys {
        let rest: i64 = redis::cmd("PTTL")
            .arg(key)
            .query_async(&mut connection)
            .await
            .unwrap();
        assert!((1..=30_000).contains(&rest), "{rest}");
    }
    world.index.commit(build).await.unwrap();
    for part in ["z", "h"] {
        let rest: i64 = redis::cmd("PTTL")
            .arg(key("a", part))
            .query_async(&mut connection)
            .await
            .unwrap();
        assert_eq!(rest, -1, "what is in place does not expire");
    }
}

#[tokio::test]
async fn removals_are_forgotten_after_their_time_a_few_at_once() {
    let mut world = World::in_redis().await;
    let mut connection = world.server().connection().await.unwrap();
    let index = redis_index(world.server()).tombstones(Duration::from_millis(1));
    for number in 0..30_u64 {
        let id = crate::source::id(&format!("{number}"));
        let version = crate::source::version(number);
        index.remove(&space("a"), &id, version).await.unwrap();
    }
    let left = testkit::wait_until_async(crate::world::PATIENCE, || async {
        let id = crate::source::id("last");
        index
            .remove(&space("a"), &id, crate::source::version(1))
            .await
            .unwrap();
        let mut connection = connection.clone();
        let left: usize = redis::cmd("HLEN")
            .arg(key("a", "d"))
            .query_async(&mut connection)
            .await
            .unwrap();
        left <= 1
    });
    left.await.unwrap();
    let left: usize = redis::cmd("ZCARD")
        .arg(key("a", "t"))
        .query_async(&mut connection)
        .await
        .unwrap();
    assert!(left <= 1);
}

#[tokio::test]
async fn scripts_that_redis_lost_are_brought_again() {
    let mut world = World::in_redis().await;
    let mut connection = world.server().connection().await.unwrap();
    world.row(&item("a", "x", 1, 1));
    world.rebuild("a").await;
    redis::cmd("SCRIPT")
        .arg("FLUSH")
        .exec_async(&mut connection)
        .await
        .unwrap();
    world.read("a").await.unwrap();
    redis::cmd("SCRIPT")
        .arg("FLUSH")
        .exec_async(&mut connection)
        .await
        .unwrap();
    world.rebuild("a").await;
}

fn thin(name: &str, number: i64) -> Item {
    item(name, &format!("{number:07}"), number, 1)
}

/// Fills a namespace as a rebuild would, with the same entries as [`thin`].
async fn fill(connection: &mut MultiplexedConnection, name: &str, count: i64) {
    for chunk in 0..count.div_euclid(10_000).max(1) {
        let (mut places, mut values) = (redis::cmd("ZADD"), redis::cmd("HSET"));
        places.arg(key(name, "z"));
        values.arg(key(name, "h"));
        for number in chunk * 10_000..((chunk + 1) * 10_000).min(count) {
            let id = format!("{number:07}");
            places.arg(number).arg(&id);
            values.arg(&id).arg("1:text:1");
        }
        let mut pipeline = redis::pipe();
        pipeline.add_command(places).add_command(values);
        pipeline.exec_async(connection).await.unwrap();
    }
    let mut command = redis::cmd("HSET");
    command
        .arg(key(name, "m"))
        .arg("epoch")
        .arg(1)
        .arg("built")
        .arg(1);
    command
        .arg("count")
        .arg(count)
        .exec_async(connection)
        .await
        .unwrap();
}

/// The commands that Redis ran since the counters were set to zero, without those of the test.
async fn commands(connection: &mut MultiplexedConnection) -> BTreeMap<String, u64> {
    let info: String = redis::cmd("INFO")
        .arg("commandstats")
        .query_async(connection)
        .await
        .unwrap();
    let of_line = |line: &str| {
        let (name, rest) = line.strip_prefix("cmdstat_")?.split_once(":calls=")?;
        let calls = rest.split(',').next()?.parse().ok()?;
        (!["info", "config|resetstat"].contains(&name)).then(|| (name.to_owned(), calls))
    };
    info.lines().filter_map(of_line).collect()
}

/// Point 2: the cost and the bytes of an answer don't depend on what lies behind it.
#[tokio::test]
async fn point_2_a_snapshot_of_64_costs_the_same_among_100_and_among_1_000_000() {
    let mut world = World::in_redis().await;
    let mut connection = world.server().connection().await.unwrap();
    fill(&mut connection, "a", 100).await;
    fill(&mut connection, "b", 1_000_000).await;
    let projection = world.projection(calm().reconcile_after(Duration::MAX));
    let mut found = Vec::new();
    first(&projection, "a", 64).await;
    for name in ["a", "b"] {
        redis::cmd("CONFIG")
            .arg("RESETSTAT")
            .exec_async(&mut connection)
            .await
            .unwrap();
        let snapshot = first(&projection, name, 64).await;
        let commands = commands(&mut connection).await;
        assert_eq!(snapshot.served_by, ServedBy::Index);
        let wanted: Vec<Item> = (0..64).map(|number| thin(name, number)).collect();
        assert_eq!(snapshot.items, wanted);
        let (name, limit) = (space(name), Limit::new(64).unwrap());
        let range = Range { limit, ..all() };
        let answer = world.index.read(&name, &range);
        let entries = answer.await.unwrap().entries;
        let bytes: Vec<_> = entries
            .into_iter()
            .map(|e| (e.id, e.order, e.version, e.payload))
            .collect();
        found.push((commands, bytes));
    }
    assert_eq!(found[0], found[1]);
    let calls: u64 = found[0].0.values().sum();
    assert!(calls <= 7, "{:?}", found[0].0);
}
