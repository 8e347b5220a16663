//! Answers that tell what to do: of a lost stream, of reads from a generation that is over, of missing permissions and broken connections.

use std::time::Duration;

use stream_lifecycle::{
    Draining, Handle, LifecycleError, MemberEpoch, Reading, Removal, Retention, ShardAdmin,
    ShardConsumer, ShardInspect, ShardProducer, ShardRef,
};
use testkit::TcpProxy;

use crate::support::{
    Link, World, base, consumer, creation, fields, generation, group, read, registration,
};

async fn reading(handle: &Handle<Link>, name: &str) -> LifecycleError {
    let (group, consumer) = (group(name), consumer("c"));
    let batch = handle.read(&group, &consumer, &Reading::new(1)).await;
    batch.unwrap_err()
}

/// Rule G4: a stream that is gone proves that nothing is left. That something was lost with it is told, and told again.
#[tokio::test]
async fn the_removal_of_a_lost_stream_says_that_it_was_lost_g4() {
    let world = World::new().await;
    let handle = world.first().await;
    handle.publish(&fields("unread")).await.unwrap();
    let () = world.query(&["DEL", "orders:3"]).await;
    let draining = Draining::new()
        .required([group("g")])
        .keep(Duration::from_secs(60));
    for _ in 0..2 {
        let removal = handle.destroy_if_drained(&draining).await.unwrap();
        assert_eq!(removal, Removal::Lost);
    }
    assert_eq!(world.keys().await, ["{orders:3}:lc"]);
    // The next generation knows nothing of it.
    let next = world
        .shard()
        .recreate(handle.generation(), &creation(2))
        .await
        .unwrap();
    let removal = next.destroy_if_drained(&Draining::new()).await.unwrap();
    assert_eq!(removal, Removal::Destroyed);
    // Who destroys without asking for proof is told of none.
    let third = world.shard().recreate(generation(2), &creation(3)).await;
    let third = third.unwrap();
    let () = world.query(&["DEL", &third.keys().stream]).await;
    assert_eq!(third.destroy().await.unwrap(), Removal::Destroyed);
}

/// A reader learns that its generation is over, and not only that its group is gone.
#[tokio::test]
async fn a_read_from_a_generation_that_is_over_says_so_c01() {
    let world = World::new().await;
    let handle = world.first().await;
    let () = world.query(&["DEL", "orders:3"]).await;
    let lost = reading(&handle, "g").await;
    assert!(matches!(lost, LifecycleError::DataLost { .. }), "{lost}");
    handle.destroy().await.unwrap();
    let over = reading(&handle, "g").await;
    assert!(matches!(over, LifecycleError::Destroyed { .. }), "{over}");
    let next = world
        .shard()
        .recreate(handle.generation(), &creation(2))
        .await
        .unwrap();
    let over = reading(&handle, "g").await;
    assert!(
        matches!(over, LifecycleError::GenerationMismatch { .. }) && over.is_stale(),
        "{over}"
    );
    let none = reading(&next, "h").await;
    assert_eq!(
        none.to_string(),
        "the shard orders:3 has no consumer group h"
    );
    next.destroy().await.unwrap();
    let short = Retention::forever()
        .fixed_ttl(Duration::from_millis(50))
        .unwrap();
    let next = creation(3).retention(short);
    let last = world.shard().recreate(generation(2), &next).await.unwrap();
    let ends = last.status().await.unwrap().expires_ms.unwrap();
    world.until(ends).await;
    let over = reading(&last, "g").await;
    assert!(matches!(over, LifecycleError::Expired { .. }), "{over}");
}

/// A read that was woken by the removal says that it was ended, or that the generation is over; the next one says the latter.
#[tokio::test]
async fn a_waiting_read_learns_that_its_generation_is_over_c03() {
    let world = World::new().await;
    let handle = world.first().await;
    let reader = handle.with_link(world.connect().await);
    let waiting = tokio::spawn(async move {
        let long = Reading::new(1).block(Duration::from_secs(100));
        let (group, consumer) = (group("g"), consumer("c"));
        let first = reader.read(&group, &consumer, &long).await;
        (first, reader.read(&group, &consumer, &long).await)
    });
    let blocked = testkit::wait_until_async(Duration::from_secs(10), async || {
        let text: String = world.query(&["INFO", "clients"]).await;
        text.contains("blocked_clients:1")
    });
    blocked.await.unwrap();
    handle.destroy().await.unwrap();
    let (first, second) = waiting.await.unwrap();
    let is_told = |error: &LifecycleError| error.is_stale() || error.is_retryable();
    assert!(first.as_ref().is_err_and(is_told), "{first:?}");
    assert!(matches!(second, Err(LifecycleError::Destroyed { .. })));
}

#[tokio::test]
async fn a_key_of_another_type_is_named_as_it_is() {
    let world = World::new().await;
    let handle = world.first().await;
    handle.destroy().await.unwrap();
    let next = world
        .shard()
        .recreate(handle.generation(), &creation(2))
        .await
        .unwrap();
    let key = next.keys().stream.to_string();
    let () = world.query(&["DEL", &key]).await;
    let () = world.query(&["SET", &key, "a text"]).await;
    let error = reading(&next, "g").await;
    assert_eq!(
        error.to_string(),
        format!("the key {key} is taken by a key of another type")
    );
    let error = next.publish(&fields("a")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!("the key {key} is taken by a string")
    );
    // What another made under the name of a lifecycle is not overwritten.
    let () = world.query(&["HSET", "{orders:4}:lc", "a", "b"]).await;
    let before = world.dump().await;
    let created = world.shard_at("orders:4").create(&creation(1)).await;
    assert!(
        matches!(&created, Err(LifecycleError::KeyConflict { key, .. }) if key == "{orders:4}:lc"),
        "{created:?}"
    );
    assert_eq!(world.dump().await, before);
}

#[tokio::test]
async fn messages_name_the_shard_the_group_and_what_to_do() {
    let world = World::new().await;
    let shard = world.shard();
    let text = |error: LifecycleError| error.to_string();
    assert_eq!(
        text(shard.open().await.unwrap_err()),
        "the shard orders:3 was never created, or its state was lost"
    );
    let handle = world.first().await;
    let unexpected = shard.recreate(generation(5), &creation(2)).await;
    let unexpected = unexpected.unwrap_err();
    assert!(unexpected.is_stale());
    let start = "generation 5 was expected, the shard is generation 1 ";
    assert!(text(unexpected).starts_with(start));
    handle.seal().await.unwrap();
    let sealed = handle.publish(&fields("a")).await.unwrap_err();
    assert_eq!(text(sealed), "the shard orders:3 is sealed");
    handle.unseal().await.unwrap();

    let who = registration("c", 3, 3);
    let nobody = handle.refresh(&who).await.unwrap_err();
    assert_eq!(text(nobody), "the consumer is not registered: register it");
    handle.register(&who).await.unwrap();
    let older = handle.refresh(&registration("c", 2, 3)).await.unwrap_err();
    assert_eq!(
        text(older),
        "the consumer is fenced: known are token 3, epoch 3"
    );
    handle
        .register(&registration("d", 1, 9).sole())
        .await
        .unwrap();
    let late = registration("e", 1, 1).at_epoch(MemberEpoch::new(2).unwrap());
    let late = handle.register(&late).await.unwrap_err();
    assert_eq!(
        text(late),
        "the consumer is fenced: another has the shard since epoch 9"
    );

    handle.publish(&fields("a")).await.unwrap();
    let drained = async || {
        text(
            handle
                .destroy_if_drained(&Draining::new())
                .await
                .unwrap_err(),
        )
    };
    assert_eq!(
        drained().await,
        "not drained: group g: unread (pending 0, lag 1)"
    );
    let () = world.query(&["XGROUP", "DESTROY", "orders:3", "g"]).await;
    assert_eq!(
        drained().await,
        "not drained: the stream has entries and no group"
    );
    let () = world.query(&["DEL", "orders:3"]).await;
    assert_eq!(
        text(handle.publish(&fields("a")).await.unwrap_err()),
        "the stream of the shard orders:3 is gone although its generation is alive"
    );
}

/// Case C02: that a stream was lost is told until the group acknowledges something: the first answer may be lost.
#[tokio::test]
async fn a_lost_stream_is_told_until_the_first_acknowledgement_c02() {
    let world = World::new().await;
    let handle = world.first().await;
    let () = world.query(&["DEL", "orders:3"]).await;
    let told = async || {
        let ensured = handle.ensure_group(&group("g")).await.unwrap();
        (ensured.was_created, ensured.data_lost)
    };
    assert_eq!(told().await, (true, true));
    assert_eq!(told().await, (false, true));
    let () = world.query(&["XGROUP", "DESTROY", "orders:3", "g"]).await;
    assert_eq!(told().await, (true, true));
    handle.publish(&fields("a")).await.unwrap();
    let ids = read(&handle, "c", 1).await;
    assert_eq!(told().await, (false, true));
    handle.ack(&group("g"), &ids).await.unwrap();
    assert_eq!(told().await, (false, false));
    let () = world.query(&["XGROUP", "DESTROY", "orders:3", "g"]).await;
    assert_eq!(told().await, (true, false));
}

/// Case C11: what the user may not do is named, with its key.
#[tokio::test]
async fn a_missing_permission_is_named_with_its_command_and_key_c11() {
    let world = World::new().await;
    let handle = world.first().await;
    let who = registration("c", 1, 1);
    handle.register(&who).await.unwrap();
    handle.publish(&fields("a")).await.unwrap();
    let ids = read(&handle, "c", 1).await;
    let words = [
        "ACL", "SETUSER", "u", "on", ">p", "~*", "+@all", "-xack", "-xinfo",
    ];
    let () = world.query(&words).await;
    let url = format!("redis://u:p@{}/", world.server.address());
    let client = redis::Client::open(url).unwrap();
    let link = client.get_multiplexed_async_connection().await.unwrap();
    let limited = handle.with_link(link);
    let xinfo = "the user of Redis may not run XINFO GROUPS on orders:3";
    let drained = limited.destroy_if_drained(&Draining::new()).await;
    assert_eq!(drained.unwrap_err().to_string(), xinfo);
    let acked = limited.ack(&group("g"), &ids).await.unwrap_err();
    assert_eq!(acked.to_string(), xinfo);
    let () = world.query(&["ACL", "SETUSER", "u", "+xinfo"]).await;
    let xack = "the user of Redis may not run XACK on orders:3";
    let each = limited.ack_each(&who, &ids).await.remove(0);
    for error in [
        limited.ack(&group("g"), &ids).await.unwrap_err(),
        limited.ack_as(&who, &ids).await.unwrap_err(),
        each.unwrap_err(),
    ] {
        assert_eq!(error.to_string(), xack);
    }
}

/// A call that only reads has done nothing, whatever became of its connection: it can be repeated.
#[tokio::test]
async fn what_only_reads_is_never_ambiguous() {
    let world = World::new().await;
    let handle = world.first().await;
    let proxy = TcpProxy::start(world.server.address()).await.unwrap();
    let client = redis::Client::open(format!("redis://{}/", proxy.address())).unwrap();
    let connect = async || client.get_multiplexed_async_connection().await.unwrap();
    let cut = async |proxy: &TcpProxy| {
        let link = connect().await;
        proxy.drop_replies(1);
        link
    };
    let opened = ShardRef::new(cut(&proxy).await, base()).open().await;
    let status = handle.with_link(cut(&proxy).await).status().await;
    let snapshot = handle.with_link(cut(&proxy).await).snapshot(10).await;
    let evidence = handle.with_link(cut(&proxy).await).drain_evidence().await;
    let sealed = handle.with_link(cut(&proxy).await).seal().await;
    for outcome in [
        opened.map(drop),
        status.map(drop),
        snapshot.map(drop),
        evidence.map(drop),
    ] {
        let error = outcome.unwrap_err();
        assert!(
            matches!(error, LifecycleError::Unreachable(_)) && error.is_retryable(),
            "{error:?}"
        );
    }
    assert!(matches!(sealed, Err(LifecycleError::Ambiguous(_))));
}
