//! Shards whose lives are told apart: only the life that was told is read, only its owner acknowledges, and what is over is
//! asked for and never made anew.

use std::time::Duration;

use member_client::{Health, TroubleKind};
use stream_lifecycle::{
    ConsumerName, MemberEpoch, OwnerName, Registration, ShardAdmin, ShardConsumer, ShardInspect,
    ShardRecovery, Token,
};
use testkit::{wait_until, wait_until_async};

use crate::life::group;
use crate::scene::{GROUP, LIMIT, Log, Scene, key, numbers};

#[tokio::test]
async fn a_shard_in_the_life_that_was_told_is_read_in_order_and_acknowledged_as_its_owner() {
    let (scene, lives) = Scene::alive(1).await;
    let log = Log::new();
    scene.publish(0, 0..150).await;
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene.start("a", &log);
    log.wait_for(150).await;
    scene.wait_for_nothing_pending(1).await;
    assert_eq!(log.bodies(), numbers(0..150));
    let metrics = client.metrics();
    assert_eq!((metrics.records_acked, metrics.acks_unknown), (150, 0));
    assert_eq!((metrics.reconnects, metrics.shards_superseded), (0, 0));
    // C36: somebody who is not registered is fenced.
    let consumer = ConsumerName::new("b-m0").unwrap();
    let (token, epoch) = (Token::new(1).unwrap(), MemberEpoch::new(1).unwrap());
    let other = Registration::new(group(), consumer, token, epoch);
    assert!(lives[0].refresh(&other).await.is_err());
}

/// C36: acknowledgements go on while the member's epoch rises, and are refused once the shard has another owner.
#[tokio::test]
async fn acknowledgements_are_accepted_until_the_shard_is_anothers_and_refused_ones_do_not_count_c36()
 {
    let (scene, lives) = Scene::alive(1).await;
    let log = Log::held();
    scene
        .coordinator
        .change(|script| (script.restless, script.interval_ms) = (true, 10));
    scene.publish(0, 0..2).await;
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene.start("a", &log);
    log.let_through(1);
    log.wait_for(1).await;
    let acked = || client.metrics().records_acked == 1;
    wait_until(LIMIT, acked).await.unwrap();
    log.wait_for_begun(2).await;
    // Another owner, of whom this one was not told.
    let consumer = ConsumerName::new("b-m0").unwrap();
    let (token, epoch) = (
        Token::new(1_000_000).unwrap(),
        MemberEpoch::new(1_000_000).unwrap(),
    );
    let other = Registration::new(group(), consumer, token, epoch).sole();
    lives[0].register(&other).await.unwrap();
    log.let_through(1);
    wait_until(LIMIT, || client.metrics().shards_superseded > 0)
        .await
        .unwrap();
    assert_eq!(scene.pending(0).await, 1);
    let metrics = client.metrics();
    assert_eq!((metrics.records_acked, metrics.acks_refused), (1, 1));
    let trouble = client.troubles().remove(0);
    assert_eq!(trouble.kind, TroubleKind::Superseded);
    assert!(trouble.reason.contains("fenced"), "{trouble:?}");
}

/// C22 and C35: a process that starts anew under the same name is the owner, and its earlier self is not any more.
#[tokio::test]
async fn a_process_that_restarted_supersedes_its_earlier_self() {
    let (scene, _) = Scene::alive(1).await;
    let (first, second) = (Log::held(), Log::new());
    scene.publish(0, 0..3).await;
    scene.coordinator.assign("a-m0", &[0]);
    let earlier = scene.start("a", &first);
    first.wait_for_begun(1).await;
    let _later = scene.start("a", &second);
    second.wait_for(3).await;
    scene.wait_for_nothing_pending(1).await;
    first.let_through(10);
    wait_until(LIMIT, || earlier.metrics().shards_superseded > 0)
        .await
        .unwrap();
    assert_eq!(earlier.metrics().records_acked, 0);
    assert_eq!(second.bodies(), numbers(0..3));
}

/// The store lost writes, or the assignment is older: neither life is read, and the coordinator is asked again.
#[tokio::test]
async fn another_life_than_was_told_is_never_read() {
    let (scene, lives) = Scene::alive(1).await;
    let log = Log::new();
    scene.publish(0, ["x"]).await;
    scene
        .coordinator
        .change(|script| script.interval_ms = 10_000);
    scene.coordinator.tell(0, 2);
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene
        .builder("a", &log)
        .watch(false)
        .build()
        .unwrap()
        .start();
    let told = |generation: &'static str| {
        let troubles = client.troubles();
        let found = troubles.first().cloned();
        found.is_some_and(|trouble| {
            trouble.kind == TroubleKind::Superseded && trouble.reason.contains(generation)
        })
    };
    wait_until(LIMIT, || told("writes were lost"))
        .await
        .unwrap();
    // It is asked for early, not at the next heartbeat, and with growing pauses.
    wait_until(LIMIT, || scene.coordinator.heartbeats().len() >= 4)
        .await
        .unwrap();
    assert_eq!(client.health()[0].1, Health::Degraded);
    lives[0].destroy().await.unwrap();
    scene.be_reborn(0, 1).await;
    scene.coordinator.tell(0, 1);
    wait_until(LIMIT, || told("the assignment is older"))
        .await
        .unwrap();
    assert!(log.begun().is_empty());
    scene.publish(0, ["y"]).await;
    scene.coordinator.tell(0, 2);
    log.wait_for(1).await;
    assert_eq!(log.bodies(), ["y"]);
    wait_until(LIMIT, || client.troubles().is_empty())
        .await
        .unwrap();
    assert_eq!(client.metrics().group_repairs, 0);
}

/// A shard that comes to its next life while it is owned is read there as soon as the coordinator says so.
#[tokio::test]
async fn a_shard_that_is_told_to_be_in_its_next_life_is_read_there() {
    let (scene, lives) = Scene::alive(1).await;
    let log = Log::new();
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene.start("a", &log);
    scene.publish(0, ["x"]).await;
    log.wait_for(1).await;
    scene.wait_for_nothing_pending(1).await;
    lives[0].destroy().await.unwrap();
    scene.be_reborn(0, 1).await;
    scene.coordinator.tell(0, 2);
    scene.publish(0, ["y"]).await;
    log.wait_for(2).await;
    scene.wait_for_nothing_pending(1).await;
    assert_eq!(log.bodies(), ["x", "y"]);
    assert_eq!(client.metrics().group_repairs, 0);
}

/// C01: a retired shard is left alone, whatever its readers meet: no key comes back.
#[tokio::test]
async fn a_retired_shard_is_not_made_anew_c01() {
    let (scene, lives) = Scene::alive(1).await;
    let log = Log::new();
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene.start("a", &log);
    scene.publish(0, ["x"]).await;
    log.wait_for(1).await;
    scene.wait_for_nothing_pending(1).await;
    lives[0].destroy().await.unwrap();
    wait_until(LIMIT, || client.metrics().shards_superseded >= 3)
        .await
        .unwrap();
    let keys: Vec<String> = scene.query(&["KEYS", "*"]).await;
    assert_eq!(keys, ["{orders:0}:lc"]);
    assert_eq!(client.metrics().group_repairs, 0);
}

/// C01 and C02: a group that was lost is made anew where it had come to, once, and nothing is skipped or handled twice.
#[tokio::test]
async fn a_lost_group_is_made_anew_where_it_had_come_to_c01_c02() {
    let (scene, _) = Scene::alive(1).await;
    let log = Log::new();
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene.start("a", &log);
    scene.publish(0, 0..10).await;
    log.wait_for(10).await;
    scene.wait_for_nothing_pending(1).await;
    let mut at_once = redis::pipe();
    at_once.atomic();
    at_once.cmd("XGROUP").arg(&["DESTROY", &key(0), GROUP]);
    at_once.cmd("XADD").arg(&[&key(0), "*", "body", "10"]);
    let mut connection = scene.connection().await;
    at_once.exec_async(&mut connection).await.unwrap();
    scene.publish(0, 11..20).await;
    log.wait_for(20).await;
    scene.wait_for_nothing_pending(1).await;
    assert_eq!(log.bodies(), numbers(0..20));
    let metrics = client.metrics();
    assert_eq!((metrics.group_repairs, metrics.streams_lost), (1, 0));
    assert!(metrics.reconnects < 20, "{} attempts", metrics.reconnects);
}

/// C02: a stream that was lost is made anew by its owner, from its beginning, and the loss is told.
#[tokio::test]
async fn a_lost_stream_is_made_anew_by_the_owner_and_read_from_its_beginning_c02() {
    let (scene, lives) = Scene::alive(1).await;
    let log = Log::new();
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene.start("a", &log);
    scene.publish(0, ["x"]).await;
    log.wait_for(1).await;
    scene.wait_for_nothing_pending(1).await;
    let _: u32 = scene.query(&["DEL", &key(0)]).await;
    wait_until(LIMIT, || client.metrics().streams_lost == 1)
        .await
        .unwrap();
    scene.publish(0, ["y"]).await;
    log.wait_for(2).await;
    assert_eq!(client.metrics().group_repairs, 1);
    assert!(lives[0].status().await.unwrap().stream.is_some());
}

/// C05: a server that became a replica for a while costs the shard nothing but time, and nobody is superseded by it.
#[tokio::test]
async fn a_server_that_was_a_replica_for_a_while_is_written_again_c05() {
    let (scene, _) = Scene::alive(1).await;
    let log = Log::new();
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene.start("a", &log);
    scene.publish(0, ["x"]).await;
    log.wait_for(1).await;
    let nobody = testkit::free_port().to_string();
    let _: String = scene.query(&["REPLICAOF", "127.0.0.1", &nobody]).await;
    wait_until(LIMIT, || client.metrics().reconnects >= 3)
        .await
        .unwrap();
    assert_eq!(client.troubles()[0].kind, TroubleKind::Unreadable);
    let _: String = scene.query(&["REPLICAOF", "NO", "ONE"]).await;
    scene.publish(0, ["y"]).await;
    log.wait_for(2).await;
    wait_until(LIMIT, || client.troubles().is_empty())
        .await
        .unwrap();
    let metrics = client.metrics();
    assert_eq!((metrics.group_repairs, metrics.shards_superseded), (0, 0));
}

/// C15 and C17: what earlier owners left is taken over under a lease, with entries that lost their record counted; their consumers
/// stay until they have been quiet for long.
#[tokio::test]
async fn what_earlier_owners_left_is_taken_over_c15_c17() {
    let (scene, _) = Scene::alive(1).await;
    let log = Log::new();
    let ids = scene.publish(0, 0..30).await;
    for consumer in ["dead-1", "a-m0", "dead-2", "a-m0"] {
        scene.leave_pending(0, consumer, 5).await;
    }
    let _: u32 = scene.query(&["XDEL", &key(0), &ids[3], &ids[7]]).await;
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene
        .builder("a", &log)
        .read_count(7)
        .build()
        .unwrap()
        .start();
    log.wait_for(28).await;
    let expected: Vec<String> = numbers(0..30)
        .into_iter()
        .filter(|body| body != "3" && body != "7")
        .collect();
    assert_eq!(log.bodies(), expected);
    scene.wait_for_nothing_pending(1).await;
    let metrics = client.metrics();
    assert_eq!((metrics.records_lost, metrics.records_recovered), (2, 18));
    let attempts: Vec<u32> = log
        .accepted()
        .iter()
        .map(|handled| handled.attempt)
        .collect();
    assert_eq!(attempts, [vec![2; 18], vec![1; 10]].concat());
}

/// C04: a shard that can't be read is named with the reason, and the others go on.
#[tokio::test]
async fn a_broken_shard_is_named_and_the_others_go_on_c04() {
    let (scene, _) = Scene::alive(1).await;
    let log = Log::new();
    let _: String = scene.query(&["SET", &key(1), "no stream"]).await;
    scene.coordinator.assign("a-m0", &[0, 1]);
    let client = scene.start("a", &log);
    scene.publish(0, 0..20).await;
    log.wait_for(20).await;
    wait_until(LIMIT, || client.troubles().len() == 1)
        .await
        .unwrap();
    let trouble = client.troubles().remove(0);
    assert_eq!(
        (
            trouble.member_id.as_str(),
            trouble.stream_key.as_str(),
            trouble.kind
        ),
        ("a-m0", "orders:1", TroubleKind::Unreadable)
    );
    assert!(trouble.reason.contains("WRONGTYPE"), "{trouble:?}");
    assert_eq!(client.health()[0].1, Health::Degraded);
    scene.coordinator.assign("a-m0", &[0]);
    wait_until(LIMIT, || client.troubles().is_empty())
        .await
        .unwrap();
    assert_eq!(client.health()[0].1, Health::Healthy);
}

/// C23: 1,000 entries, a shard that changes hands at random moments and members that are thrown out in between.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_thousand_entries_survive_random_ends_of_their_reads_c23() {
    let (scene, _) = Scene::alive(1).await;
    let log = Log::new();
    scene.coordinator.change(|script| script.lease_ms = 400);
    // What nobody came to handle is no poison.
    let start = |base| scene.start(base, &log);
    let _clients = [start("a"), start("b")];
    let members = ["a-m0", "b-m0"];
    let publishing = async {
        for chunk in 0..100 {
            scene.publish(0, chunk * 10..chunk * 10 + 10).await;
            // waits: spreads the entries over the changes of hands
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let meddling = async {
        let mut seed = 815_u64;
        for round in 0..40_usize {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (owner, other) = (members[round % 2], members[1 - round % 2]);
            scene.coordinator.assign(other, &[]);
            let gone = || {
                scene.coordinator.last_heartbeat(other).is_none_or(|last| {
                    last.owned_shards.is_empty() && last.revoking_shards.is_empty()
                })
            };
            wait_until(LIMIT, gone).await.unwrap();
            scene.coordinator.assign(owner, &[0]);
            // waits: a random moment
            tokio::time::sleep(Duration::from_millis((seed >> 33) % 60)).await;
            if round % 5 == 4 && round < 35 {
                scene
                    .coordinator
                    .change(|script| script.fence.push(owner.to_owned()));
                // waits: a random moment
                tokio::time::sleep(Duration::from_millis((seed >> 40) % 40)).await;
            }
        }
    };
    tokio::join!(publishing, meddling);
    scene.coordinator.assign("b-m0", &[]);
    scene.coordinator.assign("a-m0", &[0]);
    log.wait_for(1_000).await;
    scene.wait_for_nothing_pending(1).await;
    assert!(scene.dead_letters(0).await.is_empty());
}

/// C03 and C13: a stream that is renamed under a waiting reader ends the wait; the owner looks at the shard first.
#[tokio::test]
async fn a_read_that_the_server_ends_is_followed_by_a_look_at_the_shard_c03() {
    let (scene, lives) = Scene::alive(1).await;
    let log = Log::new();
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene
        .builder("a", &log)
        .block(Duration::from_secs(5))
        .build()
        .unwrap()
        .start();
    scene.publish(0, ["x"]).await;
    log.wait_for(1).await;
    scene.wait_for_nothing_pending(1).await;
    let waiting = wait_until_async(LIMIT, || async {
        let clients: String = scene.query(&["INFO", "clients"]).await;
        clients.contains("blocked_clients:1")
    });
    waiting.await.unwrap();
    lives[0].destroy().await.unwrap();
    wait_until(LIMIT, || client.metrics().shards_superseded > 0)
        .await
        .unwrap();
    let exists: u32 = scene.query(&["EXISTS", &key(0)]).await;
    assert_eq!((exists, client.metrics().group_repairs), (0, 0));
}

/// C24: a process that died while it recovered holds its successor up for no longer than its lease, by Redis' clock.
#[tokio::test]
async fn a_lease_of_recovery_that_nobody_gave_back_holds_the_owner_up_until_it_ends_c24() {
    let (scene, lives) = Scene::alive(1).await;
    let log = Log::new();
    scene.publish(0, 0..3).await;
    scene.leave_pending(0, "dead", 2).await;
    let owner = OwnerName::new("dead").unwrap();
    let length = Duration::from_millis(700);
    lives[0]
        .lease_acquire(&group(), &owner, length)
        .await
        .unwrap();
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene.start("a", &log);
    let held = || {
        let troubles = client.troubles();
        troubles
            .first()
            .is_some_and(|trouble| trouble.reason.contains("dead"))
    };
    wait_until(LIMIT, held).await.unwrap();
    assert!(log.begun().is_empty());
    log.wait_for(3).await;
    scene.wait_for_nothing_pending(1).await;
    assert_eq!(log.bodies(), numbers(0..3));
}

/// C19 and C36: a lost registration is no other owner: it is made again, and what was handled is acknowledged, not handled again.
#[tokio::test]
async fn a_registration_that_was_lost_is_made_again_c36() {
    let (scene, lives) = Scene::alive(1).await;
    let log = Log::new();
    scene.coordinator.assign("a-m0", &[0]);
    let client = scene.start("a", &log);
    scene.publish(0, ["x"]).await;
    log.wait_for(1).await;
    scene.wait_for_nothing_pending(1).await;
    let _: u32 = scene.query(&["DEL", &lives[0].keys().metadata]).await;
    scene.publish(0, ["y"]).await;
    log.wait_for(2).await;
    scene.wait_for_nothing_pending(1).await;
    assert_eq!(log.bodies(), ["x", "y"]);
    assert_eq!(client.metrics().shards_superseded, 0);
}
