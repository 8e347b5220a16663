//! That runs find a store that breaks its promises: each fault is found within a bounded number of seeds, by the invariant that it breaks.

use coordinator_sim::{Fleet, Invariant, Options, StoreFaults, Weights, simulate_many};

/// What is broken first depends on the seed; it is one of these.
fn is_found(store_faults: StoreFaults, seeds: u64, by: &[Invariant]) {
    let options = Options {
        store_faults,
        ..Options::default()
    };
    let fleet: Fleet = simulate_many(0, &options, 1, |number| number < seeds);
    let violation = fleet
        .failed
        .and_then(|failed| failed.violation)
        .expect("the fault is found");
    assert!(by.contains(&violation.invariant), "{violation}");
}

/// Rules C7 and C8: nobody knows that writes were lost.
#[test]
fn a_store_that_hides_a_fail_over_is_found() {
    let faults = StoreFaults {
        hidden_doubt: true,
        ..StoreFaults::default()
    };
    is_found(
        faults,
        600,
        &[
            Invariant::SingleReader,
            Invariant::ComesToRest,
            Invariant::ObedientStays,
        ],
    );
}

/// Rule M6: leases are judged though nobody was watching.
#[test]
fn a_store_that_always_claims_to_have_been_watched_is_found() {
    let faults = StoreFaults {
        watch_without_gaps: true,
        ..StoreFaults::default()
    };
    is_found(
        faults,
        600,
        &[Invariant::SingleReader, Invariant::ObedientStays],
    );
}

/// Rule E1: two coordinators commit on the same record.
#[test]
fn a_store_that_commits_on_an_old_record_is_found() {
    let faults = StoreFaults {
        commit_without_stamp_check: true,
        ..StoreFaults::default()
    };
    is_found(faults, 600, &[Invariant::SingleReader, Invariant::Epochs]);
}

/// Rule H17: the short way answers from a record that is no longer the present one.
#[test]
fn a_store_that_renews_on_an_old_record_is_found() {
    let faults = StoreFaults {
        renew_without_stamp_check: true,
        ..StoreFaults::default()
    };
    is_found(
        faults,
        100,
        &[Invariant::SingleReader, Invariant::ObedientStays],
    );
}

/// A lease that is renewed between a decision about it and its commit. Rare: it takes a process that is cut off right after the renewal, a twin, and
/// a third one that is given the shard in the short time between the two ends of the lease. So only what matters for it happens here, and the seeds
/// begin shortly before one that gets there. Without the fault the same seeds are clean.
#[test]
fn a_store_that_commits_over_a_renewed_lease_is_found() {
    let options = |is_faulty| Options {
        weights: Weights {
            processes: 60,
            stages: 120,
            arrivals: 250,
            work: 80,
            coordinators: 4,
            admins: 0,
            chores: 0,
            lag: 0,
            store: 0,
            publishing: 0,
            ..Weights::default()
        },
        lost_writes: false,
        plain_members: false,
        two_groups: false,
        clock_jumps: false,
        demands_rest: false,
        store_faults: StoreFaults {
            commit_without_lease_check: is_faulty,
            ..StoreFaults::default()
        },
        ..Options::default()
    };
    let of = |is_faulty| simulate_many(4_000, &options(is_faulty), 1, |number| number < 60);
    let violation = of(true)
        .failed
        .and_then(|failed| failed.violation)
        .expect("it is found");
    assert_eq!(violation.invariant, Invariant::SingleReader);
    assert_eq!(of(false).failed, None);
}
