//! Entries that are acknowledged and deleted, with XACKDEL and without.

use stream_lifecycle::{
    AckedAndDeleted, Handle, LifecycleError, Registration, ShardConsumer, ShardInspect,
    ShardProducer, ShardRedelivery, StreamId,
};

use crate::support::{Link, World, creation, fields, group, read, registration, try_query};

async fn given(world: &World, groups: &[&str]) -> (Handle<Link>, Registration, Vec<StreamId>) {
    let made = creation(1).groups(groups.iter().map(|name| group(name)));
    let handle = world.shard().create(&made).await.unwrap();
    let who = registration("c", 1, 1);
    handle.register(&who).await.unwrap();
    for number in 0..4 {
        handle.publish(&fields(&number.to_string())).await.unwrap();
    }
    let ids = read(&handle, "c", 4).await;
    (handle, who, ids)
}

fn numbers(told: AckedAndDeleted) -> [u64; 4] {
    [told.acknowledged, told.deleted, told.kept, told.unknown]
}

async fn knows_xackdel(world: &World) -> bool {
    let rows: Vec<Option<Vec<redis::Value>>> = world.query(&["COMMAND", "INFO", "XACKDEL"]).await;
    rows[0].as_ref().is_some_and(|row| !row.is_empty())
}

#[tokio::test]
async fn a_group_that_is_alone_deletes_what_it_acknowledges() {
    let world = World::new().await;
    let (handle, who, ids) = given(&world, &[]).await;
    handle.attempt(&who, ids[0]).await.unwrap();
    let told = handle.ack_and_delete(&who, &ids[..2]).await.unwrap();
    assert_eq!(numbers(told), [2, 2, 0, 0]);
    // A repetition, as after a lost answer, finds nothing pending.
    let again = handle.ack_and_delete(&who, &ids[..3]).await.unwrap();
    assert_eq!(numbers(again), [1, 1, 0, 2]);
    let left = handle.snapshot(10).await.unwrap();
    assert_eq!(
        left.iter().map(|entry| entry.id).collect::<Vec<_>>(),
        ids[3..]
    );
    let told = handle.attempts(&group("g"), &ids[..1]).await.unwrap();
    assert_eq!(told, [None]);
    // The position is kept as with other acknowledgements (case C02).
    let () = world.query(&["XGROUP", "DESTROY", "orders:3", "g"]).await;
    let ensured = handle.ensure_group(&group("g")).await.unwrap();
    assert!(ensured.position >= ids[2] && ensured.position < ids[3]);
}

/// With several groups, only a server with XACKDEL can tell what is not needed any more; the others keep it.
#[tokio::test]
async fn what_another_group_needs_is_never_deleted() {
    let world = World::new().await;
    let (handle, who, ids) = given(&world, &["h"]).await;
    let told = handle.ack_and_delete(&who, &ids[..2]).await.unwrap();
    assert_eq!(numbers(told), [2, 0, 2, 0], "h has not read them");
    let group_h = group("h");
    let reading = stream_lifecycle::Reading::new(4);
    let consumer = crate::support::consumer("c");
    handle.read(&group_h, &consumer, &reading).await.unwrap();
    handle.ack(&group_h, &ids[2..3]).await.unwrap();
    let told = handle.ack_and_delete(&who, &ids[2..]).await.unwrap();
    let knows = knows_xackdel(&world).await;
    let expected = if knows { [2, 1, 1, 0] } else { [2, 0, 2, 0] };
    assert_eq!(numbers(told), expected);
    assert_eq!(
        handle.snapshot(10).await.unwrap().len(),
        if knows { 3 } else { 4 }
    );
    let rest = handle.drain_evidence().await.unwrap();
    let pending: Vec<u64> = rest.groups.iter().map(|row| row.pending).collect();
    assert_eq!(pending, [0, 3]);
}

/// Case C15: entries that are gone already are acknowledged, and count as deleted.
#[tokio::test]
async fn what_is_gone_already_is_acknowledged_and_counts_as_deleted_c15() {
    for groups in [[].as_slice(), &["h"]] {
        let world = World::new().await;
        let (handle, who, ids) = given(&world, groups).await;
        handle.remove(&ids[..2]).await.unwrap();
        let told = handle.ack_and_delete(&who, &ids[..2]).await.unwrap();
        assert_eq!(numbers(told), [2, 2, 0, 0]);
    }
}

#[tokio::test]
async fn deleting_is_fenced_and_needs_its_permissions_c36_c11() {
    let world = World::new().await;
    let (handle, who, ids) = given(&world, &[]).await;
    let before = world.dump().await;
    let error = handle.ack_and_delete(&registration("c", 2, 1), &ids).await;
    assert!(matches!(error, Err(LifecycleError::ConsumerFenced { .. })));
    let words = [
        "ACL", "SETUSER", "u", "on", ">p", "~*", "+@all", "-xdel", "-xack",
    ];
    let () = world.query(&words).await;
    let _ = try_query::<()>(&world.link, &["ACL", "SETUSER", "u", "-xackdel"]).await;
    let url = format!("redis://u:p@{}/", world.server.address());
    let client = redis::Client::open(url).unwrap();
    let link = client.get_multiplexed_async_connection().await.unwrap();
    let error = handle.with_link(link).ack_and_delete(&who, &ids).await;
    let error = error.unwrap_err().to_string();
    assert_eq!(error, "the user of Redis may not run XACK on orders:3");
    assert_eq!(world.dump().await, before);
    // The server is asked once for each handle and link.
    let text: String = world.query(&["INFO", "commandstats"]).await;
    let asked = |text: &str| {
        let line = text
            .lines()
            .find(|line| line.starts_with("cmdstat_command|info"));
        line.map_or(0, |line| {
            let calls = line.split_once("calls=").unwrap().1;
            calls.split(',').next().unwrap().parse::<u64>().unwrap()
        })
    };
    let earlier = asked(&text);
    handle.ack_and_delete(&who, &ids[..1]).await.unwrap();
    handle
        .clone()
        .ack_and_delete(&who, &ids[1..])
        .await
        .unwrap();
    let text: String = world.query(&["INFO", "commandstats"]).await;
    assert_eq!(asked(&text), earlier);
}
