//! The guard: what every script checks, in which order, and that nothing is written before all checks are done.

use std::collections::BTreeMap;
use std::time::Duration;

use stream_lifecycle::{
    Claiming, Draining, Handle, LifecycleError, Reading, Rejection, Retention, ShardAdmin,
    ShardConsumer, ShardInspect, ShardProducer, ShardRecovery, ShardRedelivery, StreamId,
};

use crate::support::{
    BASE, Link, World, consumer, fields, group, id, lease, once, owner, registration,
};

/// The word for an outcome.
fn word<T>(outcome: Result<T, LifecycleError>) -> String {
    let Err(error) = outcome else {
        return "ok".to_owned();
    };
    let text = format!("{error:?}");
    let end = text.find([' ', '(', '{']).unwrap_or(text.len());
    text[..end].to_owned()
}

async fn many_once(handle: &Handle<Link>) -> String {
    let entries = [(once("k"), fields("a")), (once("l"), fields("a"))];
    word(handle.add_all_once(&entries).await.remove(1))
}

/// The operations on entries that have to be handled again.
async fn redelivery(handle: &Handle<Link>) -> [(&'static str, String); 6] {
    let (who, id) = (registration("c", 1, 1), id("1-0"));
    let rejection = Rejection::new("x");
    [
        ("attempt", word(handle.attempt(&who, id).await)),
        ("attempts", word(handle.attempts(&group("g"), &[id]).await)),
        (
            "postpone",
            word(handle.postpone(&who, id, Duration::ZERO).await),
        ),
        (
            "dead_letter",
            word(handle.dead_letter(&who, &[id], &rejection).await),
        ),
        (
            "ack_and_delete",
            word(handle.ack_and_delete(&who, &[id]).await),
        ),
        (
            "refresh_counting",
            word(handle.refresh_counting(&who, None).await),
        ),
    ]
}

/// Every operation of a handle, with its outcome.
pub(crate) async fn every_operation(handle: &Handle<Link>) -> BTreeMap<&'static str, String> {
    let who = registration("c", 1, 1);
    let lease = lease(handle, "o").await;
    let mut outcomes = BTreeMap::from([("lease", word(lease.clone()))]);
    if let Ok(lease) = lease {
        let claiming = Claiming::new(consumer("c"));
        outcomes.insert(
            "claim",
            word(handle.claim(&lease, &claiming, StreamId::ZERO).await),
        );
        outcomes.insert(
            "cleanup",
            word(handle.cleanup(&lease, Duration::ZERO, &[]).await),
        );
    }
    outcomes.insert("publish", word(handle.publish(&fields("a")).await));
    outcomes.insert(
        "add_once",
        word(handle.add_once(&once("k"), &fields("a")).await),
    );
    let same = [(once("k"), fields("a")), (once("l"), fields("a"))];
    for (name, outcome) in [
        (
            "publish_all",
            handle
                .publish_all(&[fields("a")])
                .await
                .pop()
                .unwrap()
                .map(drop),
        ),
        (
            "add_all_once",
            handle.add_all_once(&same).await.pop().unwrap().map(drop),
        ),
        (
            "ack_each",
            handle
                .ack_each(&who, &[id("1-0")])
                .await
                .pop()
                .unwrap()
                .map(drop),
        ),
    ] {
        outcomes.insert(name, word(outcome));
    }
    outcomes.extend(redelivery(handle).await);
    outcomes.insert("remove", word(handle.remove(&[id("1-0")]).await));
    outcomes.insert("peek", word(handle.peek(StreamId::ZERO, 1).await));
    outcomes.insert("snapshot", word(handle.snapshot(100).await));
    outcomes.insert("evidence", word(handle.drain_evidence().await));
    outcomes.insert("ensure_group", word(handle.ensure_group(&group("g")).await));
    outcomes.insert("register", word(handle.register(&who).await));
    outcomes.insert("refresh", word(handle.refresh(&who).await));
    outcomes.insert("ack", word(handle.ack(&group("g"), &[id("1-0")]).await));
    outcomes.insert("ack_as", word(handle.ack_as(&who, &[id("1-0")]).await));
    outcomes.insert("deregister", word(handle.deregister(&who).await));
    outcomes.insert("seal", word(handle.seal().await));
    outcomes.insert("unseal", word(handle.unseal().await));
    let draining = Draining::new();
    outcomes.insert("drained", word(handle.destroy_if_drained(&draining).await));
    outcomes
}

/// Another generation, whose key is another, destroyed and expired.
const ANOTHER_AND_GONE: [&str; 22] = [
    "generation",
    "2",
    "physical_key",
    "x",
    "incarnation",
    "0000000000000000000000000000000f",
    "state",
    "destroyed",
    "expires_ms",
    "1",
    "ttl_mode",
    "fixed",
    "ttl_ms",
    "1",
    "maxlen",
    "",
    "trim",
    "",
    "once_ms",
    "1000",
    "retention",
    "ttl=none;maxlen=none;once=1000",
];

/// Puts a shard into all bad states at once, then mends them one by one: the order of the answers is the order of the guard.
#[tokio::test]
async fn the_order_of_the_guard_is_a_golden_table() {
    let world = World::new().await;
    let lasting = Retention::forever()
        .fixed_ttl(Duration::from_secs(3_600))
        .unwrap();
    let handle = world.first_with(lasting).await;
    let lc = "{orders:3}:lc";
    let at = world.now_ms().await;
    let sane: BTreeMap<String, String> = world.query(&["HGETALL", lc]).await;
    let later = (at + 3_600_000).to_string();
    let stream = handle.keys().stream.to_string();
    // Everything is wrong at once.
    let () = world.query(&["DEL", &stream]).await;
    let () = world.query(&["SET", &stream, "a text"]).await;
    let () = world.query(&["DEL", lc]).await;
    let steps: [(&[&str], &str, &str); 9] = [
        (&[], "NotFound", "NotFound"),
        (
            &ANOTHER_AND_GONE,
            "GenerationMismatch",
            "GenerationMismatch",
        ),
        (
            &["generation", "1"],
            "GenerationMismatch",
            "GenerationMismatch",
        ),
        // The right incarnation under a wrong key.
        (
            &["incarnation", &sane["incarnation"]],
            "GenerationMismatch",
            "GenerationMismatch",
        ),
        // The right key with a wrong incarnation.
        (
            &[
                "physical_key",
                BASE,
                "incarnation",
                "0000000000000000000000000000000f",
            ],
            "GenerationMismatch",
            "GenerationMismatch",
        ),
        (
            &["incarnation", &sane["incarnation"]],
            "Destroyed",
            "Destroyed",
        ),
        (&["state", "sealed"], "Expired", "Expired"),
        (&["expires_ms", &later], "Sealed", "KeyConflict"),
        (&["state", "active"], "KeyConflict", "KeyConflict"),
    ];
    for (mends, publishing, acknowledging) in steps {
        if !mends.is_empty() {
            let () = world.query(&[&["HSET", lc], mends].concat()).await;
        }
        let before = world.dump().await;
        let answers = [
            word(handle.publish(&fields("a")).await),
            word(handle.add_once(&once("k"), &fields("a")).await),
            word(handle.ack(&group("g"), &[id("1-0")]).await),
        ];
        assert_eq!(
            answers,
            [publishing, publishing, acknowledging],
            "{mends:?}"
        );
        // Where the life of the shard forbids everything, every operation says the same.
        if publishing == acknowledging && publishing != "KeyConflict" {
            for (operation, answer) in every_operation(&handle).await {
                let expected = match (operation, publishing) {
                    // What is destroyed already stays so; what expired is removed unless a key is another's.
                    ("drained", "Destroyed") => "ok",
                    ("drained", "Expired") => "KeyConflict",
                    _ => publishing,
                };
                assert_eq!(answer, expected, "{operation} after {mends:?}");
            }
        }
        assert_eq!(world.dump().await, before, "{mends:?}");
    }
}

#[tokio::test]
async fn every_operation_of_a_stale_handle_is_refused_and_writes_nothing() {
    let world = World::new().await;
    let handle = world.first().await;
    handle.destroy().await.unwrap();
    let before = world.dump().await;
    let outcomes = every_operation(&handle).await;
    assert_eq!(world.dump().await, before);
    for (operation, outcome) in outcomes {
        // A generation that is destroyed may be destroyed again.
        let expected = if operation == "drained" {
            "ok"
        } else {
            "Destroyed"
        };
        assert_eq!(outcome, expected, "{operation}");
    }
}

/// Any of the keys 2 to 5 may be of a wrong type: whatever needs it is refused, and no operation leaves half a change.
#[tokio::test]
async fn no_script_writes_before_failing() {
    for index in 1..5 {
        let world = World::new().await;
        let retention = Retention::forever()
            .sliding_ttl(Duration::from_secs(60))
            .unwrap();
        let handle = world.first_with(retention).await;
        handle.publish(&fields("first")).await.unwrap();
        let key = handle.keys().five()[index].to_owned();
        let () = world.query(&["DEL", &key]).await;
        let () = world.query(&["SET", &key, "a text"]).await;
        let before = world.dump().await;
        let who = registration("c", 1, 1);
        let refused: Vec<(&str, String)> = match index {
            1 => vec![
                ("publish", word(handle.publish(&fields("a")).await)),
                (
                    "publish_all",
                    word(handle.publish_all(&[fields("a")]).await.remove(0)),
                ),
                ("add_all_once", many_once(&handle).await),
                (
                    "add_once",
                    word(handle.add_once(&once("k"), &fields("a")).await),
                ),
                ("remove", word(handle.remove(&[id("1-0")]).await)),
                ("peek", word(handle.peek(StreamId::ZERO, 1).await)),
                ("snapshot", word(handle.snapshot(100).await)),
                ("ensure_group", word(handle.ensure_group(&group("g")).await)),
                ("register", word(handle.register(&who).await)),
                ("ack", word(handle.ack(&group("g"), &[id("1-0")]).await)),
                ("status", word(handle.status().await)),
                ("destroy", word(handle.destroy().await)),
            ],
            2 => vec![
                ("lease", word(lease(&handle, "o").await)),
                ("ensure_group", word(handle.ensure_group(&group("g")).await)),
                ("register", word(handle.register(&who).await)),
                ("refresh", word(handle.refresh(&who).await)),
                ("ack", word(handle.ack(&group("g"), &[id("1-0")]).await)),
                ("destroy", word(handle.destroy().await)),
            ],
            _ => vec![
                (
                    "add_once",
                    word(handle.add_once(&once("k"), &fields("a")).await),
                ),
                ("add_all_once", many_once(&handle).await),
                ("destroy", word(handle.destroy().await)),
            ],
        };
        let more = redelivery(&handle).await;
        let more = more.into_iter().filter(|(operation, _)| match index {
            1 => *operation != "attempts",
            2 => true,
            _ => false,
        });
        for (operation, outcome) in refused.into_iter().chain(more) {
            assert_eq!(outcome, "KeyConflict", "{operation} with key {index}");
        }
        assert_eq!(world.dump().await, before, "key {index}");
    }
}

#[tokio::test]
async fn a_lifecycle_of_another_type_is_a_conflict() {
    let world = World::new().await;
    let () = world.query(&["SET", "{orders:3}:lc", "a text"]).await;
    let opened = world.shard().open().await.unwrap_err();
    assert!(
        matches!(&opened, LifecycleError::KeyConflict { key, .. } if key.contains("{orders:3}:lc")),
        "{opened}"
    );
}

#[tokio::test]
async fn bad_input_is_refused_before_anything_is_sent() {
    let world = World::new().await;
    let handle = world.first().await;
    let calls = async || -> u64 {
        let text: String = world.query(&["INFO", "stats"]).await;
        let line = text
            .lines()
            .find_map(|line| line.strip_prefix("total_commands_processed:"));
        line.unwrap().trim().parse().unwrap()
    };
    let before = calls().await;
    let (group_g, owner_o) = (group("g"), owner("o"));
    let lease = handle.lease_acquire(&group_g, &owner_o, Duration::ZERO);
    let reading = Reading::new(1).block(Duration::ZERO);
    let keep = Draining::new().keep(Duration::ZERO);
    let refused = [
        word(handle.remove(&[]).await),
        word(handle.ack(&group("g"), &[]).await),
        word(handle.ack(&group("g"), &vec![StreamId::ZERO; 1_001]).await),
        word(handle.snapshot(0).await),
        word(handle.snapshot(100_001).await),
        word(handle.peek(StreamId::ZERO, 1_001).await),
        word(
            handle
                .read(&group("g"), &consumer("c"), &Reading::new(0))
                .await,
        ),
        word(handle.read(&group("g"), &consumer("c"), &reading).await),
        word(handle.destroy_if_drained(&keep).await),
        word(lease.await),
    ];
    assert!(refused.iter().all(|word| word == "Invalid"), "{refused:?}");
    assert_eq!(calls().await, before + 1);
}
