//! How long repeated publications are recognised: at least one window, and less than two.

use std::collections::BTreeMap;
use std::time::Duration;

use stream_lifecycle::{Fields, OnceKey, Published, Retention, ShardProducer, StreamId};

use crate::support::{World, fields, once};

const WINDOW_MS: u64 = 40;

/// Repeats five publications over ten windows, with new ones in between, so that the windows turn.
async fn repeat_over_windows(at_once: bool) {
    let world = World::new().await;
    let window = Duration::from_millis(WINDOW_MS);
    let kept = Retention::forever().once_window(window).unwrap();
    let handle = world.first_with(kept).await;
    let mut entries: Vec<(OnceKey, Fields)> = (0..6)
        .map(|number| (once(&number.to_string()), fields("a")))
        .collect();
    let mut last: BTreeMap<usize, StreamId> = BTreeMap::new();
    let (mut added, mut round) = (0, 0);
    let end = world.now_ms().await + 10 * WINDOW_MS;
    while world.now_ms().await < end {
        round += 1;
        entries[0].0 = once(&format!("new-{round}"));
        let before = world.now_ms().await;
        // Most often only a new one, so that it is the one for which a window turns.
        let count = if round % 4 == 0 { entries.len() } else { 1 };
        let entries = &entries[..count];
        let outcomes = if at_once {
            handle.add_all_once(entries).await
        } else {
            let mut outcomes = Vec::new();
            for (key, content) in entries {
                outcomes.push(handle.add_once(key, content).await);
            }
            outcomes
        };
        for (index, outcome) in outcomes.into_iter().enumerate() {
            match outcome.unwrap() {
                Published::Added(id) => {
                    added += 1;
                    let earlier = last.insert(index, id);
                    let early = earlier.is_some_and(|earlier| id.ms < earlier.ms + WINDOW_MS);
                    assert!(index == 0 || !early, "{index}: {id} after {earlier:?}");
                }
                Published::Duplicate(id) => {
                    assert_eq!(Some(&id), last.get(&index));
                    assert!(before < id.ms + 2 * WINDOW_MS, "{id} at {before}");
                }
            }
        }
    }
    // The new ones, and each of the five every one to two windows.
    assert!(
        (round + 5..=round + 55).contains(&added),
        "{added} in {round} rounds"
    );
    assert_eq!(world.query::<u64>(&["XLEN", "orders:3"]).await, added);
}

#[tokio::test]
async fn a_repetition_is_recognised_while_the_windows_turn() {
    repeat_over_windows(false).await;
}

#[tokio::test]
async fn a_repetition_in_a_batch_is_recognised_while_the_windows_turn() {
    repeat_over_windows(true).await;
}

/// Any allowed key is told from what the records keep for themselves, also once both windows are over.
#[tokio::test]
async fn no_key_of_a_publication_is_taken_for_the_mark_of_a_window() {
    for (at_once, key) in [(false, "#"), (true, "#"), (false, "f"), (true, "v")] {
        let world = World::new().await;
        let window = Duration::from_millis(WINDOW_MS);
        let kept = Retention::forever().once_window(window).unwrap();
        let handle = world.first_with(kept).await;
        for waits in [0, 3 * WINDOW_MS] {
            world.until(world.now_ms().await + waits).await;
            for key in [once(key), once("other")] {
                let content = fields("a");
                let published = if at_once {
                    let outcomes = handle.add_all_once(&[(key.clone(), content)]).await;
                    outcomes.into_iter().next().unwrap()
                } else {
                    handle.add_once(&key, &content).await
                };
                assert!(
                    matches!(published, Ok(Published::Added(_))),
                    "{key}: {published:?}"
                );
            }
        }
        assert_eq!(world.query::<u64>(&["XLEN", "orders:3"]).await, 4);
    }
}
