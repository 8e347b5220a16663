//! Attempts at handling entries, counted before each, and entries that wait for their time.

use std::time::Duration;

use stream_lifecycle::{
    Attempt, Claiming, Handle, LifecycleError, Registration, Retention, ShardAdmin, ShardConsumer,
    ShardProducer, ShardRecovery, ShardRedelivery, StreamId,
};
use testkit::TcpProxy;

use crate::support::{
    Link, World, consumer, fields, group, id, lease, query, read, registration, try_query,
};

/// A generation with a registered consumer, which was given so many entries.
async fn given(world: &World, count: usize) -> (Handle<Link>, Registration, Vec<StreamId>) {
    let handle = world.first().await;
    let who = registration("c", 1, 1);
    handle.register(&who).await.unwrap();
    for number in 0..count {
        handle.publish(&fields(&number.to_string())).await.unwrap();
    }
    let ids = read(&handle, "c", count).await;
    (handle, who, ids)
}

/// What is recorded of one entry.
async fn recorded(handle: &Handle<Link>, id: StreamId) -> Option<Attempt> {
    let attempts = handle.attempts(&group("g"), &[id]).await.unwrap();
    assert_eq!(attempts.len(), 1);
    attempts[0]
}

/// What the metadata has about attempts: the number of records, and how many it says there are.
async fn records(world: &World, handle: &Handle<Link>) -> (usize, u64) {
    let md = &*handle.keys().metadata;
    let fields: Vec<String> = world.query(&["HKEYS", md]).await;
    let count: Option<u64> = world.query(&["HGET", md, "a"]).await;
    let records = fields.iter().filter(|field| field.starts_with("a\u{1f}"));
    (records.count(), count.unwrap_or_default())
}

/// Case C21: the count is there before the entry is handled, so it stays when the process dies; another process goes on counting.
#[tokio::test]
async fn attempts_are_counted_though_each_one_ends_its_process_c21() {
    let world = World::new().await;
    let (handle, _, ids) = given(&world, 2).await;
    for process in 1..=5 {
        // Each process has a connection and a registration of its own, and never acknowledges.
        let copy = handle.with_link(world.connect().await);
        let who = registration("c", process, process);
        copy.register(&who).await.unwrap();
        let attempt = copy.attempt(&who, ids[0]).await.unwrap();
        assert_eq!((attempt.count, attempt.wait()), (process, Duration::ZERO));
    }
    let told = handle.attempts(&group("g"), &ids).await.unwrap();
    let counts: Vec<Option<u64>> = told
        .iter()
        .map(|told| told.map(|told| told.count))
        .collect();
    assert_eq!(counts, [Some(5), None]);
    assert_eq!(records(&world, &handle).await, (1, 1));
}

#[tokio::test]
async fn a_postponed_entry_is_not_attempted_before_its_time_c21() {
    let world = World::new().await;
    let (handle, who, ids) = given(&world, 1).await;
    assert_eq!(handle.attempt(&who, ids[0]).await.unwrap().count, 1);
    let delay = Duration::from_millis(300);
    let before = world.now_ms().await;
    let due = handle.postpone(&who, ids[0], delay).await.unwrap();
    assert!((before + 300..before + 5_000).contains(&due), "{due}");
    let early = handle.attempt(&who, ids[0]).await.unwrap();
    assert_eq!((early.count, early.due_ms), (1, due), "nothing was counted");
    assert!(early.is_due() || early.wait() <= delay);
    world.until(due).await;
    let late = handle.attempt(&who, ids[0]).await.unwrap();
    assert_eq!((late.count, late.is_due()), (2, true));
    let told = recorded(&handle, ids[0]).await.unwrap();
    assert_eq!((told.count, told.due_ms), (2, due));
    // It was pending throughout.
    assert_eq!(handle.ack_as(&who, &ids).await.unwrap().count, 1);
}

#[tokio::test]
async fn acknowledging_forgets_what_was_recorded_and_nothing_else() {
    let world = World::new().await;
    let (handle, who, ids) = given(&world, 6).await;
    for id in &ids {
        handle.attempt(&who, *id).await.unwrap();
        handle.attempt(&who, *id).await.unwrap();
    }
    handle.postpone(&who, ids[5], Duration::ZERO).await.unwrap();
    assert_eq!(records(&world, &handle).await, (6, 6));
    handle.ack_as(&who, &ids[..2]).await.unwrap();
    assert_eq!(records(&world, &handle).await, (4, 4));
    let each = handle.ack_each(&who, &ids[1..3]).await;
    let counts: Vec<u64> = each.into_iter().map(|told| told.unwrap().count).collect();
    assert_eq!(counts, [0, 1]);
    handle.ack(&group("g"), &ids[3..4]).await.unwrap();
    assert_eq!(records(&world, &handle).await, (2, 2));
    let told = handle.attempts(&group("g"), &ids).await.unwrap();
    let counts: Vec<u64> = told.iter().flatten().map(|told| told.count).collect();
    assert_eq!(counts, [2, 2]);
    // What a plain client acknowledged is forgotten when it is acknowledged again.
    let () = world
        .query(&["XACK", "orders:3", "g", &ids[4].to_string()])
        .await;
    assert_eq!(handle.ack_as(&who, &ids[4..]).await.unwrap().count, 1);
    assert_eq!(records(&world, &handle).await, (0, 0));
}

/// Case C15: of an entry that was deleted while it was pending, the sweep that removes it forgets the attempts too.
#[tokio::test]
async fn a_sweep_forgets_the_attempts_of_deleted_entries_c15() {
    let world = World::new().await;
    let (handle, who, ids) = given(&world, 3).await;
    for id in &ids {
        handle.attempt(&who, *id).await.unwrap();
    }
    handle.remove(&ids[..2]).await.unwrap();
    assert_eq!(handle.attempt(&who, ids[0]).await.unwrap().count, 2);
    let lease = lease(&handle, "o").await.unwrap();
    let claiming = Claiming::new(consumer("d"));
    let page = handle.claim(&lease, &claiming, StreamId::ZERO);
    assert_eq!(page.await.unwrap().batch.deleted, ids[..2]);
    assert_eq!(records(&world, &handle).await, (1, 1));
    // Claimed by another, the entry keeps its count.
    assert_eq!(recorded(&handle, ids[2]).await.unwrap().count, 1);
}

#[tokio::test]
async fn what_is_not_pending_is_neither_attempted_nor_postponed() {
    let world = World::new().await;
    let (handle, who, ids) = given(&world, 1).await;
    handle.ack_as(&who, &ids).await.unwrap();
    let unread = handle.publish(&fields("unread")).await.unwrap();
    let before = world.dump().await;
    for id in [ids[0], unread, id("1-1")] {
        let attempt = handle.attempt(&who, id).await.unwrap_err();
        let postpone = handle.postpone(&who, id, Duration::ZERO).await.unwrap_err();
        for error in [attempt, postpone] {
            assert!(
                matches!(&error, LifecycleError::NotPending { group, id: named } if group == "g" && *named == id),
                "{error}"
            );
        }
    }
    let year = Duration::from_secs(366 * 24 * 3_600);
    let long = handle.postpone(&who, unread, year).await.unwrap_err();
    assert_eq!(long.to_string(), "delay: 31622400 s is over a year");
    assert_eq!(world.dump().await, before);
    let () = world.query(&["XGROUP", "DESTROY", "orders:3", "g"]).await;
    let error = handle.attempt(&who, unread).await.unwrap_err();
    assert!(matches!(error, LifecycleError::NoGroup { .. }), "{error}");
}

/// Case C36: whoever lost the shard, or never registered, records nothing.
#[tokio::test]
async fn attempts_are_fenced_by_the_registration_c36() {
    let world = World::new().await;
    let (handle, who, ids) = given(&world, 1).await;
    handle
        .register(&registration("d", 1, 5).sole())
        .await
        .unwrap();
    let before = world.dump().await;
    let stale = [
        who.clone(),
        who.at_epoch(stream_lifecycle::MemberEpoch::new(9).unwrap()),
        registration("d", 2, 5),
        registration("d", 1, 4),
        registration("nobody", 1, 9),
    ];
    for who in stale {
        let errors = [
            handle.attempt(&who, ids[0]).await.unwrap_err(),
            handle
                .postpone(&who, ids[0], Duration::ZERO)
                .await
                .unwrap_err(),
        ];
        for error in errors {
            let is_fenced = matches!(error, LifecycleError::ConsumerFenced { .. });
            assert!(is_fenced, "{error}");
        }
    }
    assert_eq!(world.dump().await, before);
}

/// Records end with their generation, and share the expiry of its other keys.
#[tokio::test]
async fn attempts_end_with_their_generation() {
    let world = World::new().await;
    let short = Retention::forever()
        .fixed_ttl(Duration::from_millis(400))
        .unwrap();
    let handle = world.first_with(short).await;
    let who = registration("c", 1, 1);
    handle.register(&who).await.unwrap();
    handle.publish(&fields("a")).await.unwrap();
    let ids = read(&handle, "c", 1).await;
    handle.attempt(&who, ids[0]).await.unwrap();
    let ends = |key: String| {
        let link = world.link.clone();
        async move { query::<i64>(&link, &["PEXPIRETIME", &key]).await }
    };
    let at = ends("orders:3".to_owned()).await;
    assert_eq!(ends(handle.keys().metadata.to_string()).await, at);
    world.until(u64::try_from(at).unwrap()).await;
    let over = handle.attempt(&who, ids[0]).await.unwrap_err();
    assert!(matches!(over, LifecycleError::Expired { .. }), "{over}");
    let over = handle.attempts(&group("g"), &ids).await.unwrap_err();
    assert!(matches!(over, LifecycleError::Expired { .. }), "{over}");

    let next = world
        .shard()
        .recreate(handle.generation(), &crate::support::creation(2))
        .await
        .unwrap();
    assert_eq!(recorded(&next, ids[0]).await, None);
    next.destroy().await.unwrap();
    assert_eq!(world.keys().await, ["{orders:3}:lc"]);
}

/// A lost answer to an attempt may count twice, never not at all.
#[tokio::test]
async fn an_attempt_whose_answer_is_lost_is_counted_c21() {
    let world = World::new().await;
    let (handle, who, ids) = given(&world, 1).await;
    let proxy = TcpProxy::start(world.server.address()).await.unwrap();
    let client = redis::Client::open(format!("redis://{}/", proxy.address())).unwrap();
    let link = client.get_multiplexed_async_connection().await.unwrap();
    let far = handle.with_link(link.clone());
    far.attempt(&who, ids[0]).await.unwrap();
    proxy.drop_replies(1);
    let lost = far.attempt(&who, ids[0]).await.unwrap_err();
    assert!(matches!(lost, LifecycleError::Ambiguous(_)), "{lost}");
    assert_eq!(recorded(&handle, ids[0]).await.unwrap().count, 2);
    assert!(try_query::<String>(&world.link, &["PING"]).await.is_ok());
}
