//! Case C30: entries that were trimmed before anybody of a group read them are counted, on servers whose lag hides it too.

use std::time::Duration;

use stream_lifecycle::{
    Handle, LifecycleError, Registration, ShardConsumer, ShardInspect, ShardProducer,
    ShardRedelivery,
};

use crate::support::{Link, World, fields, group, read, registration};

struct Reader {
    world: World,
    handle: Handle<Link>,
    who: Registration,
}

impl Reader {
    async fn new() -> Self {
        let world = World::new().await;
        let handle = world.first().await;
        let who = registration("c", 1, 1);
        handle.register(&who).await.unwrap();
        Self { world, handle, who }
    }

    async fn publish(&self, count: usize) {
        for number in 0..count {
            self.handle
                .publish(&fields(&number.to_string()))
                .await
                .unwrap();
        }
    }

    async fn trim(&self, left: usize) {
        let words = ["XTRIM", "orders:3", "MAXLEN", &left.to_string()];
        let () = self.world.query(&words).await;
    }

    /// Reads and acknowledges.
    async fn take(&self, count: usize) -> u64 {
        let ids = read(&self.handle, "c", count).await;
        if !ids.is_empty() {
            self.handle.ack_as(&self.who, &ids).await.unwrap();
        }
        ids.len() as u64
    }

    async fn refresh(&self, delivered: Option<u64>) -> u64 {
        let lost = self.handle.refresh_counting(&self.who, delivered).await;
        lost.unwrap()
    }
}

#[tokio::test]
async fn what_was_trimmed_unread_is_counted_c30() {
    let reader = Reader::new().await;
    assert_eq!(reader.refresh(None).await, 0);
    reader.publish(10).await;
    let given = reader.take(4).await;
    reader.trim(3).await;
    assert_eq!(reader.refresh(Some(given)).await, 3);
    // Told once, and never taken back.
    let given = reader.take(10).await;
    assert_eq!((given, reader.refresh(Some(given)).await), (3, 3));
    reader.publish(5).await;
    reader.trim(0).await;
    assert_eq!(reader.refresh(Some(0)).await, 8);
    reader.publish(5).await;
    assert_eq!(reader.refresh(Some(0)).await, 8);
    let status = reader.handle.status().await.unwrap().stream.unwrap();
    assert_eq!(status.groups[0].trimmed_unread, 8);
    let evidence = reader.handle.drain_evidence().await.unwrap();
    assert_eq!(evidence.groups[0].trimmed_unread, 8);
}

/// Trimming what was read is no loss, and neither is deleting it.
#[tokio::test]
async fn what_was_read_before_it_was_trimmed_is_no_loss_c30() {
    let reader = Reader::new().await;
    reader.refresh(None).await;
    reader.publish(10).await;
    for _ in 0..4 {
        let given = reader.take(2).await;
        let left = reader.handle.snapshot(100).await.unwrap();
        reader.handle.remove(&[left[0].id]).await.unwrap();
        assert_eq!(reader.refresh(Some(given)).await, 0);
    }
    reader.trim(2).await;
    let given = reader.take(10).await;
    assert_eq!((given, reader.refresh(Some(given)).await), (2, 0));
}

/// A loss that the reader has read past is told when it has come to the end.
#[tokio::test]
async fn a_loss_is_told_at_the_latest_at_the_end_of_the_stream_c30() {
    let reader = Reader::new().await;
    reader.refresh(None).await;
    reader.publish(20).await;
    reader.trim(10).await;
    let first = reader.take(4).await;
    let early = reader.refresh(Some(first)).await;
    assert!(early == 0 || early == 10, "{early}");
    let second = reader.take(100).await;
    assert_eq!(reader.refresh(Some(second)).await, 10);
}

/// A reader that does not know what it was given notes where the group stands, and counts nothing that may have been given.
#[tokio::test]
async fn a_reader_that_does_not_know_counts_nothing_c23_c30() {
    let reader = Reader::new().await;
    reader.refresh(None).await;
    reader.publish(10).await;
    // An abandoned read: the entries were given, and nobody knows.
    read(&reader.handle, "c", 4).await;
    reader.trim(3).await;
    assert_eq!(reader.refresh(None).await, 0);
    // From here on it is known again.
    reader.trim(1).await;
    assert_eq!(reader.refresh(Some(0)).await, 2);
}

/// The typical loss: nobody read for a while. The next process knows, since the group has not moved.
#[tokio::test]
async fn what_was_trimmed_while_nobody_read_is_counted_by_the_next_process_c30() {
    let reader = Reader::new().await;
    reader.refresh(None).await;
    reader.publish(4).await;
    let given = reader.take(4).await;
    reader.refresh(Some(given)).await;
    reader.publish(10).await;
    reader.trim(4).await;
    let next = registration("c", 2, 2);
    reader.handle.register(&next).await.unwrap();
    let lost = reader.handle.refresh_counting(&next, None).await.unwrap();
    assert_eq!(lost, 6);
}

/// A group or a stream that was made anew loses nothing by that, and keeps its count while the generation lasts.
#[tokio::test]
async fn a_restored_group_keeps_its_count_and_counts_no_step_back_c02_c30() {
    let reader = Reader::new().await;
    reader.refresh(None).await;
    reader.publish(5).await;
    reader.trim(2).await;
    assert_eq!(reader.refresh(Some(0)).await, 3);
    let given = read(&reader.handle, "c", 2).await.len() as u64;
    reader.refresh(Some(given)).await;
    let () = reader
        .world
        .query(&["XGROUP", "DESTROY", "orders:3", "g"])
        .await;
    reader.handle.ensure_group(&group("g")).await.unwrap();
    assert_eq!(reader.refresh(Some(0)).await, 3);
    let given = reader.take(10).await;
    assert_eq!((given, reader.refresh(Some(given)).await), (2, 3));
    let () = reader.world.query(&["DEL", "orders:3"]).await;
    let gone = reader.handle.refresh_counting(&reader.who, Some(0)).await;
    assert!(matches!(gone, Err(LifecycleError::DataLost { .. })));
    reader.handle.ensure_group(&group("g")).await.unwrap();
    reader.publish(3).await;
    assert_eq!(reader.refresh(Some(0)).await, 3);
    let given = reader.take(10).await;
    assert_eq!((given, reader.refresh(Some(given)).await), (3, 3));
}

#[tokio::test]
async fn counting_is_a_sign_of_life_and_fenced_as_one_c36() {
    let reader = Reader::new().await;
    let lease = crate::support::lease(&reader.handle, "o").await.unwrap();
    let seen = reader.world.now_ms().await;
    reader.world.until(seen + 60).await;
    reader.refresh(None).await;
    let quiet = Duration::from_secs(30);
    let gone = stream_lifecycle::ShardRecovery::cleanup(&reader.handle, &lease, quiet, &[]).await;
    assert_eq!(gone.unwrap(), [""; 0]);
    let field = "k\u{1f}g\u{1f}c";
    let words = ["HGET", &reader.handle.keys().metadata, field];
    let at: u64 = reader.world.query(&words).await;
    assert!(at > seen);
    let before = reader.world.dump().await;
    let other = registration("c", 2, 1);
    let fenced = reader.handle.refresh_counting(&other, Some(1)).await;
    assert!(matches!(fenced, Err(LifecycleError::ConsumerFenced { .. })));
    assert_eq!(reader.world.dump().await, before);
}
