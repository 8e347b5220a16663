//! The limits that are promised can be reached, over either protocol.

use stream_lifecycle::{
    Claiming, Draining, Fields, GroupName, Incarnation, Reading, Retention, ShardAdmin,
    ShardConsumer, ShardInspect, ShardProducer, ShardRecovery, ShardRef, StreamId, Trim,
};

use crate::support::{
    World, base, consumer, creation, fields, group, lease, once, read, registration,
};

#[tokio::test]
async fn the_largest_inputs_work() {
    let world = World::new().await;
    let groups = (0..999).map(|number| group(&format!("{number:0>256}")));
    let trim = Retention::forever()
        .trim(Trim::Approximate(1 << 40))
        .unwrap();
    let large = creation(1).groups(groups).retention(trim);
    let handle = world
        .shard_at(&"b".repeat(512))
        .create(&large)
        .await
        .unwrap();
    assert_eq!(
        handle.status().await.unwrap().stream.unwrap().group_count,
        1_000
    );
    let many = Fields::new((0..1_000).map(|number| (number.to_string(), "x"))).unwrap();
    handle.publish(&many).await.unwrap();
    handle
        .add_once(&once(&"k".repeat(512)), &many)
        .await
        .unwrap();
    assert_eq!(handle.snapshot(2).await.unwrap()[1].fields, many);

    let handle = world.first().await;
    let entries: Vec<Fields> = (0..1_000)
        .map(|number| fields(&number.to_string()))
        .collect();
    assert!(handle.publish_all(&entries).await.iter().all(Result::is_ok));
    let ids = read(&handle, "c", 1_000).await;
    let lease = lease(&handle, "o").await.unwrap();
    let claiming = Claiming::new(consumer("d")).count(1_000);
    let page = handle
        .claim(&lease, &claiming, StreamId::ZERO)
        .await
        .unwrap();
    assert_eq!((page.batch.records.len(), page.next), (1_000, None));
    assert_eq!(handle.ack(&group("g"), &ids).await.unwrap().count, 1_000);
    assert_eq!(handle.remove(&ids).await.unwrap(), 1_000);
    let required: Vec<GroupName> = (0..999).map(|_| group("g")).collect();
    let draining = Draining::new()
        .required(required)
        .proof(stream_lifecycle::DrainProof::Entries);
    handle.destroy_if_drained(&draining).await.unwrap();
}

#[tokio::test]
async fn a_connection_of_the_newer_protocol_works_the_same() {
    let world = World::new().await;
    let url = format!("{}?protocol=resp3", world.server.url());
    let link = redis::Client::open(url)
        .unwrap()
        .get_multiplexed_async_connection()
        .await
        .unwrap();
    let shard = ShardRef::new(link, base());
    let creation = creation(1).retention(Retention::forever());
    let handle = shard.create(&creation).await.unwrap();
    assert_eq!(handle.identity().incarnation, Incarnation::from(1));
    let who = registration("c", 1, 1);
    handle.register(&who).await.unwrap();
    let id = handle.publish(&fields("a")).await.unwrap();
    let same = [(once("k"), fields("a")), (once("k"), fields("a"))];
    let added = handle.add_all_once(&same).await;
    let added: Vec<StreamId> = added
        .into_iter()
        .map(|outcome| outcome.unwrap().id())
        .collect();
    assert_eq!(added[0], added[1]);
    let reading = Reading::new(10);
    let batch = handle
        .read(&who.group, &who.consumer, &reading)
        .await
        .unwrap();
    let ids: Vec<StreamId> = batch
        .records
        .iter()
        .map(|record| record.entry().id)
        .collect();
    assert_eq!(ids, [id, added[0]]);
    let history = reading.pending_after(StreamId::ZERO);
    handle.remove(&ids[..1]).await.unwrap();
    let batch = handle
        .read(&who.group, &who.consumer, &history)
        .await
        .unwrap();
    assert_eq!(
        (batch.records.len(), batch.deleted.as_slice()),
        (1, &ids[..1])
    );
    let none = handle
        .read(&who.group, &who.consumer, &reading)
        .await
        .unwrap();
    assert!(none.records.is_empty() && none.deleted.is_empty());
    assert_eq!(handle.ack_as(&who, &ids).await.unwrap().count, 2);
    assert_eq!(handle.snapshot(10).await.unwrap().len(), 1);
    assert_eq!(
        handle.status().await.unwrap().stream.unwrap().groups[0].pending,
        0
    );
    handle.destroy().await.unwrap();
    assert!(handle.publish(&fields("b")).await.unwrap_err().is_stale());
}
