//! Answers that are late: lists from an index, and numbers that were read before.

use crate::support::{Ctl, Fake};

fn fixture(name: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/protocol/v1");
    std::fs::read_to_string(format!("{folder}/{name}.json")).unwrap()
}

/// A list with groups, by their records.
fn list(groups: &[String], served_by: &str) -> String {
    let groups = groups.join(",");
    format!(r#"{{"groups":[{groups}],"servedBy":"{served_by}"}}"#)
}

const LISTED: &str = "GET /coord/v1/monitoring/groups?streamPrefix=orders";

#[tokio::test]
async fn that_there_is_no_stream_is_said_by_its_records_or_by_an_index_twice() {
    for (served_by, times) in [("RECORDS", 1), ("INDEX", 2)] {
        let fake = Fake::answering(200, list(&[], served_by)).await;
        let said = Ctl::at(&fake.url)
            .run("stream delete orders")
            .await
            .failed(3);
        assert!(said.contains("there is no stream `orders`"), "{said}");
        assert_eq!(fake.asked(), vec![LISTED; times], "{served_by}");
    }
}

#[tokio::test]
async fn a_stream_that_an_index_has_only_a_moment_later_is_one() {
    let late = list(&[fixture("group.minimal")], "INDEX");
    let fake = Fake::in_turn([list(&[], "INDEX"), late]).await;
    // What follows can't be read here; but the stream is there.
    let done = Ctl::at(&fake.url).run("stream delete orders").await;
    assert!(!done.err.contains("there is no stream"), "{done:?}");
    let asked = fake.asked();
    assert_eq!(asked.iter().filter(|line| *line == LISTED).count(), 2);
}

/// An index may still have what was deleted. Whether something stays in Redis is found out without reading all of it.
#[tokio::test]
async fn the_group_that_was_deleted_is_the_last_one_though_an_index_still_has_it() {
    let group = fixture("group.minimal");
    let late = list(std::slice::from_ref(&group), "INDEX");
    let page = fixture("message-page.minimal");
    let fake = Fake::in_turn([page, group, late]).await;
    let done = Ctl::at(&fake.url)
        .run("group delete orders orders --execute --reason done")
        .await
        .printed();
    assert!(
        done.contains("what is in Redis stays: orders:0 … orders:7"),
        "{done}"
    );
    let asked = fake.asked();
    assert!(
        asked[0].contains("/shards/0/messages?") && asked[0].contains("limit=1"),
        "{asked:?}"
    );
    assert_eq!((asked.len(), asked[2].as_str()), (3, LISTED));
}

/// A coordinator that never tells anything newer is not asked for ever.
#[tokio::test]
async fn numbers_that_never_get_newer_are_asked_for_three_times() {
    let stale = fixture("offsets.minimal");
    let stale = stale.replacen('{', r#"{"ageMs": 3600000,"#, 1);
    let fake = Fake::in_turn([fixture("message-page.minimal"), stale]).await;
    let begun = std::time::Instant::now();
    let shown = Ctl::at(&fake.url).run("messages orders --shard 0").await;
    assert_eq!(shown.code, 0, "{shown:?}");
    let asked = fake.asked();
    let offsets = asked.iter().filter(|line| line.contains("/offsets"));
    assert_eq!(offsets.count(), 3, "{asked:?}");
    // Not all at once, either.
    assert!(begun.elapsed() >= std::time::Duration::from_millis(200));
}

/// What was made a moment ago can be deleted, though the list does not have it yet.
#[tokio::test]
async fn a_group_that_is_not_in_the_list_yet_is_looked_up() {
    let other = fixture("group.minimal").replace(
        r#""consumerGroup": "orders""#,
        r#""consumerGroup": "other""#,
    );
    let group = fixture("group.minimal");
    let fake = Fake::in_turn([list(&[other], "INDEX"), group]).await;
    // What follows can't be read here; but the group is there.
    let done = Ctl::at(&fake.url).run("group delete orders orders").await;
    assert!(!done.err.contains("has no group"), "{done:?}");
    let asked = fake.asked();
    assert_eq!(asked[0], LISTED);
    assert!(
        asked[1].contains("/orders/") && asked[1].ends_with("/orders"),
        "{asked:?}"
    );
    assert!(asked.len() > 2, "{asked:?}");
}
