//! Rules T2 and T3: what begins, extends and ends the client's own lease.

use member_client::machine::{Event, FailureKind, MonotonicMillis};
use protocol::HeartbeatStatus;

use crate::bench::{Bench, CLIENT_LEASE, INTERVAL};

/// Rule T2: the lease counts from the sending of the answered request, not from its answer.
#[test]
fn the_lease_begins_when_the_answered_heartbeat_was_sent() {
    for status in [
        HeartbeatStatus::Ok,
        HeartbeatStatus::SyncMetadata,
        HeartbeatStatus::RevokePending,
    ] {
        let mut bench = Bench::member_with(&[1]);
        bench.next_request();
        let sent = bench.now;
        bench.after(900);
        bench.status(status, &[1]);
        assert_eq!(
            bench.machine.lease_until(),
            Some(MonotonicMillis::new(sent + CLIENT_LEASE)),
            "{status:?}"
        );
    }
}

/// Rule T3.
#[test]
fn nothing_else_extends_the_lease() {
    let mut bench = Bench::member_with(&[1]);
    let until = bench.machine.lease_until();
    bench.next_request();
    bench.status(HeartbeatStatus::Retry, &[1]);
    bench.next_request();
    for kind in [
        FailureKind::Unavailable,
        FailureKind::Denied,
        FailureKind::Throttled { retry_after_ms: 1 },
    ] {
        bench.fail(kind);
        bench.next_request();
    }
    let mut stray = bench.response(HeartbeatStatus::Ok, &[1]);
    stray.response_to = "another".into();
    bench.answer(stray);
    bench.handle(Event::VersionChanged {
        metadata_version: 99,
    });
    assert_eq!(bench.machine.lease_until(), until);
}

/// Rule T2: when it is over everything stops, and the member comes back with nothing.
#[test]
fn when_the_lease_is_over_everything_is_abandoned_and_the_member_rejoins_with_nothing() {
    let mut bench = Bench::member_with(&[1, 2]);
    let until = bench.machine.lease_until().unwrap().as_millis();
    while bench.now < until {
        assert_eq!(bench.abandoned, 0, "{} ms too early", until - bench.now);
        bench.run_to_deadline();
        if bench.request.is_some() && bench.now < until {
            bench.fail(FailureKind::Unavailable);
        }
    }
    assert_eq!(
        (bench.now, bench.abandoned, bench.machine.lease_until()),
        (until, 1, None)
    );
    bench.request = None;
    bench.all_stopped();
    let join = bench.next_request();
    assert_eq!(
        (join.member_epoch, join.owned_shards, join.revoking_shards),
        (0, vec![], vec![])
    );
    bench.ok(&[2]);
    assert_eq!(bench.reading(), [2]);
}

#[test]
fn an_answer_that_comes_after_the_lease_is_over_saves_nothing() {
    let mut bench = Bench::member_with(&[1]);
    bench.next_request();
    bench.after(CLIENT_LEASE);
    bench.ok(&[1, 2]);
    assert_eq!(
        (bench.abandoned, bench.reading()),
        (1, vec![1]),
        "it stopped, and started nothing"
    );
    bench.all_stopped();
    assert_eq!(bench.next_request().member_epoch, 0);
}

#[test]
fn an_answer_to_a_join_that_took_longer_than_a_lease_lets_nothing_start() {
    let mut bench = Bench::new();
    bench.start();
    bench.after(CLIENT_LEASE);
    bench.ok(&[1]);
    assert_eq!(
        (bench.reading(), bench.machine.lease_until()),
        (vec![], None)
    );
    assert_eq!(bench.next_request().member_epoch, 0);
    bench.ok(&[1]);
    assert_eq!(bench.reading(), [1]);
}

/// Rule T2: the length is that of the answer, else the configured one, minus the margin.
#[test]
fn the_lease_is_as_long_as_the_answer_says_minus_the_margin() {
    for (ttl, margin, expected) in [
        (None, 10, 13_500),
        (Some(6_000), 10, 5_400),
        (Some(6_000), 25, 4_500),
        (Some(0), 10, 13_500),
        (Some(999), 1, 990),
    ] {
        let mut bench = Bench::with(|settings| settings.lease_margin_percent = margin);
        bench.start();
        let mut response = bench.response(HeartbeatStatus::Ok, &[]);
        response.member_lease_ttl_ms = ttl;
        bench.answer(response);
        assert_eq!(
            bench.machine.lease_until(),
            Some(MonotonicMillis::new(1_000 + expected)),
            "{ttl:?}, {margin} %"
        );
    }
}

#[test]
fn a_member_that_is_answered_heartbeats_once_per_interval_and_never_runs_out() {
    let mut bench = Bench::member_with(&[1]);
    let first = bench.sent;
    for round in 1..=20_u64 {
        bench.next_request();
        assert_eq!(bench.now, 1_000 + round * INTERVAL);
        bench.after(5).ok(&[1]);
        bench.now -= 5;
    }
    assert_eq!((bench.sent - first, bench.abandoned), (20, 0));
}

#[test]
fn an_interval_of_zero_does_not_make_it_spin() {
    let mut bench = Bench::member_with(&[]);
    bench.next_request();
    let mut response = bench.response(HeartbeatStatus::Ok, &[]);
    response.heartbeat_interval_ms = 0;
    bench.answer(response);
    let asked = bench.now;
    bench.next_request();
    assert_eq!(bench.now - asked, 10);
}
