//! That runs find a store that breaks its promises: each fault is found within a bounded number of seeds, by the invariant that it breaks.

use coordinator_sim::{Fleet, Invariant, Options, StoreFaults, simulate_many};

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
