//! Rule O5b: what is owned, how it is given up, and what is reported meanwhile.

use member_client::machine::{Event, GrantId};
use protocol::{HeartbeatStatus, RevokeState, RevokingShard, ShardId, ShardProgress};

use crate::bench::{Bench, INTERVAL, shards};

fn row(index: u32, state: RevokeState, in_flight: u32) -> RevokingShard {
    RevokingShard {
        shard: ShardId::new(index),
        state,
        in_flight,
        acked_at: None,
    }
}

/// Rule O5b: owned from the answer on, whether the worker runs yet or not; and reported at once.
#[test]
fn what_an_answer_assigns_is_owned_and_reported_before_its_worker_runs() {
    let mut bench = Bench::new();
    bench.start();
    bench.ok(&[1, 2]);
    let report = bench
        .request
        .clone()
        .expect("it reports what is new without waiting");
    assert_eq!(report.owned_shards, shards(&[1, 2]));
    assert_eq!(report.runtime_consumer_capacity.available_concurrency, 1);
    bench.all_started();
    bench.ok(&[1, 2]);
    assert!(bench.request.is_none(), "there is nothing new to report");
    assert_eq!(
        bench
            .next_request()
            .runtime_consumer_capacity
            .available_concurrency,
        0
    );
}

/// Rule O5b: a shard is given up only after its worker has ended, and mentioned until the coordinator knows.
#[test]
fn a_shard_is_reported_through_every_step_of_giving_it_up() {
    let mut bench = Bench::member_with(&[1, 2]);
    bench.next_request();
    bench.ok(&[2]);
    assert_eq!(bench.stopping, [1]);
    let report = bench.next_request();
    assert_eq!(
        (report.owned_shards, report.revoking_shards),
        (shards(&[2]), vec![row(1, RevokeState::Revoking, 0)])
    );
    bench.ok(&[2]);
    bench.in_flight(1, 3);
    let report = bench.next_request();
    assert_eq!(report.revoking_shards, [row(1, RevokeState::Draining, 3)]);
    bench.ok(&[2]);
    let (before, sent) = (bench.now, bench.sent);
    bench.stopped(1);
    assert_eq!(
        (bench.now, bench.sent),
        (before, sent + 1),
        "that it is free is told at once"
    );
    let report = bench.next_request();
    assert_eq!(report.revoking_shards, [row(1, RevokeState::Revoked, 0)]);
    // The answer is lost, so the coordinator may not know.
    bench.fail(member_client::machine::FailureKind::Unavailable);
    assert_eq!(
        bench.next_request().revoking_shards,
        [row(1, RevokeState::Revoked, 0)]
    );
    bench.ok(&[2]);
    assert_eq!(bench.next_request().revoking_shards, []);
    assert_eq!(bench.reading(), [2]);
}

#[test]
fn an_answer_to_an_earlier_report_does_not_confirm_a_release() {
    let mut bench = Bench::member_with(&[1]);
    bench.next_request();
    bench.ok(&[]);
    bench.next_request();
    bench.stopped(1);
    bench.ok(&[]);
    assert_eq!(
        bench.request.clone().expect("told at once").revoking_shards,
        [row(1, RevokeState::Revoked, 0)]
    );
}

/// C34, C35: a shard that is assigned again while it drains is finished first and then started under a new grant.
#[test]
fn a_shard_assigned_again_while_it_drains_is_finished_first_and_then_started_anew() {
    let mut bench = Bench::member_with(&[1]);
    let old = bench.workers[&1];
    bench.next_request();
    bench.ok(&[]);
    bench.next_request();
    bench.ok(&[1]);
    assert_eq!(bench.workers[&1], old, "two workers would read one shard");
    let report = bench
        .request
        .clone()
        .expect("owned again, and told at once");
    assert_eq!(
        (report.owned_shards, report.revoking_shards),
        (shards(&[1]), vec![]),
        "nothing that could free the new grant"
    );
    bench.stopped(1);
    let new = bench.workers[&1];
    assert!(new.counter > old.counter);
    bench.ok(&[1]);
    assert_eq!(bench.next_request().owned_shards, shards(&[1]));
}

/// C34: assigned again and taken away again, all while it drains: in the end it is given up.
#[test]
fn a_shard_that_flips_twice_while_it_drains_is_given_up_in_the_end() {
    let mut bench = Bench::member_with(&[1]);
    for assigned in [&[][..], &[1], &[]] {
        bench.next_request();
        bench.ok(assigned);
    }
    assert_eq!(bench.stopping, [1], "it was told to stop once");
    bench.stopped(1);
    assert_eq!(bench.reading(), [0_u32; 0]);
    assert_eq!(
        bench.next_request().revoking_shards,
        [row(1, RevokeState::Revoked, 0)]
    );
}

/// C34: the release was reported, and the answer assigns the shard anew.
#[test]
fn a_shard_assigned_again_after_it_was_given_up_is_started_anew() {
    let mut bench = Bench::member_with(&[1]);
    bench.next_request();
    bench.ok(&[]);
    bench.stopped(1);
    bench.next_request();
    bench.ok(&[1]);
    assert_eq!(bench.reading(), [1]);
    let report = bench.next_request();
    assert_eq!(
        (report.owned_shards, report.revoking_shards),
        (shards(&[1]), vec![])
    );
}

/// C35: what comes late from an older grant has no effect.
#[test]
fn whatever_an_older_grant_reports_is_ignored() {
    let mut bench = Bench::member_with(&[1]);
    let old = bench.workers[&1];
    bench.next_request();
    bench.ok(&[]);
    bench.next_request();
    bench.ok(&[1]);
    bench.stopped(1);
    let shard = ShardId::new(1);
    let row = ShardProgress {
        shard,
        stream_key: "orders:1".into(),
        last_delivered_id: None,
        last_acked_id: None,
        pending_count: 9,
        updated_at: None,
    };
    for late in [
        Event::WorkerStopped { shard, grant: old },
        Event::InFlight {
            shard,
            grant: old,
            records: 5,
        },
        Event::Progress { grant: old, row },
        Event::WorkerStopped {
            shard,
            grant: GrantId {
                epoch: 99,
                counter: 99,
            },
        },
        Event::WorkerStarted {
            shard: ShardId::new(77),
            grant: old,
        },
    ] {
        bench.handle(late);
        assert_eq!(bench.actions, []);
    }
    bench.ok(&[1]);
    let report = bench.next_request();
    assert_eq!(
        (
            report.owned_shards,
            report.revoking_shards,
            report.shard_progress
        ),
        (shards(&[1]), vec![], vec![])
    );
}

/// Only OK starts a shard; the other two keep what is owned and assigned and drain the rest.
#[test]
fn sync_metadata_and_revoke_pending_start_nothing_and_drain_what_is_not_theirs() {
    for status in [
        HeartbeatStatus::SyncMetadata,
        HeartbeatStatus::RevokePending,
    ] {
        let mut bench = Bench::member_with(&[1, 2]);
        bench.next_request();
        bench.version = 3;
        bench.status(status, &[2, 3]);
        assert_eq!(
            (bench.reading(), bench.stopping.clone()),
            (vec![1, 2], vec![1])
        );
        assert_eq!(
            bench.machine.metadata_version(),
            3,
            "the versions are taken over, lower ones too"
        );
        assert_eq!(bench.machine.owned_shards(), shards(&[2]));
        bench.stopped(1);
        bench.next_request();
        bench.status(status, &[1, 2, 3]);
        assert_eq!(bench.reading(), [2]);
        bench.next_request();
        bench.ok(&[1, 2, 3]);
        assert_eq!(bench.reading(), [1, 2, 3]);
    }
}

#[test]
fn a_shard_assigned_again_while_draining_waits_for_an_ok_if_the_answer_after_it_was_none() {
    let mut bench = Bench::member_with(&[1]);
    bench.next_request();
    bench.ok(&[]);
    bench.next_request();
    bench.ok(&[1]);
    bench.next_request();
    bench.status(HeartbeatStatus::RevokePending, &[1]);
    bench.stopped(1);
    assert_eq!(bench.reading(), [0_u32; 0]);
    assert_eq!(
        bench.machine.owned_shards(),
        shards(&[1]),
        "owned all the same"
    );
    bench.next_request();
    bench.ok(&[1]);
    assert_eq!(bench.reading(), [1]);
}

#[test]
fn an_owned_shard_without_a_worker_is_given_up_at_once_when_it_is_taken() {
    let mut bench = Bench::member_with(&[1]);
    bench.stopped(1);
    assert_eq!(bench.machine.owned_shards(), shards(&[1]));
    bench.next_request();
    bench.status(HeartbeatStatus::RevokePending, &[]);
    assert_eq!(
        bench.next_request().revoking_shards,
        [row(1, RevokeState::Revoked, 0)]
    );
}

#[test]
fn a_worker_that_ends_by_itself_is_started_again_with_the_next_ok_and_not_before() {
    let mut bench = Bench::member_with(&[1]);
    let before = bench.now;
    bench.stopped(1);
    assert_eq!(bench.reading(), [0_u32; 0]);
    bench.next_request();
    assert!(bench.now - before >= INTERVAL - 1);
    bench.ok(&[1]);
    assert_eq!(bench.reading(), [1]);
}

#[test]
fn progress_travels_with_the_heartbeat_while_the_shard_is_held() {
    let mut bench = Bench::member_with(&[1]);
    let row = ShardProgress {
        shard: ShardId::new(1),
        stream_key: "orders:1".into(),
        last_delivered_id: Some("5-0".into()),
        last_acked_id: Some("4-0".into()),
        pending_count: 1,
        updated_at: None,
    };
    let grant = bench.workers[&1];
    bench.handle(Event::Progress {
        grant,
        row: row.clone(),
    });
    assert_eq!(
        bench.next_request().shard_progress,
        std::slice::from_ref(&row)
    );
    bench.ok(&[]);
    assert_eq!(bench.next_request().shard_progress, [row]);
    bench.stopped(1);
    bench.ok(&[]);
    assert_eq!(bench.next_request().shard_progress, []);
}
