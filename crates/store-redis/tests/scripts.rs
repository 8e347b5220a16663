//! How the store uses Redis: scripts survive their loss, and every step costs what it should.
#![allow(clippy::unwrap_used)]

mod support;

use std::collections::BTreeSet;

use coordinator_core::time::Millis;
use store::conformance::{Scene, full_record, member_id, plain_record};
use store::{MemberProgress, PageCursor, Renewal, Renewed};
use store_redis::RedisConfig;
use support::{ask, command_counts, raised, scene, server};

const LEASE: Millis = Millis::new(15_000);

/// One of everything that the store can do.
async fn do_everything(scene: &Scene) {
    scene.store.check_ready().await.unwrap();
    scene.store.watch_over(LEASE, None).await.unwrap();
    let record = full_record(&scene.id);
    let known = scene.create(&record).await;
    let renewal = Renewal {
        member: member_id("active"),
        progress: Some(MemberProgress::default()),
    };
    let renewed = scene
        .store
        .renew(&scene.id, &known, &[renewal], LEASE)
        .await;
    assert!(matches!(renewed, Ok(Renewed::Ok { .. })), "{renewed:?}");
    scene.change(&raised(u64::MAX)).await;
    let stale = scene.store.renew(&scene.id, &known, &[], LEASE).await;
    assert!(matches!(stale, Ok(Renewed::Stale(_))), "{stale:?}");
    scene.store.progress(&scene.id).await.unwrap();
    scene.store.groups(&PageCursor::default()).await.unwrap();
    scene.remove().await;
}

/// Case C07: scripts are lost at a restart and by SCRIPT FLUSH; the first attempt of each step succeeds all the same.
#[tokio::test]
async fn every_step_succeeds_after_the_scripts_are_lost_c07() {
    let server = server();
    let scene = scene(RedisConfig::new([server.url()])).await;
    let mut connection = server.connection().await.unwrap();
    do_everything(&scene).await;
    let _: () = ask(&mut connection, &["SCRIPT", "FLUSH"]).await;
    let _: () = ask(&mut connection, &["CONFIG", "RESETSTAT"]).await;
    do_everything(&scene).await;
    let counts = command_counts(&mut connection).await;
    assert_eq!(
        counts["eval"], 9,
        "each script was sent as text once: {counts:?}"
    );
    do_everything(&scene).await;
    let counts = command_counts(&mut connection).await;
    assert_eq!(counts["eval"], 9, "and by its hash from then on");
    assert!(!counts.contains_key("multi") && !counts.contains_key("exec"));
}

/// Whatever reads all keys, or a collection of any length at once, is not among the commands. What a group has is bounded by its members.
#[tokio::test]
async fn nothing_unbounded_is_asked_for() {
    let server = server();
    let scene = scene(RedisConfig::new([server.url()])).await;
    let mut connection = server.connection().await.unwrap();
    let _: () = ask(&mut connection, &["CONFIG", "RESETSTAT"]).await;
    do_everything(&scene).await;
    let counts = command_counts(&mut connection).await;
    let used: BTreeSet<&str> = counts.keys().map(String::as_str).collect();
    let allowed = BTreeSet::from([
        "config|resetstat",
        "info",
        "eval",
        "evalsha",
        "time",
        "get",
        "set",
        "del",
        "exists",
        "hget",
        "hmget",
        "hset",
        "hdel",
        "hscan",
        "zadd",
        "zrem",
        "zrange",
        "zscore",
        "publish",
        "sadd",
        "srem",
        "sscan",
    ]);
    let others: Vec<_> = used.difference(&allowed).collect();
    assert!(others.is_empty(), "{others:?}");
}

/// The whole cost of a steady heartbeat, shared by all that arrived meanwhile (rule H17): one command, none of them a write of the record.
#[tokio::test]
async fn a_batch_of_100_members_is_renewed_by_one_command_h17() {
    let server = server();
    let scene = scene(RedisConfig::new([server.url()])).await;
    let mut connection = server.connection().await.unwrap();
    let names: Vec<String> = (0..100).map(|number| format!("member-{number}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let known = scene.create(&plain_record(&scene.id, &names, None)).await;
    let renewals: Vec<Renewal> = names
        .iter()
        .map(|name| Renewal {
            member: member_id(name),
            progress: Some(MemberProgress::default()),
        })
        .collect();
    // Once before, so that Redis has the script.
    scene.renew(&known, &[], LEASE).await;
    let _: () = ask(&mut connection, &["CONFIG", "RESETSTAT"]).await;
    let renewed = scene
        .store
        .renew(&scene.id, &known, &renewals, LEASE)
        .await
        .unwrap();
    let counts = command_counts(&mut connection).await;
    let Renewed::Ok { deadline, .. } = renewed else {
        panic!("the record did not change: {renewed:?}");
    };
    let expected = [
        ("evalsha", 1),
        ("hmget", 1),
        ("hset", 1),
        ("time", 1),
        ("zadd", 1),
    ];
    let counted: Vec<(&str, u64)> = counts
        .iter()
        .map(|(name, count)| (name.as_str(), *count))
        .filter(|(name, _)| *name != "config|resetstat" && *name != "info")
        .collect();
    assert_eq!(counted, expected);
    let found = scene.load().await.unwrap();
    assert!(
        found
            .record
            .members
            .values()
            .all(|it| it.lease_deadline == Some(deadline))
    );
}

/// Scripts take so many arguments at once only; nobody need know.
#[tokio::test]
async fn ten_thousand_members_are_renewed_and_committed() {
    let server = server();
    let scene = scene(RedisConfig::new([server.url()])).await;
    let names: Vec<String> = (0..10_000)
        .map(|number| format!("member-{number}"))
        .collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let deadline = scene.now().await.plus(LEASE);
    let known = scene
        .create(&plain_record(&scene.id, &names, Some(deadline)))
        .await;
    let later = Millis::new(30_000);
    let renewed = scene.renew(&known, &names, later).await;
    assert!(matches!(renewed, Renewed::Ok { .. }));
    let read = scene.load().await.unwrap();
    let expiries: Vec<_> = names
        .iter()
        .map(|name| coordinator_core::write::Write::MemberExpired {
            member: member_id(name),
            judged: read.record.members[&member_id(name)].lease_deadline,
            at: read.now,
        })
        .collect();
    let after = scene.change(&expiries).await;
    assert!(after.record.members.values().all(|it| !it.is_live()));
    let mut connection = server.connection().await.unwrap();
    let leases = format!("{}:leases", support::GROUP);
    assert_eq!(ask::<u64>(&mut connection, &["ZCARD", &leases]).await, 0);
}

/// A cluster takes several keys only of one slot, and moves no data between nodes for anybody.
#[tokio::test]
async fn a_group_is_named_before_it_is_written_and_cleaned_after_it_is_removed() {
    let server = server();
    let scene = scene(RedisConfig::new([server.url()])).await;
    let client = server.client();
    let monitor = client.get_async_monitor().await.unwrap();
    let lines = tokio::spawn(async move {
        use futures_util::StreamExt;
        let mut lines = Vec::new();
        let mut stream = monitor.into_on_message::<String>();
        while let Some(line) = stream.next().await {
            let is_last = line.contains("\"SREM\"");
            lines.push(line);
            if is_last {
                return lines;
            }
        }
        lines
    });
    scene.create_members(None).await;
    scene.remove().await;
    let lines = lines.await.unwrap();
    let position = |word: &str| {
        let word = format!("\"{word}\"");
        lines.iter().position(|line| line.contains(&word)).unwrap()
    };
    let record = lines.iter().position(|line| {
        line.contains(" lua]") && line.contains("\"HSET\"") && line.contains(":metadata")
    });
    let removed = lines.iter().position(|line| {
        line.contains(" lua]") && line.contains("\"DEL\"") && line.contains(":metadata")
    });
    assert!(position("SADD") < record.unwrap());
    assert!(removed.unwrap() < position("SREM"));
}
