//! Publishing: at least once, and exactly once whatever happens on the way.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use stream_lifecycle::{
    Handle, LifecycleError, Published, Reconnecting, Retention, ShardAdmin, ShardInspect,
    ShardProducer, ShardRef, StreamId, Trim,
};
use testkit::TcpProxy;

use crate::support::{World, fields, once, query};

#[tokio::test]
async fn publishing_never_makes_a_stream() {
    let world = World::new().await;
    let handle = world.first().await;
    let () = world.query(&["DEL", "orders:3"]).await;
    assert!(matches!(
        handle.publish(&fields("a")).await,
        Err(LifecycleError::DataLost { .. })
    ));
    let refused = handle.add_once(&once("k"), &fields("a")).await;
    assert!(matches!(refused, Err(LifecycleError::DataLost { .. })));
    assert_eq!(world.query::<u64>(&["EXISTS", "orders:3"]).await, 0);
    // A refused publication leaves no record behind: it can be made as soon as the stream is there again.
    handle_group(&handle).await;
    let added = handle.add_once(&once("k"), &fields("a")).await.unwrap();
    assert!(matches!(added, Published::Added(_)));
}

async fn handle_group(handle: &Handle<crate::support::Link>) {
    use stream_lifecycle::ShardConsumer;
    let ensured = handle
        .ensure_group(&crate::support::group("g"))
        .await
        .unwrap();
    assert!(ensured.data_lost);
}

/// Case C46: the same key is added once; other content under it is a conflict that names the original.
#[tokio::test]
async fn a_repeated_publication_is_told_the_original_id_c46() {
    let world = World::new().await;
    let handle = world.first().await;
    let Published::Added(id) = handle.add_once(&once("k"), &fields("a")).await.unwrap() else {
        panic!("nothing was there before");
    };
    let again = handle.add_once(&once("k"), &fields("a")).await.unwrap();
    assert_eq!(again, Published::Duplicate(id));
    let other = handle.add_once(&once("k"), &fields("b")).await.unwrap_err();
    assert!(matches!(other, LifecycleError::IdempotencyConflict { original } if original == id));
    let digest = fields("a").digest();
    let same = handle
        .add_once_as(&once("k"), digest, &fields("other text"))
        .await
        .unwrap();
    assert_eq!(same, Published::Duplicate(id));
    assert_eq!(world.query::<u64>(&["XLEN", "orders:3"]).await, 1);
}

/// Case C46: after a deletion or a trim the key is still known, and a duplicate writes nothing.
#[tokio::test]
async fn a_duplicate_writes_nothing_even_after_its_entry_is_gone_c46() {
    let world = World::new().await;
    let kept = Retention::forever().trim(Trim::Exact(2)).unwrap();
    let kept = kept.sliding_ttl(Duration::from_secs(600)).unwrap();
    let handle = world.first_with(kept).await;
    let first = handle
        .add_once(&once("k0"), &fields("a"))
        .await
        .unwrap()
        .id();
    for number in 1..5 {
        let key = once(&format!("k{number}"));
        handle.add_once(&key, &fields("a")).await.unwrap();
    }
    let last = handle
        .add_once(&once("k4"), &fields("a"))
        .await
        .unwrap()
        .id();
    assert_eq!(handle.remove(&[last]).await.unwrap(), 1);
    let before = world.dump().await;
    let ends: u64 = world.query(&["PEXPIRETIME", "orders:3"]).await;
    world.until(world.now_ms().await + 5).await;
    let repeat = handle.add_once(&once("k0"), &fields("a")).await.unwrap();
    assert_eq!(repeat, Published::Duplicate(first));
    let repeat = handle.add_once(&once("k4"), &fields("a")).await.unwrap();
    assert_eq!(repeat, Published::Duplicate(last));
    assert_eq!(world.dump().await, before);
    assert_eq!(world.query::<u64>(&["PEXPIRETIME", "orders:3"]).await, ends);
}

/// Case C46: N clients × M keys give M entries, across trims, SCRIPT FLUSH, reconnects and lost answers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn n_clients_and_m_keys_give_m_entries_whatever_happens_on_the_way_c46() {
    const CLIENTS: usize = 6;
    const KEYS: usize = 120;
    let world = World::new().await;
    let kept = Retention::forever().trim(Trim::Exact(20)).unwrap();
    world.first_with(kept).await;
    let proxy = Arc::new(TcpProxy::start(world.server.address()).await.unwrap());
    let mut clients = Vec::new();
    for client in 0..CLIENTS {
        let (proxy, address) = (Arc::clone(&proxy), proxy.address());
        let flush = world.link.clone();
        clients.push(tokio::spawn(async move {
            let shard = ShardRef::new(through(&address), crate::support::base());
            let handle = patiently(|| shard.open()).await;
            let mut ids = BTreeMap::new();
            let mut added = 0;
            for number in 0..KEYS {
                let number = (number + client * 17) % KEYS;
                match number % 40 {
                    0 => proxy.drop_replies(2),
                    13 => proxy.cut(),
                    26 => query(&flush, &["SCRIPT", "FLUSH"]).await,
                    _ => {}
                }
                let (key, content) = (once(&format!("k{number}")), fields(&number.to_string()));
                let published = patiently(|| handle.add_once(&key, &content)).await;
                added += usize::from(matches!(published, Published::Added(_)));
                ids.insert(number, published.id());
            }
            (ids, added)
        }));
    }
    let mut ids: BTreeMap<usize, BTreeSet<StreamId>> = BTreeMap::new();
    let mut added = 0;
    for client in clients {
        let (seen, count) = client.await.unwrap();
        added += count;
        for (number, id) in seen {
            ids.entry(number).or_default().insert(id);
        }
    }
    assert!(ids.values().all(|ids| ids.len() == 1), "{ids:?}");
    assert!(added <= KEYS, "{added}");
    let status = world.shard().open().await.unwrap().status().await.unwrap();
    let stream = status.stream.unwrap();
    assert_eq!((stream.entries_added, stream.length), (KEYS as u64, 20));
}

/// A connection over a proxy that is made anew when it breaks.
fn through(address: &str) -> Reconnecting {
    let client = redis::Client::open(format!("redis://{address}/")).unwrap();
    Reconnecting::new(move || {
        let client = client.clone();
        async move { client.get_multiplexed_async_connection().await }
    })
}

/// Repeats what may be repeated: also where the outcome is open, since what is repeated is safe to repeat.
async fn patiently<T, F>(mut attempt: impl FnMut() -> F) -> T
where
    F: Future<Output = Result<T, LifecycleError>>,
{
    for _ in 0..50 {
        match attempt().await {
            Ok(value) => return value,
            Err(LifecycleError::Ambiguous(_)) => {}
            Err(error) if error.is_retryable() => {}
            Err(error) => panic!("{error:?}"),
        }
    }
    panic!("fifty attempts in vain");
}

/// Case C46, negative control: with the mark set before the entry is added, an answer lost between the two loses the entry.
#[tokio::test]
async fn a_mark_that_is_set_before_the_entry_loses_it_c46() {
    let world = World::new().await;
    let handle = world.first().await;
    let mark_first = async |dies_between: bool| {
        let is_new: bool = world.query(&["HSETNX", "marks", "k", "1"]).await;
        if is_new && !dies_between {
            handle.publish(&fields("a")).await.unwrap();
        }
    };
    // The first attempt dies between its two steps; the repetition finds the mark and believes it.
    mark_first(true).await;
    mark_first(false).await;
    assert_eq!(world.query::<u64>(&["XLEN", "orders:3"]).await, 0);
    // Entry and record in one step know no between.
    handle.add_once(&once("k"), &fields("a")).await.unwrap();
    handle.add_once(&once("k"), &fields("a")).await.unwrap();
    assert_eq!(world.query::<u64>(&["XLEN", "orders:3"]).await, 1);
}

#[tokio::test]
async fn a_record_lives_at_least_one_window_and_less_than_two() {
    let world = World::new().await;
    let window = 200;
    let kept = Retention::forever()
        .once_window(Duration::from_millis(window))
        .unwrap();
    let handle = world.first_with(kept).await;
    let first = handle
        .add_once(&once("k"), &fields("a"))
        .await
        .unwrap()
        .id();
    let made = first.ms;
    while world.now_ms().await < made + window {
        let before = world.now_ms().await;
        let again = handle.add_once(&once("k"), &fields("a")).await.unwrap();
        assert!(again == Published::Duplicate(first) || before >= made + window);
    }
    world.until(made + 2 * window).await;
    let later = handle.add_once(&once("k"), &fields("a")).await.unwrap();
    assert!(matches!(later, Published::Added(_)));
    // What is older than two windows was purged: each hash has its mark, and at most what is younger.
    world.until(later.id().ms + 2 * window).await;
    for number in 0..4 {
        let at = world.now_ms().await;
        handle
            .add_once(&once(&format!("n{number}")), &fields("a"))
            .await
            .unwrap();
        world.until(at + window).await;
    }
    let sizes: Vec<u64> = vec![
        world.query(&["HLEN", &handle.keys().records[0]]).await,
        world.query(&["HLEN", &handle.keys().records[1]]).await,
    ];
    assert!(sizes.iter().all(|size| *size <= 3), "{sizes:?}");
}

/// Case C07: scripts are lost in the middle of a pipeline; every item still has its outcome, in order.
#[tokio::test]
async fn pipelined_publications_survive_the_loss_of_scripts_in_order_c07() {
    let world = World::new().await;
    let handle = world.first().await;
    for round in 0..3 {
        let entries: Vec<_> = (0..64)
            .map(|number| fields(&format!("{round}:{number}")))
            .collect();
        let () = world.query(&["SCRIPT", "FLUSH"]).await;
        let ids = handle.publish_all(&entries).await;
        let ids: Vec<StreamId> = ids.into_iter().map(Result::unwrap).collect();
        assert!(ids.is_sorted());
        let read = handle.peek(ids[0], 64).await.unwrap();
        let values: Vec<_> = read.into_iter().map(|entry| entry.fields).collect();
        assert_eq!(values, entries);
    }
}

/// Case C07: with more than one call on the way, none may be refused for want of its script and overtaken by the next.
#[tokio::test]
async fn the_first_of_several_calls_brings_the_script_so_that_none_overtakes_it_c07() {
    let world = World::new().await;
    let handle = world.first().await;
    let entries: Vec<_> = (0..200).map(|number| fields(&number.to_string())).collect();
    let () = world.query(&["SCRIPT", "FLUSH"]).await;
    let () = world.query(&["CONFIG", "RESETSTAT"]).await;
    let ids = handle.publish_all(&entries).await;
    let ids: Vec<StreamId> = ids.into_iter().map(Result::unwrap).collect();
    assert!(ids.is_sorted());
    let errors: String = world.query(&["INFO", "errorstats"]).await;
    assert!(!errors.contains("NOSCRIPT"), "{errors}");
}

#[tokio::test]
async fn each_item_of_a_pipeline_has_an_outcome_of_its_own() {
    let world = World::new().await;
    let handle = world.first().await;
    let entries = [
        (once("a"), fields("1")),
        (once("a"), fields("2")),
        (once("a"), fields("1")),
        (once("b"), fields("3")),
    ];
    let outcomes = handle.add_all_once(&entries).await;
    assert!(matches!(outcomes[0], Ok(Published::Added(_))));
    assert!(matches!(
        outcomes[1],
        Err(LifecycleError::IdempotencyConflict { .. })
    ));
    assert!(matches!(outcomes[2], Ok(Published::Duplicate(_))));
    assert!(matches!(outcomes[3], Ok(Published::Added(_))));
}

#[tokio::test]
async fn keys_of_one_generation_are_not_known_in_the_next() {
    let world = World::new().await;
    let old = world.first().await;
    old.add_once(&once("k"), &fields("a")).await.unwrap();
    old.destroy().await.unwrap();
    let next = crate::support::creation(2);
    let new = world
        .shard()
        .recreate(old.generation(), &next)
        .await
        .unwrap();
    let added = new.add_once(&once("k"), &fields("a")).await.unwrap();
    assert!(matches!(added, Published::Added(_)));
}

/// Case C49: content that JSON, numbers or texts could spoil goes through untouched.
#[tokio::test]
async fn content_is_kept_byte_by_byte_c49() {
    let world = World::new().await;
    let handle = world.first().await;
    let values: [&[u8]; 6] = [
        b"[]",
        b"9007199254740993",
        b"\x00\xff\r\n",
        b"",
        b"1e309",
        b"{}",
    ];
    let content = stream_lifecycle::Fields::new(values.map(|value| (value, value))).unwrap();
    handle.publish(&content).await.unwrap();
    handle
        .add_once(&once("9007199254740993"), &content)
        .await
        .unwrap();
    let entries = handle.snapshot(10).await.unwrap();
    assert!(entries.iter().all(|entry| entry.fields == content));
    let near = handle
        .add_once(&once("9007199254740992"), &content)
        .await
        .unwrap();
    assert!(matches!(near, Published::Added(_)));
}

/// What became of each of a list of publications, with the place of the first one instead of its id.
fn outcomes(
    published: &[Result<Published, LifecycleError>],
    places: &mut BTreeMap<StreamId, usize>,
) -> Vec<String> {
    let mut place = |id: StreamId| {
        let next = places.len();
        *places.entry(id).or_insert(next)
    };
    let outcomes = published.iter().map(|outcome| match outcome {
        Ok(Published::Added(id)) => format!("added {}", place(*id)),
        Ok(Published::Duplicate(id)) => format!("duplicate {}", place(*id)),
        Err(LifecycleError::IdempotencyConflict { original }) => {
            format!("conflict {}", place(*original))
        }
        Err(other) => panic!("{other:?}"),
    });
    outcomes.collect()
}

/// Many at once have the outcomes that they have one by one, whatever is repeated within a batch and between batches.
#[tokio::test]
async fn batches_do_what_single_publications_do() {
    let world = World::new().await;
    let many = world.first().await;
    let single = world
        .shard_at("orders:4")
        .create(&crate::support::creation(1))
        .await
        .unwrap();
    let mut random = crate::support::Random::new(3);
    let (mut places_many, mut places_single) = (BTreeMap::new(), BTreeMap::new());
    for _ in 0..60 {
        let entries: Vec<_> = (0..=random.below(90))
            .map(|_| {
                let key = once(&random.below(2_000).to_string());
                (key, fields(&random.below(2).to_string()))
            })
            .collect();
        let batch = many.add_all_once(&entries).await;
        let mut one_by_one = Vec::new();
        for (key, content) in &entries {
            one_by_one.push(single.add_once(key, content).await);
        }
        assert_eq!(
            outcomes(&batch, &mut places_many),
            outcomes(&one_by_one, &mut places_single)
        );
    }
    let values = async |handle: &Handle<crate::support::Link>| -> Vec<_> {
        let entries = handle.snapshot(10_000).await.unwrap();
        entries.into_iter().map(|entry| entry.fields).collect()
    };
    assert_eq!(values(&many).await, values(&single).await);
}
