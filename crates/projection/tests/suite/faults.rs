//! Redis killed, stopped, loading, read-only, flushed, partly lost: the answer is the source's, and in time. What is asserted is what a
//! caller sees.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use projection::{FallbackReason, IndexError, Limit, Projection, RedisIndex, ServedBy, Settings};
use testkit::{RedisServer, wait_until_async};

use crate::source::{Item, item, space};
use crate::world::{PATIENCE, World, calm, first, key, pairs, redis_index, until_indexed};

const INDEX_TIMEOUT: Duration = Duration::from_millis(100);
/// What a machine under load may add to any waiting.
const SLACK: Duration = Duration::from_millis(700);

fn quick() -> Settings {
    Settings::default()
        .index_timeout(INDEX_TIMEOUT)
        .breaker_pause(Duration::from_millis(300))
        .repair_interval(Duration::from_millis(20))
}

async fn built() -> World {
    let world = World::in_redis().await;
    world
        .rows
        .fill((0..100).map(|n| item("a", &format!("{n:03}"), n, 1)));
    world.rebuild("a").await;
    world
}

/// Reads, and is right and in time.
async fn right(world: &World, projection: &Projection<Item>) -> ServedBy {
    let begun = Instant::now();
    let snapshot = first(projection, "a", 64).await;
    let took = begun.elapsed();
    let wanted: Vec<Item> = world.rows.all("a").into_iter().take(64).collect();
    assert_eq!(snapshot.items, wanted, "{:?}", snapshot.served_by);
    let slowest = *world.rows.slowest.lock().unwrap();
    assert!(took <= INDEX_TIMEOUT + slowest + SLACK, "{took:?}");
    snapshot.served_by
}

/// A row changes in the source, and the index is told, whatever comes of it.
async fn change(world: &World, projection: &Projection<Item>, version: u64) {
    let changed = item("a", "000", i64::try_from(version % 7).unwrap(), version);
    world.row(&changed);
    let begun = Instant::now();
    let _ = projection.upsert(&changed).await;
    assert!(begun.elapsed() <= INDEX_TIMEOUT + SLACK);
}

#[tokio::test]
async fn killed_and_restarted() {
    let mut world = built().await;
    let projection = world.projection(quick());
    until_indexed(&projection, "a").await;
    world.server().kill();
    for version in 2..10 {
        change(&world, &projection, version).await;
        let served_by = right(&world, &projection).await;
        assert!(matches!(served_by, ServedBy::Source(_)));
    }
    assert!(projection.metrics().failed_writes >= 8 && projection.metrics().circuits_open == 1);
    world.server().restart().unwrap();
    until_indexed(&projection, "a").await;
    assert_eq!(right(&world, &projection).await, ServedBy::Index);
    assert_eq!(projection.metrics().namespaces_in_doubt, 0);
}

/// A server that accepts and never answers.
#[tokio::test]
async fn stopped_and_going_on_with_what_it_was_sent_before() {
    let mut world = built().await;
    let projection = world.projection(quick());
    until_indexed(&projection, "a").await;
    world.server().pause();
    let served_by = right(&world, &projection).await;
    assert_eq!(served_by, ServedBy::Source(FallbackReason::Timeout));
    for version in 2..10 {
        change(&world, &projection, version).await;
        right(&world, &projection).await;
    }
    let metrics = projection.metrics();
    assert!(
        metrics.circuits_open == 1 && metrics.failed_writes > 0,
        "{metrics:?}"
    );
    world.server().resume();
    until_indexed(&projection, "a").await;
    assert_eq!(right(&world, &projection).await, ServedBy::Index);
}

#[tokio::test]
async fn an_open_circuit_costs_no_waiting() {
    let mut world = built().await;
    let projection = world.projection(quick().breaker_pause(Duration::from_secs(3600)));
    until_indexed(&projection, "a").await;
    world.server().pause();
    for _ in 0..3 {
        right(&world, &projection).await;
    }
    for _ in 0..20 {
        let served_by = right(&world, &projection).await;
        assert_eq!(served_by, ServedBy::Source(FallbackReason::CircuitOpen));
    }
    assert_eq!(projection.metrics().fallbacks.timeout, 3);
    world.server().resume();
}

#[tokio::test]
async fn loading() {
    let builder = RedisServer::builder().append_only();
    let mut server = builder.setting("key-load-delay", "50").start().unwrap();
    let world = World::in_memory();
    world
        .rows
        .fill((0..100).map(|n| item("a", &format!("{n:03}"), n, 1)));
    let rows = world.rows.clone();
    let index = std::sync::Arc::new(redis_index(&server));
    // While it loads, it looks at its connections only now and then.
    let settings = quick()
        .index_timeout(INDEX_TIMEOUT * 5)
        .breaker_pause(Duration::from_millis(20));
    let projection = Projection::shared(rows, Some(index), settings);
    projection.rebuild(&space("a")).await.unwrap();
    let mut connection = server.connection().await.unwrap();
    let mut filler = redis::pipe();
    for number in 0..30_000 {
        filler
            .cmd("SET")
            .arg(format!("filler-{number}"))
            .arg(number);
    }
    filler.exec_async(&mut connection).await.unwrap();
    server.kill();
    let restarting = tokio::task::spawn_blocking(move || {
        server.restart().unwrap();
        server
    });
    let met = wait_until_async(PATIENCE, || async {
        let served_by = right(&world, &projection).await;
        let ServedBy::Source(FallbackReason::Failed(IndexError::Failed(text))) = served_by else {
            return false;
        };
        text.contains("loading")
    });
    met.await.unwrap();
    let _server = restarting.await.unwrap();
    until_indexed(&projection, "a").await;
    right(&world, &projection).await;
}

#[tokio::test]
async fn read_only() {
    let mut world = built().await;
    let projection = world.projection(quick());
    until_indexed(&projection, "a").await;
    let mut connection = world.server().connection().await.unwrap();
    let mut replica = redis::cmd("REPLICAOF");
    replica
        .arg("127.0.0.1")
        .arg(1)
        .exec_async(&mut connection)
        .await
        .unwrap();
    assert_eq!(right(&world, &projection).await, ServedBy::Index);
    for version in 2..6 {
        change(&world, &projection, version).await;
        let served_by = right(&world, &projection).await;
        assert!(
            matches!(served_by, ServedBy::Source(_)),
            "it missed a write"
        );
    }
    let mut master = redis::cmd("REPLICAOF");
    master
        .arg("NO")
        .arg("ONE")
        .exec_async(&mut connection)
        .await
        .unwrap();
    until_indexed(&projection, "a").await;
    right(&world, &projection).await;
}

#[tokio::test]
async fn flushed() {
    let mut world = built().await;
    let projection = world.projection(quick());
    let epoch = first(&projection, "a", 1).await.epoch;
    let mut connection = world.server().connection().await.unwrap();
    redis::cmd("FLUSHALL")
        .exec_async(&mut connection)
        .await
        .unwrap();
    change(&world, &projection, 2).await;
    let served_by = right(&world, &projection).await;
    assert_eq!(served_by, ServedBy::Source(FallbackReason::Unbuilt));
    until_indexed(&projection, "a").await;
    right(&world, &projection).await;
    assert!(
        first(&projection, "a", 1).await.epoch > epoch,
        "epochs go on rising"
    );
}

/// Each part of what Redis holds, lost or of another type.
#[tokio::test]
async fn partly_lost() {
    let mut world = built().await;
    let (m, z, h) = (key("a", "m"), key("a", "z"), key("a", "h"));
    let losses: [&[&[&str]]; 12] = [
        &[&["DEL", &z]],
        &[&["DEL", &h]],
        &[&["DEL", &z, &h]],
        &[&["DEL", &m]],
        &[&["DEL", &m, &h]],
        &[&["HDEL", &h, "003"]],
        &[&["ZREM", &z, "003"]],
        &[&["HDEL", &h, "003"], &["ZREM", &z, "003"]],
        &[&["HDEL", &h, "003"], &["ZREM", &z, "004"]],
        &[&["HSET", &h, "003", "nonsense"]],
        &[&["SET", &z, "nonsense"]],
        &[&["SET", &m, "nonsense"]],
    ];
    let projection = world.projection(quick());
    let mut connection = world.server().connection().await.unwrap();
    for (number, loss) in losses.iter().enumerate() {
        until_indexed(&projection, "a").await;
        for command in *loss {
            let mut lose = redis::cmd(command[0]);
            lose.arg(&command[1..])
                .exec_async(&mut connection)
                .await
                .unwrap();
        }
        if number % 2 == 0 {
            change(&world, &projection, 100 + u64::try_from(number).unwrap()).await;
        }
        let served_by = right(&world, &projection).await;
        assert!(
            matches!(served_by, ServedBy::Source(_)),
            "{loss:?}: {served_by:?}"
        );
    }
    until_indexed(&projection, "a").await;
    right(&world, &projection).await;
    let metrics = projection.metrics();
    assert!(metrics.fallbacks.damaged >= 7, "{metrics:?}");
    assert!(metrics.rebuilds >= 11, "{metrics:?}");
}

/// A full Redis refuses what needs memory; what it holds meanwhile is not trusted.
#[tokio::test]
async fn full() {
    let mut world = built().await;
    let projection = world.projection(quick());
    until_indexed(&projection, "a").await;
    let mut connection = world.server().connection().await.unwrap();
    let limit = |bytes: &str| {
        let mut command = redis::cmd("CONFIG");
        command.arg("SET").arg("maxmemory").arg(bytes);
        command
    };
    limit("1").exec_async(&mut connection).await.unwrap();
    change(&world, &projection, 2).await;
    right(&world, &projection).await;
    limit("0").exec_async(&mut connection).await.unwrap();
    until_indexed(&projection, "a").await;
    right(&world, &projection).await;
}

#[tokio::test]
async fn flushed_during_a_build() {
    let mut world = built().await;
    let mut connection = world.server().connection().await.unwrap();
    for between in [false, true] {
        let mut build = world.begin("a").await;
        world.load(&mut build, &world.rows.all("a")).await.unwrap();
        redis::cmd("FLUSHALL")
            .exec_async(&mut connection)
            .await
            .unwrap();
        if between {
            assert_eq!(
                world.load(&mut build, &[]).await,
                Err(IndexError::BuildLost)
            );
        }
        assert_eq!(world.index.commit(build).await, Err(IndexError::BuildLost));
        assert_eq!(world.read("a").await, Err(IndexError::Unbuilt));
        world.rebuild("a").await;
    }
}

/// Only what was loaded is lost, not what is known of the rebuild.
#[tokio::test]
async fn a_build_that_was_partly_lost_is_not_committed() {
    let mut world = built().await;
    let before = world.held("a").await;
    let mut connection = world.server().connection().await.unwrap();
    for part in ["*:b:*:z", "*:b:*:h"] {
        let mut build = world.begin("a").await;
        world.load(&mut build, &world.rows.all("a")).await.unwrap();
        let keys: Vec<String> = redis::cmd("KEYS")
            .arg(part)
            .query_async(&mut connection)
            .await
            .unwrap();
        redis::cmd("DEL")
            .arg(keys)
            .exec_async(&mut connection)
            .await
            .unwrap();
        assert_eq!(world.index.commit(build).await, Err(IndexError::BuildLost));
    }
    assert_eq!(world.held("a").await, before);
}

/// The answer to a page was lost, and it is loaded again; or a fail-over lost a page that was confirmed.
#[tokio::test]
async fn pages_are_counted() {
    let mut world = World::in_redis().await;
    let pages = [[item("a", "x", 1, 1)], [item("a", "y", 2, 1)]];
    let mut build = world.begin("a").await;
    let mut unheard = build.clone();
    world.load(&mut build, &pages[0]).await.unwrap();
    world.load(&mut unheard, &pages[0]).await.unwrap();
    world.load(&mut build, &pages[1]).await.unwrap();
    world.index.commit(build).await.unwrap();
    assert_eq!(world.held("a").await, pairs(&[("x", 1), ("y", 1)]));
    let mut connection = world.server().connection().await.unwrap();
    for is_committed in [false, true] {
        let mut build = world.begin("a").await;
        world.load(&mut build, &pages[0]).await.unwrap();
        world.load(&mut build, &pages[1]).await.unwrap();
        let mut lose = redis::cmd("HSET");
        lose.arg(key("a", "m")).arg("pages").arg(1);
        lose.exec_async(&mut connection).await.unwrap();
        let outcome = if is_committed {
            world.index.commit(build).await.map(drop)
        } else {
            world.load(&mut build, &[]).await
        };
        assert_eq!(outcome, Err(IndexError::BuildLost));
    }
    assert_eq!(world.held("a").await, pairs(&[("x", 1), ("y", 1)]));
}

#[tokio::test]
async fn redis_dies_between_begin_and_commit() {
    let mut server = RedisServer::builder().append_only().start().unwrap();
    let link = redis_index(&server);
    let index: RedisIndex<_> = link.lease(Duration::from_millis(500));
    let mut world = World::in_memory();
    world.index = std::sync::Arc::new(index);
    world.row(&item("a", "x", 1, 1));
    world.rebuild("a").await;
    let mut build = world.begin("a").await;
    world
        .load(&mut build, &[item("a", "y", 2, 1)])
        .await
        .unwrap();
    server.kill();
    let failure = world.index.commit(build).await.unwrap_err();
    assert!(failure.is_failure(), "{failure}");
    server.restart().unwrap();
    let old = wait_until_async(PATIENCE, || async { world.read("a").await.is_ok() });
    old.await.unwrap();
    assert_eq!(
        world.held("a").await,
        pairs(&[("x", 1)]),
        "as before the rebuild"
    );
    let free = wait_until_async(PATIENCE, || async { world.try_begin("a").await.is_ok() });
    free.await.unwrap();
}

/// Without persistence nothing is left, and the source answers.
#[tokio::test]
async fn redis_forgets_everything_between_begin_and_commit() {
    let mut world = built().await;
    let build = world.begin("a").await;
    world.server().restart().unwrap();
    let outcome = wait_until_async(PATIENCE, || async {
        world.index.commit(build.clone()).await == Err(IndexError::BuildLost)
    });
    outcome.await.unwrap();
    let projection = world.projection(quick());
    right(&world, &projection).await;
    until_indexed(&projection, "a").await;
}

/// Point 6 with a server that is gone.
#[tokio::test]
async fn both_causes_are_told() {
    let mut world = built().await;
    world.server().kill();
    world.rows.fails.store(true, Ordering::SeqCst);
    let projection = world.projection(calm());
    let error = projection
        .snapshot(&space("a"), Limit::MOST)
        .await
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("the index failed") && text.contains("the table is locked"),
        "{text}"
    );
}
