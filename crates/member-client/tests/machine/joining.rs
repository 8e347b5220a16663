//! Joining, being refused, and joining again.

use member_client::machine::{Action, Event, FailureKind, Health, StopReason};
use protocol::HeartbeatStatus;

use crate::bench::{Bench, CLIENT_LEASE, INTERVAL, LEASE, shards};

#[test]
fn a_member_joins_with_epoch_0_and_nothing_owned() {
    let mut bench = Bench::new();
    bench.start();
    let join = bench.request.clone().unwrap();
    assert_eq!((join.member_epoch, join.protocol_version), (0, 1));
    assert_eq!(
        (join.member_id.as_str(), join.instance_id.as_deref()),
        ("m-1", Some("process-1"))
    );
    assert!(
        join.owned_shards.is_empty()
            && join.revoking_shards.is_empty()
            && join.shard_progress.is_empty()
    );
    bench.ok(&[2, 5]);
    assert_eq!(bench.reading(), [2, 5]);
    assert_eq!(
        (
            bench.machine.member_epoch(),
            bench.machine.metadata_version()
        ),
        (4, 7)
    );
    assert_eq!(bench.health, [Health::Healthy]);
}

#[test]
fn every_message_has_a_request_id_and_a_sequence_of_its_own_also_across_rejoins() {
    let mut bench = Bench::new();
    bench.start();
    let (mut ids, mut sequences) = (Vec::new(), Vec::new());
    for round in 0..12 {
        let request = bench.next_request();
        ids.push(request.request_id);
        sequences.push(request.sequence.unwrap());
        match round % 4 {
            0 => bench.ok(&[1]),
            1 => bench.fail(FailureKind::Unavailable),
            2 => bench.status(HeartbeatStatus::UnknownMemberId, &[]),
            _ => bench.status(HeartbeatStatus::Retry, &[]),
        }
        if round % 4 == 2 {
            bench.all_stopped();
        }
    }
    assert_eq!(sequences, (1..=12).collect::<Vec<_>>());
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 12);
}

/// C38: the answer to a join is lost; the same process asks again and takes over what it is told then.
#[test]
fn a_lost_answer_to_a_join_is_asked_for_again() {
    let mut bench = Bench::new();
    bench.start();
    bench.fail(FailureKind::Unavailable);
    let again = bench.next_request();
    assert_eq!(
        (again.member_epoch, again.instance_id.as_deref()),
        (0, Some("process-1"))
    );
    bench.ok(&[1]);
    assert_eq!(bench.reading(), [1]);
}

/// C38: the answer to a heartbeat is lost; the next one reports the same state in the epoch that is known.
#[test]
fn a_lost_answer_to_a_heartbeat_changes_nothing_but_the_message() {
    let mut bench = Bench::member_with(&[1, 2]);
    let mut lost = bench.next_request();
    bench.fail(FailureKind::Unavailable);
    let again = bench.next_request();
    assert!(
        bench.now - 1_000 < 2 * INTERVAL,
        "it does not wait for the next interval"
    );
    (lost.request_id, lost.sequence) = (again.request_id.clone(), again.sequence);
    assert_eq!(lost, again);
}

#[test]
fn an_answer_counts_only_for_the_request_under_way() {
    let mut bench = Bench::member_with(&[1]);
    bench.next_request();
    let first = bench.response(HeartbeatStatus::Ok, &[1, 2]);
    bench.fail(FailureKind::Unavailable);
    bench.next_request();
    let late = Event::AnswerReceived {
        request_id: first.response_to.clone(),
        response: Box::new(first.clone()),
    };
    bench.handle(late);
    assert_eq!(
        bench.reading(),
        [1],
        "the answer of a request that was given up starts nothing"
    );
    // An answer that claims to belong to another request is as good as none.
    bench.answer(first);
    assert_eq!(bench.reading(), [1]);
    assert_eq!(bench.health.last(), Some(&Health::Degraded));
}

/// C37: a fenced member stops at once, sends nothing while its workers end, and then joins once.
#[test]
fn a_fenced_member_abandons_everything_before_it_joins_again() {
    for status in [
        HeartbeatStatus::FencedMemberEpoch,
        HeartbeatStatus::UnknownMemberId,
    ] {
        let mut bench = Bench::member_with(&[1, 2]);
        bench.next_request();
        bench.status(status, &[]);
        assert_eq!(bench.abandoned, 1);
        assert_eq!(
            (bench.machine.member_epoch(), bench.machine.lease_until()),
            (0, None)
        );
        let sent = bench.sent;
        for _ in 0..5 {
            bench.after(INTERVAL).tick();
        }
        bench.stopped(1);
        assert_eq!(bench.sent, sent, "it spoke while a worker was still ending");
        bench.stopped(2);
        let join = bench.next_request();
        assert_eq!(
            (join.member_epoch, join.owned_shards, join.revoking_shards),
            (0, vec![], vec![])
        );
        assert_eq!(bench.sent, sent + 1);
    }
}

/// C37: with each refusal the wait grows; after five in a row health fails, and it keeps trying.
#[test]
fn refused_joins_come_less_and_less_often_and_then_fail_the_health() {
    let mut bench = Bench::new();
    bench.start();
    let mut waits = Vec::new();
    for _ in 0..12 {
        bench.next_request();
        bench.status(HeartbeatStatus::UnknownMemberId, &[]);
        let asked = bench.now;
        bench.next_request();
        waits.push(bench.now - asked);
    }
    for (refusals, wait) in (1_u32..).zip(&waits) {
        let full = (200 << (refusals - 1)).min(30_000);
        assert!((full / 2..=full).contains(wait), "{waits:?}");
    }
    assert_eq!(bench.health, [Health::Degraded, Health::Failing]);
    bench.ok(&[]);
    assert_eq!(bench.health.last(), Some(&Health::Healthy));
}

/// C22: of two processes with one id the older stands aside after one exchange: it does not throw the newer one out again.
#[test]
fn a_member_thrown_out_twice_in_a_row_for_no_fault_of_its_own_stands_aside() {
    let mut bench = Bench::member_with(&[1]);
    let mut waits = Vec::new();
    for _ in 0..4 {
        bench.next_request();
        bench.status(HeartbeatStatus::FencedMemberEpoch, &[]);
        bench.all_stopped();
        let out = bench.now;
        assert_eq!(bench.next_request().member_epoch, 0);
        waits.push(bench.now - out);
        bench.ok(&[1]);
    }
    assert!(waits[0] <= 200, "{waits:?}");
    assert_eq!(waits[1..], [2 * LEASE, 4 * LEASE, 8 * LEASE]);
    assert_eq!(bench.ended, None);
    assert_eq!(
        bench
            .health
            .iter()
            .filter(|health| **health == Health::Failing)
            .count(),
        3
    );
}

/// C22: two refusals with a settled membership between them are two misfortunes, not another process.
#[test]
fn a_member_thrown_out_now_and_then_keeps_coming_back() {
    let mut bench = Bench::member_with(&[1]);
    for _ in 0..4 {
        let settled = bench.now + 2 * LEASE;
        while bench.now < settled {
            bench.next_request();
            bench.ok(&[1]);
        }
        bench.next_request();
        bench.status(HeartbeatStatus::FencedMemberEpoch, &[]);
        bench.all_stopped();
        bench.next_request();
        bench.ok(&[1]);
    }
    assert_eq!((bench.ended, bench.workers.len()), (None, 1));
}

/// Rule H20 may have thrown out a member that drained for longer than the rebalance timeout: that is no other process.
#[test]
fn a_member_fenced_for_draining_too_long_does_not_stand_aside() {
    let mut bench = Bench::member_with(&[1]);
    for _ in 0..3 {
        bench.next_request();
        bench.ok(&[]);
        let overdue = bench.now + 60_000;
        while bench.now < overdue {
            bench.next_request();
            bench.ok(&[]);
        }
        bench.next_request();
        bench.status(HeartbeatStatus::FencedMemberEpoch, &[]);
        bench.all_stopped();
        bench.next_request();
        bench.ok(&[1]);
        assert!(bench.now - overdue <= INTERVAL + 400, "it stood aside");
    }
}

#[test]
fn some_answers_stop_a_member_for_good_with_their_reason() {
    let invalid = |message: &str| StopReason::InvalidRequest {
        message: message.into(),
    };
    for (status, reason) in [
        (
            HeartbeatStatus::UnsupportedProtocol,
            StopReason::UnsupportedProtocol { version: 1 },
        ),
        (HeartbeatStatus::InvalidRequest, invalid("")),
    ] {
        let mut bench = Bench::member_with(&[1]);
        bench.next_request();
        bench.status(status, &[]);
        bench.all_stopped();
        assert_eq!((bench.abandoned, bench.ended), (1, Some(reason)));
    }
    let mut bench = Bench::member_with(&[]);
    bench.next_request();
    bench.fail(FailureKind::Invalid {
        message: "memberId: too long".into(),
    });
    assert_eq!(bench.ended, Some(invalid("memberId: too long")));
    assert_eq!(bench.health.last(), Some(&Health::Stopped));
}

#[test]
fn retry_and_failures_keep_everything_and_are_repeated_within_the_interval() {
    let failures = [
        None,
        Some(FailureKind::Unavailable),
        Some(FailureKind::Denied),
        Some(FailureKind::Throttled {
            retry_after_ms: 700,
        }),
    ];
    for kind in failures {
        let mut bench = Bench::member_with(&[1, 2]);
        bench.next_request();
        let mut asked = bench.now;
        for _ in 0..3 {
            match kind.clone() {
                None => bench.status(HeartbeatStatus::Retry, &[]),
                Some(kind) => bench.fail(kind),
            }
            assert_eq!(
                bench
                    .actions
                    .iter()
                    .filter(|action| !matches!(action, Action::Health(_)))
                    .count(),
                0
            );
            let again = bench.next_request();
            assert_eq!(
                (again.member_epoch, again.owned_shards),
                (4, shards(&[1, 2]))
            );
            let wait = bench.now - asked;
            let least = if matches!(kind, Some(FailureKind::Throttled { .. })) {
                700
            } else {
                50
            };
            assert!((least..=INTERVAL).contains(&wait), "{kind:?}: {wait}");
            asked = bench.now;
        }
        assert_eq!(bench.reading(), [1, 2]);
    }
}

#[test]
fn a_long_wait_asked_for_by_the_server_does_not_outlast_the_interval() {
    let mut bench = Bench::member_with(&[1]);
    bench.next_request();
    let asked = bench.now;
    bench.fail(FailureKind::Throttled {
        retry_after_ms: 600_000,
    });
    bench.next_request();
    assert_eq!(bench.now - asked, INTERVAL);
    assert!(bench.now < 1_000 + CLIENT_LEASE);
}

#[test]
fn a_hint_is_followed_at_once_unless_it_is_no_news() {
    let mut bench = Bench::member_with(&[1]);
    let sent = bench.sent;
    bench.handle(Event::VersionChanged {
        metadata_version: 7,
    });
    assert_eq!(bench.sent, sent, "that version is known");
    bench.handle(Event::VersionChanged {
        metadata_version: 8,
    });
    assert_eq!(bench.sent, sent + 1);
    // A hint that overtakes the answer is kept, and forgotten when the answer shows that version.
    bench.handle(Event::VersionChanged {
        metadata_version: 9,
    });
    bench.version = 8;
    bench.ok(&[1]);
    assert_eq!(bench.sent, sent + 2);
    bench.handle(Event::VersionChanged {
        metadata_version: 10,
    });
    bench.version = 10;
    bench.ok(&[1]);
    assert_eq!(bench.sent, sent + 2);
}
