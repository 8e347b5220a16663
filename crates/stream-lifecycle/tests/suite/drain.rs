//! Rule G4: a stream is removed only with proof that it is drained, and the proof and the removal are one step.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use redis::RedisResult;
use stream_lifecycle::{
    DrainProof, Draining, Handle, LifecycleError, Removal, ShardAdmin, ShardConsumer, ShardInspect,
    ShardProducer, StreamId,
};

use crate::support::{Link, World, fields, group, query, read, try_query};

/// The open condition, or `drained`.
async fn condition(handle: &Handle<Link>, draining: &Draining) -> String {
    match handle.destroy_if_drained(draining).await {
        Ok(_) => "drained".to_owned(),
        Err(LifecycleError::NotDrained {
            group,
            condition,
            pending,
            lag,
        }) => {
            format!("{group} {condition} {pending} {lag:?}")
        }
        Err(other) => panic!("{other}"),
    }
}

#[tokio::test]
async fn each_open_condition_is_named_g4() {
    let world = World::new().await;
    let handle = world.first().await;
    let strict = Draining::new().required([group("g")]);
    let id = handle.publish(&fields("a")).await.unwrap();
    assert_eq!(condition(&handle, &strict).await, "g unread 0 Some(1)");
    read(&handle, "c", 1).await;
    assert_eq!(condition(&handle, &strict).await, "g pending 1 Some(0)");
    handle.ack(&group("g"), &[id]).await.unwrap();
    let other = Draining::new().required([group("g"), group("h")]);
    assert_eq!(condition(&handle, &other).await, "h missing 0 None");
    // A group of plain clients counts too.
    let () = world
        .query(&["XGROUP", "CREATE", "orders:3", "plain", "0"])
        .await;
    assert_eq!(condition(&handle, &strict).await, "plain unread 0 Some(1)");
    let () = world
        .query(&["XGROUP", "DESTROY", "orders:3", "plain"])
        .await;
    assert_eq!(condition(&handle, &strict).await, "drained");
    assert_eq!(condition(&handle, &strict).await, "drained");
}

/// A lag that is unknown, or wrong, proves nothing; the weaker proof does without it.
#[tokio::test]
async fn an_unknown_or_wrong_lag_is_no_proof_g4() {
    let world = World::new().await;
    let handle = world.first().await;
    let entries: Vec<_> = (0..4).map(|number| fields(&number.to_string())).collect();
    let ids: Vec<StreamId> = handle
        .publish_all(&entries)
        .await
        .into_iter()
        .map(Result::unwrap)
        .collect();
    // A lag of 0 with entries unread, on servers that believe what they are told.
    let () = world
        .query(&["XGROUP", "SETID", "orders:3", "g", "0", "ENTRIESREAD", "4"])
        .await;
    let open = condition(&handle, &Draining::new()).await;
    assert!(open.starts_with("g unread 0 "), "{open}");
    // An entry that was deleted behind the position makes the lag unknown, with nothing left to read.
    read(&handle, "c", 3).await;
    handle.ack(&group("g"), &ids[..3]).await.unwrap();
    handle.remove(&ids[3..]).await.unwrap();
    assert_eq!(condition(&handle, &Draining::new()).await, "g lag 0 None");
    let entries_only = Draining::new().proof(DrainProof::Entries);
    assert_eq!(condition(&handle, &entries_only).await, "drained");
}

/// Case C25: a lag below zero, of a server that believes what it is told, is unknown: it is neither a failure nor a proof.
#[tokio::test]
async fn a_lag_below_zero_is_unknown_g4() {
    let world = World::new().await;
    let handle = world.first().await;
    let id = handle.publish(&fields("a")).await.unwrap();
    let set = |at: String| {
        let words = ["XGROUP", "SETID", "orders:3", "g", &at, "ENTRIESREAD", "9"];
        let words = words.map(str::to_owned);
        let link = world.link.clone();
        async move {
            let () = query(&link, &words.each_ref().map(String::as_str)).await;
        }
    };
    set("0".to_owned()).await;
    let status = handle.status().await.unwrap().stream.unwrap();
    assert!(status.groups[0].lag.is_none_or(|lag| lag <= 1));
    let open = condition(&handle, &Draining::new()).await;
    assert!(open.starts_with("g unread 0 "), "{open}");
    set(id.to_string()).await;
    let status = handle.status().await.unwrap().stream.unwrap();
    let lag = status.groups[0].lag;
    let open = condition(&handle, &Draining::new()).await;
    match lag {
        None => assert_eq!(open, "g lag 0 None"),
        // Newer servers don't believe it, and are right that nothing is left.
        Some(lag) => assert_eq!((lag, open.as_str()), (0, "drained")),
    }
}

#[tokio::test]
async fn entries_that_no_group_could_read_are_no_proof_and_a_missing_stream_is_g4() {
    let world = World::new().await;
    let handle = world.first().await;
    let () = world.query(&["XGROUP", "DESTROY", "orders:3", "g"]).await;
    handle.publish(&fields("a")).await.unwrap();
    assert_eq!(
        condition(&handle, &Draining::new()).await,
        " missing 0 None"
    );
    let () = world.query(&["DEL", "orders:3"]).await;
    assert_eq!(condition(&handle, &Draining::new()).await, "drained");
}

/// One round of a race: plain producers add where they were told to, while the stream is drained and removed.
struct Race {
    accepted: BTreeSet<StreamId>,
    handled: BTreeSet<StreamId>,
}

async fn race<F>(world: &World, handle: &Handle<Link>, retire: F) -> Race
where
    F: AsyncFn(&Handle<Link>) -> bool,
{
    let stop = Arc::new(AtomicBool::new(false));
    let mut producers = Vec::new();
    for number in 0..4 {
        let (link, stop) = (world.connect().await, Arc::clone(&stop));
        let key = handle.keys().stream.to_string();
        producers.push(tokio::spawn(async move {
            let mut accepted = Vec::new();
            while !stop.load(Ordering::SeqCst) {
                let words = ["XADD", &key, "NOMKSTREAM", "*", "v", &number.to_string()];
                let added: RedisResult<Option<String>> = try_query(&link, &words).await;
                // Nil: the route is stale, and the producer knows it.
                let Ok(Some(id)) = added else { break };
                accepted.push(id.parse::<StreamId>().unwrap());
                // A pause, in which the stream is drained for a moment.
                tokio::task::yield_now().await;
                let () = query(&link, &["PING"]).await;
            }
            accepted
        }));
    }
    let mut handled = BTreeSet::new();
    loop {
        let ids = read(handle, "c", 100).await;
        if !ids.is_empty() {
            handle.ack(&group("g"), &ids).await.unwrap();
            handled.extend(ids);
        }
        if retire(handle).await {
            break;
        }
        if handled.len() > 400 {
            stop.store(true, Ordering::SeqCst);
        }
    }
    let mut accepted = BTreeSet::new();
    for producer in producers {
        accepted.extend(producer.await.unwrap());
    }
    Race { accepted, handled }
}

/// Case C47: removal with proof never loses an accepted entry, whatever plain producers do meanwhile.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drained_removal_never_loses_an_accepted_entry_c47() {
    let world = World::new().await;
    for number in 0..40 {
        let shard = world.shard_at(&format!("orders:{number}"));
        let handle = shard.create(&crate::support::creation(1)).await.unwrap();
        let race = race(&world, &handle, async |handle| {
            match handle.destroy_if_drained(&Draining::new()).await {
                Ok(removal) => removal == Removal::Destroyed,
                Err(LifecycleError::NotDrained { .. }) => false,
                Err(other) => panic!("{other}"),
            }
        })
        .await;
        assert_eq!(race.accepted, race.handled);
    }
}

/// Case C47, negative control: looking first and removing second loses what is accepted between the two.
#[tokio::test]
async fn looking_first_and_removing_second_loses_entries_c47() {
    let world = World::new().await;
    let handle = world.first().await;
    let groups: Vec<Vec<redis::Value>> = world.query(&["XINFO", "GROUPS", "orders:3"]).await;
    assert_eq!(groups.len(), 1);
    let pending: (u64, Option<String>, Option<String>, Option<Vec<String>>) =
        world.query(&["XPENDING", "orders:3", "g"]).await;
    assert_eq!(pending.0, 0, "drained, as it seems");
    // The producer with an old route comes in between, and is told that its entry is accepted.
    let accepted: Option<String> = world
        .query(&["XADD", "orders:3", "NOMKSTREAM", "*", "v", "late"])
        .await;
    assert!(accepted.is_some());
    handle.destroy().await.unwrap();
    assert_eq!(
        world.keys().await,
        ["{orders:3}:lc"],
        "and now it is nowhere"
    );
    // The same order of events with proof and removal in one step.
    let other = world
        .shard_at("orders:4")
        .create(&crate::support::creation(1))
        .await
        .unwrap();
    let () = world
        .query(&["XADD", "orders:4", "NOMKSTREAM", "*", "v", "late"])
        .await;
    assert_eq!(
        condition(&other, &Draining::new()).await,
        "g unread 0 Some(1)"
    );
}
