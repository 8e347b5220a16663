//! Entries that are given up: copied and acknowledged in one step, never twice, and lost ones told.

use stream_lifecycle::{
    DeadLettered, Fields, Handle, LifecycleError, Registration, Rejection, Removal, ShardAdmin,
    ShardConsumer, ShardInspect, ShardProducer, ShardRedelivery, StreamId,
};
use testkit::TcpProxy;

use crate::support::{Link, World, creation, fields, group, id, read, registration};

const LETTERS: &str = "{orders:3}:dlq:g";

type Rows = Vec<(String, Vec<String>)>;

async fn letters(world: &World) -> Rows {
    world.query(&["XRANGE", LETTERS, "-", "+"]).await
}

async fn given(world: &World, count: usize) -> (Handle<Link>, Registration, Vec<StreamId>) {
    let handle = world.first().await;
    let who = registration("c", 1, 1);
    handle.register(&who).await.unwrap();
    for number in 0..count {
        handle.publish(&fields(&number.to_string())).await.unwrap();
    }
    let ids = read(&handle, "c", count.max(1)).await;
    (handle, who, ids)
}

fn lists(told: &DeadLettered) -> (Vec<StreamId>, &[StreamId], &[StreamId]) {
    let moved = told.moved.iter().map(|moved| moved.from).collect();
    (moved, &told.lost, &told.unknown)
}

/// Case C21: copy and acknowledgement are one step, and the copy says where it came from and why.
#[tokio::test]
async fn a_dead_letter_has_its_fields_in_order_and_says_where_it_came_from_c21() {
    let world = World::new().await;
    let (handle, who, _) = given(&world, 0).await;
    let odd = Fields::new([("b", "2"), ("a", "1"), ("b", "3")]).unwrap();
    let entry = handle.publish(&odd).await.unwrap();
    read(&handle, "c", 1).await;
    for _ in 0..3 {
        handle.attempt(&who, entry).await.unwrap();
    }
    let rejection = Rejection::new("it does not parse:\nodd");
    let told = handle.dead_letter(&who, &[entry], &rejection).await;
    let told = told.unwrap();
    assert_eq!(lists(&told), (vec![entry], [].as_slice(), [].as_slice()));
    let found = letters(&world).await;
    assert_eq!(found[0].0, told.moved[0].to.to_string());
    let expected = [
        "b",
        "2",
        "a",
        "1",
        "b",
        "3",
        "dlq.stream",
        "orders:3",
        "dlq.id",
        &entry.to_string(),
        "dlq.group",
        "g",
        "dlq.attempts",
        "3",
        "dlq.reason",
        "it does not parse:\nodd",
    ];
    assert_eq!(found[0].1, expected);
    assert_eq!(handle.dead_letter_key(&group("g")), LETTERS);
    // It is acknowledged, its attempts are forgotten, and the stream itself keeps it for other groups.
    let evidence = handle.drain_evidence().await.unwrap();
    assert_eq!((evidence.groups[0].pending, evidence.length), (0, 1));
    let told = handle.attempts(&group("g"), &[entry]).await.unwrap();
    assert_eq!(told, [None]);
}

#[tokio::test]
async fn a_repeated_dead_letter_copies_nothing_twice_though_the_answer_was_lost_c21() {
    let world = World::new().await;
    let (handle, who, ids) = given(&world, 3).await;
    let proxy = TcpProxy::start(world.server.address()).await.unwrap();
    let client = redis::Client::open(format!("redis://{}/", proxy.address())).unwrap();
    let far = handle.with_link(client.get_multiplexed_async_connection().await.unwrap());
    let rejection = Rejection::new("poison");
    // The script is known: only its answer is lost.
    far.dead_letter(&who, &ids[..1], &rejection).await.unwrap();
    proxy.drop_replies(1);
    let lost = far.dead_letter(&who, &ids[1..], &rejection).await;
    assert!(matches!(lost, Err(LifecycleError::Ambiguous(_))));
    let again = handle.dead_letter(&who, &ids, &rejection).await.unwrap();
    assert_eq!(lists(&again), (vec![], [].as_slice(), ids.as_slice()));
    // The same id twice in one call is copied once.
    let one = handle.publish(&fields("x")).await.unwrap();
    read(&handle, "c", 1).await;
    let twice = handle.dead_letter(&who, &[one, one], &rejection).await;
    let twice = twice.unwrap();
    assert_eq!(lists(&twice), (vec![one], [].as_slice(), [one].as_slice()));
    let sources: Vec<String> = letters(&world)
        .await
        .into_iter()
        .map(|(_, fields)| fields[5].clone())
        .collect();
    let expected: Vec<String> = ids.iter().chain([&one]).map(StreamId::to_string).collect();
    assert_eq!(sources, expected);
}

/// Case C15: an entry that was trimmed or deleted meanwhile is acknowledged and told as lost.
#[tokio::test]
async fn a_deleted_entry_is_acknowledged_and_told_as_lost_c15() {
    let world = World::new().await;
    let (handle, who, ids) = given(&world, 4).await;
    let () = world.query(&["XTRIM", "orders:3", "MAXLEN", "3"]).await;
    handle.remove(&ids[2..3]).await.unwrap();
    handle.attempt(&who, ids[2]).await.unwrap();
    let told = handle.dead_letter(&who, &ids, &Rejection::new("x")).await;
    let told = told.unwrap();
    let lost = [ids[0], ids[2]];
    assert_eq!(
        lists(&told),
        (vec![ids[1], ids[3]], lost.as_slice(), [].as_slice())
    );
    assert_eq!(letters(&world).await.len(), 2);
    let evidence = handle.drain_evidence().await.unwrap();
    assert_eq!(evidence.groups[0].pending, 0);
    let told = handle.attempts(&group("g"), &ids).await.unwrap();
    assert_eq!(told, [None; 4]);
}

/// The position that is kept for a lost group moves on with dead letters as with acknowledgements (case C02).
#[tokio::test]
async fn a_lost_group_does_not_meet_its_dead_letters_again_c02() {
    let world = World::new().await;
    let (handle, who, ids) = given(&world, 3).await;
    let rejection = Rejection::new("x");
    handle
        .dead_letter(&who, &ids[..2], &rejection)
        .await
        .unwrap();
    let () = world.query(&["XGROUP", "DESTROY", "orders:3", "g"]).await;
    let error = handle.dead_letter(&who, &ids[2..], &rejection).await;
    assert!(matches!(error, Err(LifecycleError::NoGroup { .. })));
    let ensured = handle.ensure_group(&group("g")).await.unwrap();
    assert!(ensured.position >= ids[1]);
    assert_eq!(read(&handle, "c", 10).await, ids[2..]);
}

#[tokio::test]
async fn dead_letters_outlive_the_generation_and_have_a_limit_where_one_is_asked_for() {
    let world = World::new().await;
    let (handle, who, ids) = given(&world, 6).await;
    let limited = Rejection::new("x").most(4);
    handle.dead_letter(&who, &ids, &limited).await.unwrap();
    let found = letters(&world).await;
    assert_eq!(found.len(), 4);
    assert_eq!(found[3].1[0..2], ["v", "5"], "the latest are kept");
    let none = Rejection::new("x").most(0);
    let bad = handle.dead_letter(&who, &ids, &none).await;
    assert!(matches!(bad, Err(LifecycleError::Invalid(_))));
    handle.seal().await.unwrap();
    let draining = stream_lifecycle::Draining::new();
    let removal = handle.destroy_if_drained(&draining).await;
    assert_eq!(removal.unwrap(), Removal::Destroyed);
    let next = world
        .shard()
        .recreate(handle.generation(), &creation(2))
        .await
        .unwrap();
    next.destroy().await.unwrap();
    assert_eq!(letters(&world).await, found);
    assert_eq!(world.query::<i64>(&["PTTL", LETTERS]).await, -1);
}

/// A key that is no stream, a consumer that lost the shard, an entry that is too large: nothing is written.
#[tokio::test]
async fn a_refused_dead_letter_leaves_everything_as_it_was_c36() {
    let world = World::new().await;
    let (handle, who, mut ids) = given(&world, 2).await;
    let rejection = Rejection::new("x");
    let mut words = vec!["XADD".to_owned(), "orders:3".to_owned(), "*".to_owned()];
    words.extend((0..7_002).map(|number| number.to_string()));
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let () = world.query(&words).await;
    ids.extend(read(&handle, "c", 1).await);
    let before = world.dump().await;
    let large = handle.dead_letter(&who, &ids, &rejection).await;
    assert!(
        matches!(&large, Err(LifecycleError::MalformedEntry { id, .. }) if *id == ids[2].to_string()),
        "{large:?}"
    );
    let none = handle.dead_letter(&who, &[], &rejection).await;
    assert!(matches!(none, Err(LifecycleError::Invalid(_))));
    let later = registration("c", 2, 1);
    let fenced = handle.dead_letter(&later, &ids[..1], &rejection).await;
    assert!(matches!(fenced, Err(LifecycleError::ConsumerFenced { .. })));
    let unknown = handle.dead_letter(&who, &[id("1-1")], &rejection).await;
    assert_eq!(unknown.unwrap().unknown, [id("1-1")]);
    assert_eq!(world.dump().await, before);
    let () = world.query(&["SET", LETTERS, "a text"]).await;
    let before = world.dump().await;
    let taken = handle.dead_letter(&who, &ids[..1], &rejection).await;
    assert!(matches!(&taken, Err(LifecycleError::KeyConflict { key, .. }) if key == LETTERS));
    assert_eq!(world.dump().await, before);
}
