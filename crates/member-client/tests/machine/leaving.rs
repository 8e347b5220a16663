//! Shutting down in order, and what bounds it.

use member_client::machine::{Event, FailureKind, StopReason};
use protocol::{HeartbeatStatus, RevokeState};

use crate::bench::{Bench, CLIENT_LEASE, INTERVAL};

#[test]
fn a_member_leaves_after_it_has_drained_and_reported_everything() {
    let mut bench = Bench::member_with(&[1, 2]);
    bench.handle(Event::Shutdown);
    assert_eq!(bench.stopping, [1, 2]);
    let leave = bench.next_request();
    assert_eq!(
        (
            leave.member_epoch,
            leave.owned_shards,
            leave.revoking_shards.len()
        ),
        (-1, vec![], 2)
    );
    bench.ok(&[]);
    bench.stopped(1);
    let leave = bench.next_request();
    let states: Vec<_> = leave.revoking_shards.iter().map(|row| row.state).collect();
    assert_eq!(
        (leave.member_epoch, states),
        (-1, vec![RevokeState::Revoked, RevokeState::Revoking])
    );
    bench.stopped(2);
    bench.ok(&[]);
    assert_eq!(bench.ended, None, "the answer was to a report from before");
    bench.next_request();
    bench.ok(&[]);
    assert_eq!((bench.ended, bench.abandoned), (Some(StopReason::Left), 0));
    assert_eq!(bench.machine.next_deadline(), None);
}

#[test]
fn a_member_that_holds_nothing_leaves_with_one_message() {
    let mut bench = Bench::member_with(&[]);
    bench.handle(Event::Shutdown);
    assert_eq!(bench.next_request().member_epoch, -1);
    bench.ok(&[]);
    assert_eq!(bench.ended, Some(StopReason::Left));
}

#[test]
fn an_answer_to_a_heartbeat_from_before_the_shutdown_starts_nothing_and_ends_nothing() {
    let mut bench = Bench::member_with(&[]);
    bench.next_request();
    bench.handle(Event::Shutdown);
    bench.ok(&[1, 2]);
    assert_eq!((bench.reading(), bench.ended.clone()), (vec![], None));
    assert_eq!(
        bench
            .request
            .clone()
            .expect("the leave follows at once")
            .member_epoch,
        -1
    );
}

#[test]
fn a_shutdown_during_a_join_leaves_too_because_the_join_may_have_been_heard() {
    let mut bench = Bench::new();
    bench.start();
    bench.handle(Event::Shutdown);
    bench.fail(FailureKind::Unavailable);
    assert_eq!(bench.next_request().member_epoch, -1);
    bench.status(HeartbeatStatus::UnknownMemberId, &[]);
    assert_eq!(bench.ended, Some(StopReason::Left));
}

/// The pause after a refusal is for joining again; whoever is told to end meanwhile does not sit it out.
#[test]
fn a_shutdown_between_two_attempts_to_join_leaves_at_once() {
    let mut bench = Bench::new();
    bench.start();
    for _ in 0..5 {
        bench.status(HeartbeatStatus::UnknownMemberId, &[]);
        bench.next_request();
    }
    bench.status(HeartbeatStatus::UnknownMemberId, &[]);
    bench.handle(Event::Shutdown);
    let leave = bench.request.clone().expect("it is sent with the shutdown");
    assert_eq!(leave.member_epoch, -1);
    bench.status(HeartbeatStatus::UnknownMemberId, &[]);
    assert_eq!(bench.ended, Some(StopReason::Left));
}

/// A process that could not even join, because the coordinator is away, does not hold up its end for that.
#[test]
fn a_member_that_never_got_in_tries_to_leave_for_one_interval_only() {
    let mut bench = Bench::new();
    bench.start();
    bench.fail(FailureKind::Unavailable);
    bench.handle(Event::Shutdown);
    let end = bench.now + INTERVAL;
    while bench.ended.is_none() {
        if bench.request.is_some() {
            bench.fail(FailureKind::Unavailable);
        }
        bench.run_to_deadline();
    }
    assert_eq!(bench.now, end);
    assert_eq!(
        bench.ended,
        Some(StopReason::ShutdownTimedOut {
            timeout_ms: INTERVAL
        })
    );
}

#[test]
fn a_shutdown_before_the_start_ends_it_without_a_word() {
    let mut bench = Bench::new();
    bench.handle(Event::Shutdown);
    assert_eq!((bench.ended, bench.sent), (Some(StopReason::Left), 0));
}

#[test]
fn a_leaving_member_that_is_refused_drops_everything_and_is_done() {
    let mut bench = Bench::member_with(&[1]);
    bench.handle(Event::Shutdown);
    bench.next_request();
    bench.status(HeartbeatStatus::FencedMemberEpoch, &[]);
    assert_eq!((bench.abandoned, bench.ended.clone()), (1, None));
    bench.all_stopped();
    assert_eq!(bench.ended, Some(StopReason::Left));
}

#[test]
fn leaving_is_bounded_by_the_shutdown_timeout() {
    let mut bench = Bench::with(|settings| settings.shutdown_timeout_ms = 5_000);
    bench.start();
    bench.ok(&[1]);
    bench.all_started();
    bench.handle(Event::Shutdown);
    let end = bench.now + 5_000;
    while bench.ended.is_none() {
        if bench.request.is_some() {
            bench.ok(&[]);
        }
        bench.run_to_deadline();
        assert!(bench.now <= end);
    }
    assert_eq!((bench.now, bench.abandoned), (end, 1));
    assert_eq!(
        bench.ended,
        Some(StopReason::ShutdownTimedOut { timeout_ms: 5_000 })
    );
}

/// Rule T2 holds while leaving as well.
#[test]
fn a_leaving_member_whose_lease_is_over_stops_reading() {
    let mut bench = Bench::member_with(&[1]);
    bench.handle(Event::Shutdown);
    bench.after(CLIENT_LEASE).tick();
    assert_eq!(bench.abandoned, 1);
    bench.all_stopped();
    assert_eq!(bench.ended, Some(StopReason::Left));
}

#[test]
fn a_shutdown_while_clearing_ends_after_the_workers_have() {
    let mut bench = Bench::member_with(&[1]);
    bench.next_request();
    bench.status(HeartbeatStatus::UnknownMemberId, &[]);
    bench.handle(Event::Shutdown);
    assert_eq!(bench.ended, None);
    bench.all_stopped();
    assert_eq!(bench.ended, Some(StopReason::Left));
}

#[test]
fn a_second_shutdown_does_not_move_the_deadline() {
    let mut bench = Bench::member_with(&[1]);
    bench.handle(Event::Shutdown);
    bench.next_request();
    bench.ok(&[]);
    let deadline = bench.machine.next_deadline();
    bench.after(10).handle(Event::Shutdown);
    assert_eq!(bench.machine.next_deadline(), deadline);
    assert_eq!(bench.actions, []);
}
