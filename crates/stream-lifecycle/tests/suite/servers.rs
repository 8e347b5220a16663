//! Servers that refuse, load, fail over or lack permissions: the operation did not begin, or its outcome is open, and either is told.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use stream_lifecycle::{
    Handle, LifecycleError, Published, Reconnecting, RedisLink, Rejection, Removal, ShardAdmin,
    ShardConsumer, ShardInspect, ShardProducer, ShardRedelivery, ShardRef, StreamId,
};
use testkit::{RedisServer, TcpProxy, wait_until_async};

use crate::guard::every_operation;
use crate::support::{World, base, creation, fields, group, once, query, read, registration};

const PATIENCE: Duration = Duration::from_secs(30);

fn is_busy<T>(outcome: &Result<T, LifecycleError>, expected: &str) -> bool {
    matches!(outcome, Err(error @ LifecycleError::Busy { code, .. }) if code == expected && error.is_retryable())
}

#[tokio::test]
async fn a_read_only_replica_answers_what_only_reads() {
    let world = World::new().await;
    let handle = world.first().await;
    handle.publish(&fields("a")).await.unwrap();
    let replica = RedisServer::builder()
        .replica_of(world.server.port())
        .start()
        .unwrap();
    let replica = World::with(replica).await;
    let there = wait_until_async(PATIENCE, async || {
        replica.keys().await.len() == 5 && replica.query::<u64>(&["XLEN", "orders:3"]).await == 1
    });
    there.await.unwrap();
    let before = replica.dump().await;
    let copy = replica.shard().open().await.unwrap();
    assert_eq!(copy.identity(), handle.identity());
    assert_eq!(
        copy.snapshot(10).await.unwrap(),
        handle.snapshot(10).await.unwrap()
    );
    assert_eq!(copy.peek(StreamId::ZERO, 1).await.unwrap().len(), 1);
    assert_eq!(copy.status().await.unwrap().stream.unwrap().length, 1);
    let reads = ["peek", "snapshot", "evidence", "attempts"];
    for (operation, outcome) in every_operation(&copy).await {
        let expected = if reads.contains(&operation) {
            "ok"
        } else {
            "Busy"
        };
        assert_eq!(outcome, expected, "{operation}");
    }
    assert!(is_busy(&copy.publish(&fields("b")).await, "READONLY"));
    assert_eq!(replica.dump().await, before);
}

#[tokio::test]
async fn a_loading_server_is_busy_and_never_empty() {
    let builder = RedisServer::builder().append_only();
    let mut server = builder.setting("key-load-delay", "50").start().unwrap();
    let client = server.client();
    let link = Reconnecting::new(move || {
        let client = client.clone();
        async move { client.get_multiplexed_async_connection().await }
    });
    let shard = ShardRef::new(link, base());
    let handle = shard.create(&creation(1)).await.unwrap();
    let added = handle.add_once(&once("k"), &fields("a")).await.unwrap();
    let mut filling = crate::support::connect(&server).await;
    let mut filler = redis::pipe();
    for number in 0..30_000 {
        filler
            .cmd("SET")
            .arg(format!("filler-{number}"))
            .arg(number)
            .ignore();
    }
    filler.exec_async(&mut filling).await.unwrap();
    server.kill();
    let restarting = tokio::task::spawn_blocking(move || {
        server.restart().unwrap();
        server
    });
    let loading = wait_until_async(PATIENCE, async || is_busy(&shard.open().await, "LOADING"));
    loading.await.unwrap();
    assert!(is_busy(
        &handle.add_once(&once("k"), &fields("a")).await,
        "LOADING"
    ));
    let _server = restarting.await.unwrap();
    let again = handle.add_once(&once("k"), &fields("a")).await.unwrap();
    assert_eq!(again, Published::Duplicate(added.id()));
}

/// Case C09: when memory is full, publishing is refused before it begins; acknowledging, signs of life and removals go on.
#[tokio::test]
async fn a_full_server_refuses_publishing_and_nothing_else_c09() {
    let world = World::new().await;
    let handle = world.first().await;
    let who = registration("c", 1, 1);
    handle.register(&who).await.unwrap();
    let id = handle.publish(&fields("a")).await.unwrap();
    read(&handle, "c", 1).await;
    let () = world
        .query(&[
            "CONFIG",
            "SET",
            "maxmemory-policy",
            "noeviction",
            "maxmemory",
            "1",
        ])
        .await;
    let before = world.dump().await;
    assert!(is_busy(&handle.publish(&fields("b")).await, "OOM"));
    assert!(is_busy(
        &handle.add_once(&once("k"), &fields("b")).await,
        "OOM"
    ));
    assert!(is_busy(&handle.ensure_group(&group("h")).await, "OOM"));
    assert!(is_busy(
        &world.shard_at("orders:4").create(&creation(1)).await,
        "OOM"
    ));
    assert_eq!(world.dump().await, before);
    assert_eq!(handle.snapshot(10).await.unwrap().len(), 1);
    handle.refresh(&who).await.unwrap();
    handle.refresh_counting(&who, None).await.unwrap();
    assert_eq!(handle.attempt(&who, id).await.unwrap().count, 1);
    let later = Duration::from_secs(1);
    handle.postpone(&who, id, later).await.unwrap();
    let before = world.dump().await;
    let rejection = Rejection::new("x");
    let refused = handle.dead_letter(&who, &[id], &rejection).await;
    assert!(is_busy(&refused, "OOM"));
    assert_eq!(world.dump().await, before);
    // A consumer that was started again, or got the shard: it has to acknowledge what makes room.
    let again = registration("c", 2, 1);
    handle.register(&again).await.unwrap();
    assert_eq!(handle.ack_as(&again, &[id]).await.unwrap().count, 1);
    handle.deregister(&again).await.unwrap();
    assert!(handle.seal().await.unwrap());
    assert_eq!(handle.destroy().await.unwrap(), Removal::Destroyed);
}

/// The connection breaks after the script ran: the outcome is open for publications, and settled by repeating those that happen once.
#[tokio::test]
async fn a_lost_answer_is_ambiguous_and_settled_by_repeating() {
    let world = World::new().await;
    world.first().await;
    let proxy = TcpProxy::start(world.server.address()).await.unwrap();
    let client = redis::Client::open(format!("redis://{}/", proxy.address())).unwrap();
    let link = Reconnecting::new(move || {
        let client = client.clone();
        async move { client.get_multiplexed_async_connection().await }
    });
    let handle = ShardRef::new(link, base()).open().await.unwrap();
    // Known scripts, so that the answer that is lost is the operation's.
    handle.add_once(&once("warm"), &fields("a")).await.unwrap();
    handle.publish(&fields("warm")).await.unwrap();
    proxy.drop_replies(1);
    let lost = handle.publish(&fields("a")).await;
    assert!(
        matches!(lost, Err(LifecycleError::Ambiguous(_))),
        "{lost:?}"
    );
    assert_eq!(world.query::<u64>(&["XLEN", "orders:3"]).await, 3);
    // A new connection first, so that the answer that is lost is not one of its making.
    assert_eq!(handle.snapshot(10).await.unwrap().len(), 3);
    proxy.drop_replies(1);
    let lost = handle.add_once(&once("k"), &fields("a")).await;
    assert!(
        matches!(lost, Err(LifecycleError::Ambiguous(_))),
        "{lost:?}"
    );
    let again = handle.add_once(&once("k"), &fields("a")).await.unwrap();
    assert!(matches!(again, Published::Duplicate(_)));
    assert_eq!(world.query::<u64>(&["XLEN", "orders:3"]).await, 4);
    proxy.refuse().await;
    proxy.cut();
    let gone = wait_until_async(PATIENCE, async || {
        matches!(
            handle.publish(&fields("a")).await,
            Err(LifecycleError::Unreachable(_))
        )
    });
    gone.await.unwrap();
    assert_eq!(world.query::<u64>(&["XLEN", "orders:3"]).await, 4);
}

/// Asks both servers who is the master, as a Sentinel would.
async fn master_of(clients: &[redis::Client]) -> redis::RedisResult<MultiplexedConnection> {
    for client in clients {
        let Ok(mut connection) = client.get_multiplexed_async_connection().await else {
            continue;
        };
        let role: Vec<redis::Value> = redis::cmd("ROLE").query_async(&mut connection).await?;
        if role.first() == Some(&redis::Value::BulkString(b"master".to_vec())) {
            return Ok(connection);
        }
    }
    Err(std::io::Error::from(std::io::ErrorKind::ConnectionRefused).into())
}

async fn patiently<L: RedisLink>(handle: &Handle<L>, key: &str) -> Published {
    let outcome = std::cell::OnceCell::new();
    let done = wait_until_async(PATIENCE, async || {
        match handle.add_once(&once(key), &fields(key)).await {
            Ok(published) => outcome.set(published).is_ok(),
            Err(error) => {
                let is_open = matches!(error, LifecycleError::Ambiguous(_));
                assert!(is_open || error.is_retryable(), "{error:?}");
                false
            }
        }
    });
    done.await.unwrap();
    outcome.into_inner().unwrap()
}

/// A failover: the handle goes on with the new master, knows what was published, and the old master's connection is not used any more.
#[tokio::test]
async fn a_failover_is_followed_and_nothing_is_published_twice() {
    let mut master = RedisServer::builder().start().unwrap();
    let replica = RedisServer::builder()
        .replica_of(master.port())
        .start()
        .unwrap();
    let clients = [master.client(), replica.client()];
    let link = Reconnecting::new(move || {
        let clients = clients.clone();
        async move { master_of(&clients).await }
    });
    let handle = ShardRef::new(link, base())
        .create(&creation(1))
        .await
        .unwrap();
    let first = patiently(&handle, "k").await;
    let copy = replica.connection().await.unwrap();
    let copied = wait_until_async(PATIENCE, async || {
        query::<u64>(&copy, &["XLEN", "orders:3"]).await == 1
    });
    copied.await.unwrap();
    // The master becomes a replica while the connection stays open: it answers READONLY, and is given up for that.
    let old = master.connection().await.unwrap();
    let () = query(&copy, &["REPLICAOF", "NO", "ONE"]).await;
    let () = query(
        &old,
        &["REPLICAOF", "127.0.0.1", &replica.port().to_string()],
    )
    .await;
    assert_eq!(
        patiently(&handle, "k").await,
        Published::Duplicate(first.id())
    );
    master.kill();
    assert_eq!(
        patiently(&handle, "k").await,
        Published::Duplicate(first.id())
    );
    assert!(matches!(patiently(&handle, "l").await, Published::Added(_)));
    assert_eq!(query::<u64>(&copy, &["XLEN", "orders:3"]).await, 2);
}
