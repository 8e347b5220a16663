//! What a drain still waits for, told of every group without touching anything (rule G4).

use stream_lifecycle::{
    DrainEvidence, DrainProof, Draining, LifecycleError, Removal, ShardAdmin, ShardConsumer,
    ShardInspect, ShardProducer,
};

use crate::support::{World, creation, fields, group, read};

/// Of each group: name, pending, lag, whether something is unread.
fn told(evidence: &DrainEvidence) -> Vec<(&str, u64, Option<u64>, bool)> {
    let rows = evidence.groups.iter();
    rows.map(|row| (row.name.as_str(), row.pending, row.lag, row.has_unread))
        .collect()
}

#[tokio::test]
async fn each_group_tells_what_is_open_and_nothing_is_touched_g4() {
    let world = World::new().await;
    let handle = world.first().await;
    let fresh = handle.drain_evidence().await.unwrap();
    assert!(!fresh.is_missing);
    assert_eq!(told(&fresh), [("g", 0, Some(0), false)]);
    assert!(fresh.groups[0].is_drained(DrainProof::Lag));

    let ids = [
        handle.publish(&fields("a")).await.unwrap(),
        handle.publish(&fields("b")).await.unwrap(),
    ];
    read(&handle, "c", 2).await;
    handle.ack(&group("g"), &ids[..1]).await.unwrap();
    // A group of plain clients counts too.
    let () = world
        .query(&["XGROUP", "CREATE", "orders:3", "plain", "0"])
        .await;
    let before = world.dump().await;
    let open = handle.drain_evidence().await.unwrap();
    assert_eq!(world.dump().await, before);
    assert_eq!(open.length, 2);
    let expected = [
        ("g", 1, Some(0), false),
        ("plain", 0, open.groups[1].lag, true),
    ];
    assert_eq!(told(&open), expected);
    assert!(
        open.groups
            .iter()
            .all(|row| !row.is_drained(DrainProof::Entries))
    );
}

/// Case C25: a lag that is unknown, or below zero, is told as none, and what lies behind the position is told all the same.
#[tokio::test]
async fn a_lag_that_is_not_known_is_none_c25() {
    let world = World::new().await;
    let handle = world.first().await;
    handle.publish(&fields("a")).await.unwrap();
    let last = handle.publish(&fields("b")).await.unwrap();
    read(&handle, "c", 1).await;
    handle.remove(&[last]).await.unwrap();
    let evidence = handle.drain_evidence().await.unwrap();
    assert_eq!(told(&evidence), [("g", 1, None, false)]);
    for read in ["0", "9"] {
        let words = ["XGROUP", "SETID", "orders:3", "g", "0", "ENTRIESREAD", read];
        let () = world.query(&words).await;
        let evidence = handle.drain_evidence().await.unwrap();
        assert_eq!(told(&evidence), [("g", 1, Some(1), true)]);
    }
}

/// Case C25: more than there is, something where nothing is left, nothing where something is: what can't be is not told.
#[tokio::test]
async fn a_lag_that_can_not_be_is_not_told_c25() {
    let world = World::new().await;
    let handle = world.first().await;
    let entries: Vec<_> = (0..6).map(|number| fields(&number.to_string())).collect();
    handle.publish_all(&entries).await;
    let ids = read(&handle, "c", 2).await;
    let lags = async || {
        let status = handle.status().await.unwrap().stream.unwrap();
        let evidence = handle.drain_evidence().await.unwrap();
        assert_eq!(status.groups[0].lag, evidence.groups[0].lag);
        evidence.groups[0].lag
    };
    assert_eq!(lags().await, Some(4));
    // Four entries are trimmed, two of them unread: two are left, whatever Redis says.
    let () = world.query(&["XTRIM", "orders:3", "MAXLEN", "2"]).await;
    assert_eq!(lags().await, Some(2));
    let left = read(&handle, "c", 1).await;
    assert_ne!(lags().await, Some(3), "only one is left");
    for (at, entries_read) in [(left[0], "6"), (left[0], "1"), (ids[0], "6")] {
        let at = at.to_string();
        let words = ["XGROUP", "SETID", "orders:3", "g", &at, "ENTRIESREAD"];
        let words = [words.as_slice(), &[entries_read]].concat();
        let () = world.query(&words).await;
        let expected = if at == ids[0].to_string() { 2 } else { 1 };
        assert!(lags().await.is_none_or(|lag| lag == expected), "{at}");
    }
}

/// Case C27: a promoted replica's counter has stopped somewhere. Until a group has read on to the end nothing is proven; then it is, whatever the counter says.
#[tokio::test]
async fn a_counter_that_a_fail_over_has_stopped_neither_ends_a_drain_nor_hinders_it_c27() {
    for counter in ["1", "0", "-1"] {
        let world = World::new().await;
        let handle = world.first().await;
        let entries: Vec<_> = (0..6).map(|number| fields(&number.to_string())).collect();
        handle.publish_all(&entries).await;
        let ids = read(&handle, "c", 5).await;
        handle.ack(&group("g"), &ids).await.unwrap();
        let stop = async |at: &str| {
            let words = ["XGROUP", "SETID", "orders:3", "g", at];
            let () = match counter {
                "-1" => world.query(&words).await,
                _ => {
                    world
                        .query(&[&words[..], &["ENTRIESREAD", counter]].concat())
                        .await
                }
            };
        };
        stop(&ids[4].to_string()).await;
        let error = handle
            .destroy_if_drained(&Draining::new())
            .await
            .unwrap_err();
        assert!(
            matches!(error, LifecycleError::NotDrained { .. }),
            "{error}"
        );
        let last = read(&handle, "c", 1).await;
        handle.ack(&group("g"), &last).await.unwrap();
        stop(&last[0].to_string()).await;
        let evidence = handle.drain_evidence().await.unwrap();
        assert_eq!(told(&evidence), [("g", 0, Some(0), false)], "{counter}");
        let removal = handle.destroy_if_drained(&Draining::new()).await.unwrap();
        assert_eq!(removal, Removal::Destroyed);
    }
}

/// Rule G4: a group that was put beyond the end is never given what is there, and what is there is not retired.
#[tokio::test]
async fn a_group_that_was_put_beyond_the_end_proves_nothing_g4() {
    let world = World::new().await;
    let handle = world.first().await;
    handle.publish(&fields("a")).await.unwrap();
    let words = ["XGROUP", "SETID", "orders:3", "g", "99999999999999-0"];
    let () = world.query(&words).await;
    let evidence = handle.drain_evidence().await.unwrap();
    assert_eq!(told(&evidence), [("g", 0, None, false)]);
    let error = handle
        .destroy_if_drained(&Draining::new())
        .await
        .unwrap_err();
    assert!(
        matches!(error, LifecycleError::NotDrained { .. }),
        "{error}"
    );
    // An empty stream has nothing to lose.
    let () = world.query(&["XTRIM", "orders:3", "MAXLEN", "0"]).await;
    let evidence = handle.drain_evidence().await.unwrap();
    assert_eq!(told(&evidence), [("g", 0, Some(0), false)]);
}

#[tokio::test]
async fn every_one_of_a_thousand_groups_is_told_g4() {
    let world = World::new().await;
    let names: Vec<String> = (0..1_000).map(|number| format!("{number:0>256}")).collect();
    let groups = names.iter().take(999).map(|name| group(name));
    let handle = world
        .shard()
        .create(&creation(1).groups(groups))
        .await
        .unwrap();
    handle.publish(&fields("a")).await.unwrap();
    let evidence = handle.drain_evidence().await.unwrap();
    assert_eq!(evidence.groups.len(), 1_000);
    assert!(evidence.groups.iter().all(|row| row.has_unread));
    let last = evidence.groups.iter().map(|row| row.name.as_str()).max();
    assert_eq!(last, Some("g"));
}

#[tokio::test]
async fn a_missing_stream_is_told_and_a_generation_that_is_over_refuses_g4() {
    let world = World::new().await;
    let handle = world.first().await;
    let () = world.query(&["DEL", "orders:3"]).await;
    let evidence = handle.drain_evidence().await.unwrap();
    assert!(evidence.is_missing && evidence.groups.is_empty());
    let () = world.query(&["SET", "orders:3", "a text"]).await;
    let error = handle.drain_evidence().await.unwrap_err();
    assert!(matches!(error, LifecycleError::KeyConflict { .. }));
    let () = world.query(&["DEL", "orders:3"]).await;
    handle.destroy().await.unwrap();
    let error = handle.drain_evidence().await.unwrap_err();
    assert!(error.is_stale(), "{error}");
}
