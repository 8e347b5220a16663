//! Coordinators on a real Redis: shared state, provisioning, absence of either.
#![allow(clippy::unwrap_used)]

mod support;

use std::time::Duration;

use nix::sys::signal::Signal;
use protocol::{CreateStreamRequest, DeleteGroupRequest, ErrorCode, GroupState, HeartbeatStatus};
use redis::AsyncCommands;
use redis::streams::StreamInfoGroupsReply;
use support::{Daemon, PATIENCE, Plain};
use testkit::{RedisServer, wait_until_async};

fn four() -> CreateStreamRequest {
    CreateStreamRequest {
        initial_shard_count: Some(4),
        requested_by: "test".to_owned(),
        reason: None,
    }
}

#[tokio::test]
async fn creating_a_stream_makes_its_shards_and_their_groups_from_the_first_entry_on() {
    let redis = RedisServer::builder().start().unwrap();
    let daemon = Daemon::quick(&redis).await;
    daemon.create("orders", 4).await;
    daemon
        .client
        .create_group(
            "orders",
            "billing",
            &CreateStreamRequest {
                initial_shard_count: None,
                ..four()
            },
        )
        .await
        .unwrap();
    let mut connection = redis.connection().await.unwrap();
    for shard in 0..4 {
        let groups: StreamInfoGroupsReply = connection
            .xinfo_groups(format!("orders:{shard}"))
            .await
            .unwrap();
        let mut names: Vec<_> = groups
            .groups
            .iter()
            .map(|it| (it.name.as_str(), it.last_delivered_id.as_str()))
            .collect();
        names.sort_unstable();
        assert_eq!(names, [("billing", "0-0"), ("orders", "0-0")]);
    }
}

#[tokio::test]
async fn keys_that_are_not_ours_are_named_and_nothing_is_written() {
    let redis = RedisServer::builder().start().unwrap();
    let daemon = Daemon::quick(&redis).await;
    let mut connection = redis.connection().await.unwrap();
    let _: () = connection.set("orders:2", "somebody's").await.unwrap();
    let error = daemon
        .client
        .create_stream("orders", &four())
        .await
        .unwrap_err();
    assert_eq!(error.code(), Some(&ErrorCode::StreamPrefixAlreadyExists));
    assert!(error.to_string().contains("orders:2"), "{error}");
    for shard in [0, 1, 3] {
        let exists: bool = connection.exists(format!("orders:{shard}")).await.unwrap();
        assert!(!exists, "orders:{shard}");
    }
    let gone = daemon.client.group("orders", "orders").await.unwrap_err();
    assert_eq!(
        gone.code(),
        Some(&ErrorCode::GroupNotFound),
        "nothing is recorded either"
    );
    let _: () = connection.del("orders:2").await.unwrap();
    daemon.create("orders", 4).await;
}

#[tokio::test]
async fn a_half_done_creation_is_finished_by_repeating_it() {
    let redis = RedisServer::builder().start().unwrap();
    let streams = RedisServer::builder()
        .max_memory("1", "noeviction")
        .start()
        .unwrap();
    let daemon = Daemon::start(&["--store", &redis.url(), "--streams", &streams.url()]).await;
    // The Redis of the streams is full: the creation is recorded and can't be carried out.
    let error = daemon
        .client
        .create_stream("orders", &four())
        .await
        .unwrap_err();
    assert_eq!(
        error.code(),
        Some(&ErrorCode::RedisStreamProvisioningFailed),
        "{error}"
    );
    // Nobody sees a stream that is half made.
    let routing = daemon
        .client
        .producer_routing("orders", "orders")
        .await
        .unwrap_err();
    assert_eq!(routing.code(), Some(&ErrorCode::GroupNotFound));
    assert_eq!(
        Plain::new("m")
            .beat(&daemon.client, "orders")
            .await
            .unwrap(),
        HeartbeatStatus::UnknownMemberId
    );

    let mut connection = streams.connection().await.unwrap();
    let _: () = redis::cmd("CONFIG")
        .arg(&["SET", "maxmemory", "0"])
        .query_async(&mut connection)
        .await
        .unwrap();
    let other = CreateStreamRequest {
        initial_shard_count: Some(5),
        ..four()
    };
    let error = daemon
        .client
        .create_stream("orders", &other)
        .await
        .unwrap_err();
    assert_eq!(
        error.code(),
        Some(&ErrorCode::InvalidRequest),
        "the recorded count stands: {error}"
    );
    // Somebody puts a key in the way of one of its streams: the others are made.
    let _: () = connection.set("orders:2", "mine").await.unwrap();
    let error = daemon
        .client
        .create_stream("orders", &four())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("orders:2"), "{error}");
    let (made, mine): (bool, String) = (
        connection.exists("orders:1").await.unwrap(),
        connection.get("orders:2").await.unwrap(),
    );
    assert_eq!((made, mine.as_str()), (true, "mine"));
    let _: () = connection.del("orders:2").await.unwrap();
    daemon.create("orders", 4).await;
    for shard in 0..4 {
        let groups: StreamInfoGroupsReply = connection
            .xinfo_groups(format!("orders:{shard}"))
            .await
            .unwrap();
        assert_eq!(groups.groups.len(), 1, "orders:{shard}");
    }
}

#[tokio::test]
async fn two_coordinators_share_what_they_decide() {
    let redis = RedisServer::builder().start().unwrap();
    let (first, second) = (Daemon::quick(&redis).await, Daemon::quick(&redis).await);
    first.create("orders", 4).await;
    let version = second
        .client
        .group("orders", "orders")
        .await
        .unwrap()
        .metadata_version;
    let watching = second.client.clone();
    let watch = tokio::spawn(async move {
        watching
            .watch("orders", "orders", version, Duration::from_secs(30))
            .await
    });
    let mut a = Plain::new("a");
    a.beat(&first.client, "orders").await.unwrap();
    assert!(
        tokio::time::timeout(PATIENCE, watch)
            .await
            .unwrap()
            .unwrap()
            .unwrap()
            .changed
    );
    let mut b = Plain::new("b");
    b.beat(&second.client, "orders").await.unwrap();
    for round in 0..6 {
        let (one, other) = if round % 2 == 0 {
            (&first, &second)
        } else {
            (&second, &first)
        };
        assert_eq!(
            a.beat(&one.client, "orders").await.unwrap(),
            HeartbeatStatus::Ok
        );
        assert_eq!(
            b.beat(&other.client, "orders").await.unwrap(),
            HeartbeatStatus::Ok
        );
    }
    assert_eq!((a.shards(), b.shards()), (vec![0, 1], vec![2, 3]));
    for daemon in [&first, &second] {
        assert_eq!(
            daemon.client.group("orders", "orders").await.unwrap().state,
            GroupState::Stable
        );
    }
}

/// Heartbeats of all members through both coordinators in turns, for as many rounds.
async fn beat_all(members: &mut [Plain], daemons: &[&Daemon], rounds: usize) {
    for round in 0..rounds {
        let beats = members.iter_mut().enumerate().map(|(index, member)| {
            let client = &daemons[(index + round) % daemons.len()].client;
            async move { member.beat(client, "orders").await }
        });
        for status in futures_util::future::join_all(beats).await {
            assert_eq!(status.unwrap(), HeartbeatStatus::Ok);
        }
    }
}

#[tokio::test]
async fn c41_many_members_join_at_once_through_two_coordinators_and_then_write_nothing_but_leases()
{
    let redis = RedisServer::builder().start().unwrap();
    let (first, second) = (
        Daemon::start(&["--store", &redis.url()]).await,
        Daemon::start(&["--store", &redis.url()]).await,
    );
    first.create("orders", 300).await;
    let mut members: Vec<Plain> = (0..100)
        .map(|index| Plain::new(format!("m{index:03}")))
        .collect();
    let daemons = [&first, &second];
    // Joins all succeed; then everybody takes over what it was told until the group is at rest.
    beat_all(&mut members, &daemons, 1).await;
    for _ in 0..20 {
        if first.client.group("orders", "orders").await.unwrap().state == GroupState::Stable {
            break;
        }
        beat_all(&mut members, &daemons, 1).await;
    }
    beat_all(&mut members, &daemons, 2).await;
    let mut connection = redis.connection().await.unwrap();
    let key = "redis-stream:coord:{orders:orders}:metadata";
    let before: (u64, String) = connection.hmget(key, &["revision", "etag"]).await.unwrap();
    beat_all(&mut members, &daemons, 5).await;
    let after: (u64, String) = connection.hmget(key, &["revision", "etag"]).await.unwrap();
    assert_eq!(
        before, after,
        "rule H17: 500 steady heartbeats committed nothing"
    );
    assert_eq!(
        members
            .iter()
            .map(|member| member.shards().len())
            .sum::<usize>(),
        300
    );
}

#[tokio::test]
async fn m6_c33_a_coordinator_that_was_stopped_expires_nobody() {
    let redis = RedisServer::builder().start().unwrap();
    let daemon = Daemon::quick(&redis).await;
    daemon.create("orders", 2).await;
    let mut member = Plain::new("m");
    member.beat(&daemon.client, "orders").await.unwrap();
    member.beat(&daemon.client, "orders").await.unwrap();
    daemon.signal(Signal::SIGSTOP);
    // waits: for three leases to go by, which is what the test is about
    tokio::time::sleep(Duration::from_secs(3)).await;
    daemon.signal(Signal::SIGCONT);
    assert_eq!(
        member.beat(&daemon.client, "orders").await.unwrap(),
        HeartbeatStatus::Ok
    );
    assert_eq!(member.shards(), [0, 1]);
}

#[tokio::test]
async fn c05_c08_m6_while_redis_is_away_nothing_is_ready_and_nobody_expires() {
    let mut redis = RedisServer::builder().append_only().start().unwrap();
    let daemon = Daemon::quick(&redis).await;
    daemon.create("orders", 2).await;
    let mut member = Plain::new("m");
    member.beat(&daemon.client, "orders").await.unwrap();
    member.beat(&daemon.client, "orders").await.unwrap();
    redis.kill();
    let unready = || async { !daemon.client.is_ready().await.unwrap_or(true) };
    wait_until_async(PATIENCE, unready).await.unwrap();
    assert!(daemon.client.is_live().await.unwrap(), "the process is up");
    let refused = member.beat(&daemon.client, "orders").await.unwrap_err();
    assert_eq!(refused.code(), Some(&ErrorCode::StoreUnavailable));
    assert!(refused.retry_after().is_some());
    // waits: for two leases to go by while Redis is away
    tokio::time::sleep(Duration::from_secs(2)).await;
    redis.restart().unwrap();
    daemon.ready().await;
    // Rule C8: Redis may have lost writes with its process. The member goes on with what it has; for one lease nothing new is granted.
    assert_eq!(
        member.keep_up(&daemon.client, "orders").await.unwrap(),
        HeartbeatStatus::RevokePending
    );
    assert_eq!(member.shards(), [0, 1]);
    let end = std::time::Instant::now() + PATIENCE;
    while member.keep_up(&daemon.client, "orders").await.unwrap() != HeartbeatStatus::Ok {
        assert!(std::time::Instant::now() < end, "the hold does not end");
        assert_eq!(member.shards(), [0, 1]);
        // waits: members heartbeat at an interval
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(member.shards(), [0, 1]);
}

#[tokio::test]
async fn a_coordinator_that_is_killed_leaves_nothing_that_the_next_can_not_take_over() {
    let redis = RedisServer::builder().start().unwrap();
    let first = Daemon::quick(&redis).await;
    first.create("orders", 2).await;
    let mut member = Plain::new("m");
    member.beat(&first.client, "orders").await.unwrap();
    first.signal(Signal::SIGKILL);
    let second = Daemon::quick(&redis).await;
    assert_eq!(
        member.beat(&second.client, "orders").await.unwrap(),
        HeartbeatStatus::Ok
    );
    assert_eq!(member.shards(), [0, 1]);
}

#[tokio::test]
async fn i6_deleting_a_group_retires_no_shard() {
    let redis = RedisServer::builder().start().unwrap();
    let daemon = Daemon::quick(&redis).await;
    daemon.create("orders", 2).await;
    let mut connection = redis.connection().await.unwrap();
    let _: String = connection
        .xadd("orders:1", "*", &[("k", "v")])
        .await
        .unwrap();
    let delete = DeleteGroupRequest {
        requested_by: "test".to_owned(),
        reason: "over".to_owned(),
        force: true,
    };
    daemon
        .client
        .delete_group("orders", "orders", &delete)
        .await
        .unwrap();
    for (key, entries) in [("orders:0", 0), ("orders:1", 1)] {
        let length: usize = connection.xlen(key).await.unwrap();
        let groups: StreamInfoGroupsReply = connection.xinfo_groups(key).await.unwrap();
        assert_eq!(
            (length, groups.groups.len()),
            (entries, 1),
            "what is in {key} is the user's"
        );
    }
    // What is left over is in the way of a new stream of that name, and is named.
    let error = daemon
        .client
        .create_stream("orders", &four())
        .await
        .unwrap_err();
    assert!(error.to_string().contains("orders:0, orders:1"), "{error}");
}

/// Case C06: Redis comes back without what it had acknowledged last. One owner per shard at most throughout, and no epoch is handed out twice.
#[tokio::test]
async fn c06_writes_that_redis_lost_lead_to_a_round_and_to_new_epochs() {
    let mut redis = RedisServer::builder().start().unwrap();
    let daemon = Daemon::quick(&redis).await;
    daemon.create("orders", 2).await;
    let [mut a, mut b] = ["a", "b"].map(Plain::new);
    a.beat(&daemon.client, "orders").await.unwrap();
    a.beat(&daemon.client, "orders").await.unwrap();
    let mut connection = redis.connection().await.unwrap();
    let _: () = redis::cmd("SAVE")
        .query_async(&mut connection)
        .await
        .unwrap();
    for _ in 0..4 {
        b.beat(&daemon.client, "orders").await.unwrap();
        a.beat(&daemon.client, "orders").await.unwrap();
    }
    assert_eq!((a.shards(), b.shards()), (vec![0], vec![1]));
    let seen = i64::try_from(b.last.as_ref().unwrap().group_epoch).unwrap();

    redis.restart().unwrap();
    daemon.ready().await;
    let mut statuses = Vec::new();
    let end = std::time::Instant::now() + PATIENCE;
    loop {
        for member in [&mut a, &mut b] {
            let status = member.keep_up(&daemon.client, "orders").await.unwrap();
            if statuses.last() != Some(&status) {
                statuses.push(status);
            }
        }
        let both: Vec<u32> = a.shards().into_iter().chain(b.shards()).collect();
        let mut once = both.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(both.len(), once.len(), "one owner at most: {both:?}");
        if once.len() == 2 && statuses.last() == Some(&HeartbeatStatus::Ok) {
            break;
        }
        assert!(std::time::Instant::now() < end, "{statuses:?}");
        // waits: members heartbeat at an interval
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(
        statuses.contains(&HeartbeatStatus::SyncMetadata)
            || statuses.contains(&HeartbeatStatus::RevokePending),
        "{statuses:?}"
    );
    for member in [&a, &b] {
        let epoch = member.last.as_ref().unwrap().member_epoch;
        assert!(
            epoch > seen,
            "{epoch} was handed out before the loss, which had {seen}"
        );
    }
}

/// Cases C04, C25 and C28: the broken shard shows nulls and the reason, no sum hides it, and the others are answered with four numbers each.
#[tokio::test]
async fn one_broken_stream_is_told_with_nulls_and_a_reason_c04_c28() {
    let redis = RedisServer::builder().start().unwrap();
    let daemon = Daemon::quick(&redis).await;
    daemon.create("orders", 3).await;
    let mut connection = redis.connection().await.unwrap();
    for shard in [0, 2] {
        for number in 0..5 {
            let _: String = connection
                .xadd(format!("orders:{shard}"), "*", &[("n", number)])
                .await
                .unwrap();
        }
        let _: redis::Value = redis::cmd("XREADGROUP")
            .arg(&["GROUP", "orders", "somebody", "COUNT", "2", "STREAMS"])
            .arg(&[format!("orders:{shard}"), ">".to_owned()])
            .query_async(&mut connection)
            .await
            .unwrap();
    }
    let _: () = connection.del("orders:1").await.unwrap();
    let _: () = connection.set("orders:1", "a text").await.unwrap();
    let offsets = daemon.client.offsets("orders", "orders").await.unwrap();
    let numbers = |shard: usize| {
        let row = &offsets.shards[shard];
        (
            row.unread,
            row.pending_count,
            row.backlog,
            row.stream_length,
        )
    };
    assert_eq!(numbers(0), (Some(3), Some(2), Some(5), Some(5)));
    assert_eq!(numbers(1), (None, None, None, None));
    assert_eq!(numbers(2), (Some(3), Some(2), Some(5), Some(5)));
    let problems: Vec<bool> = offsets
        .shards
        .iter()
        .map(|row| row.problem.is_some())
        .collect();
    assert_eq!(problems, [false, true, false]);
    assert_eq!(offsets.total_lag, None);
}
