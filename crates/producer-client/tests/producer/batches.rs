//! Many records at once: every one has its outcome, and those of a key stay in order whatever happens.

use producer_client::PublishError;

use crate::world::{World, numbered, record};

const FOUR: [&str; 4] = ["orders:0", "orders:1", "orders:2", "orders:3"];

#[tokio::test]
async fn outcomes_come_in_the_order_of_the_records() {
    let mut world = World::of(&FOUR).await;
    let producer = world
        .builder()
        .max_in_flight(64)
        .build()
        .expect("settings that work");
    let records = numbered(2_000, 37);
    let outcomes = producer.publish_batch(&records).await;
    assert_eq!(outcomes.len(), records.len());
    let mut told: Vec<(String, String)> = Vec::new();
    for outcome in outcomes {
        let published = outcome.expect("is published");
        told.push((published.stream_key, published.id));
    }
    for stream in FOUR {
        let ids: Vec<String> = world
            .records(stream)
            .await
            .into_iter()
            .map(|(id, _, _)| id)
            .collect();
        let expected: Vec<String> = told
            .iter()
            .filter(|(key, _)| key == stream)
            .map(|(_, id)| id.clone())
            .collect();
        assert_eq!(ids, expected, "{stream}");
    }
    assert_eq!(world.assert_ordered(&FOUR).await, 2_000);
    assert_eq!(producer.counters().published, 2_000);
}

#[tokio::test]
async fn an_empty_batch_has_no_outcomes() {
    let world = World::of(&FOUR).await;
    assert!(world.producer().publish_batch(&[]).await.is_empty());
}

#[tokio::test]
async fn records_of_a_stale_shard_are_routed_anew_in_order() {
    let mut world = World::of(&FOUR).await;
    let producer = world
        .builder()
        .max_in_flight(100)
        .build()
        .expect("settings that work");
    for outcome in producer.publish_batch(&numbered(40, 10)).await {
        outcome.expect("is published");
    }
    world.delete("orders:2").await;
    world.create("orders:s:2").await;
    let moved = ["orders:0", "orders:1", "orders:s:2", "orders:3"];
    world.routes(2, &moved);
    let batch: Vec<_> = (40..1_040)
        .map(|n| record(n, &format!("k{}", n % 10)))
        .collect();
    for outcome in producer.publish_batch(&batch).await {
        outcome.expect("C43: is published elsewhere");
    }
    assert!(!world.exists("orders:2").await);
    assert!(world.length("orders:s:2").await > 0);
    world.assert_ordered(&moved).await;
    assert_eq!(
        world.coordinator.asked(),
        2,
        "C43: one question for all that missed"
    );
}

#[tokio::test]
async fn keys_that_change_their_shard_with_the_count_stay_in_order() {
    let mut world = World::of(&["old:0"]).await;
    let producer = world
        .builder()
        .max_in_flight(50)
        .build()
        .expect("settings that work");
    producer
        .publish("k0", [("key", "k0"), ("n", "0")])
        .await
        .expect("is published");
    world.delete("old:0").await;
    for stream in FOUR {
        world.create(stream).await;
    }
    world.routes(2, &FOUR);
    for outcome in producer.publish_batch(&numbered(500, 20)).await {
        outcome.expect("C43: is published elsewhere");
    }
    assert_eq!(world.assert_ordered(&FOUR).await, 500);
    assert_eq!(
        producer.counters().stale_routes,
        50,
        "only the first part of the batch missed"
    );
}

#[tokio::test]
async fn a_shard_that_is_gone_fails_alone_and_is_not_created() {
    let mut world = World::of(&FOUR).await;
    let producer = world
        .builder()
        .max_in_flight(50)
        .build()
        .expect("settings that work");
    world.delete("orders:1").await;
    let records = numbered(200, 40);
    let outcomes = producer.publish_batch(&records).await;
    let mut lost = 0;
    for outcome in &outcomes {
        match outcome {
            Ok(published) => assert_ne!(published.stream_key, "orders:1"),
            Err(PublishError::NoRoute { stream_key, .. }) => {
                assert_eq!(stream_key, "orders:1");
                lost += 1;
            }
            Err(error) => assert!(matches!(error, PublishError::NotAttempted), "{error:?}"),
        }
    }
    assert!(lost > 0, "some keys belong to the shard that is gone");
    assert!(!world.exists("orders:1").await, "C43: never a plain XADD");
    let failed =
        u64::try_from(outcomes.iter().filter(|outcome| outcome.is_err()).count()).expect("few");
    assert_eq!(producer.counters().failures, failed);
    assert_eq!(producer.counters().published, 200 - failed);
}

#[tokio::test]
async fn a_failed_record_holds_back_the_later_ones_of_its_key_and_no_others() {
    let mut world = World::of(&FOUR).await;
    let producer = world
        .builder()
        .max_in_flight(40)
        .build()
        .expect("settings that work");
    world.delete("orders:1").await;
    world
        .run(redis::cmd("SET").arg("orders:1").arg("no stream"))
        .await;
    let records = numbered(120, 40);
    let outcomes = producer.publish_batch(&records).await;
    for (first, later) in outcomes[..40].iter().zip(&outcomes[40..80]) {
        match first {
            Ok(_) => assert!(later.is_ok(), "{later:?}"),
            Err(error) => {
                assert!(
                    matches!(error, PublishError::Refused { code, .. } if code == "WRONGTYPE"),
                    "{error:?}"
                );
                assert!(
                    matches!(later, Err(PublishError::NotAttempted)),
                    "{later:?}"
                );
            }
        }
    }
    assert!(outcomes[..40].iter().any(Result::is_err) && outcomes[..40].iter().any(Result::is_ok));
}

#[tokio::test]
async fn concurrent_batches_do_not_wait_for_each_other_for_ever() {
    let mut world = World::of(&FOUR).await;
    let producer = world
        .builder()
        .max_in_flight(8)
        .build()
        .expect("settings that work");
    let batches: Vec<_> = (0..20)
        .map(|_| {
            let producer = producer.clone();
            tokio::spawn(async move { producer.publish_batch(&numbered(100, 5)).await })
        })
        .collect();
    for batch in batches {
        assert!(batch.await.expect("no panic").iter().all(Result::is_ok));
    }
    let mut total = 0;
    for stream in FOUR {
        total += world.length(stream).await;
    }
    assert_eq!(total, 2_000);
}
