//! Invariants I2, I8 and I9: obedient members on a network that loses, doubles, delays and reorders, on machines that come and go.
#![allow(clippy::unwrap_used)]

mod support;

use coordinator_core::assign::Sticky;
use coordinator_core::settings::{Settings, Timing};
use coordinator_core::state::GroupState;
use coordinator_core::time::Millis;
use proptest::prelude::*;
use support::World;
use support::choices::Choices;
use support::obedient::Bench;

/// Draining takes as long as it takes here: the rebalance timeout is another rule's matter (H20).
fn patient() -> Settings {
    let timing = Timing {
        rebalance_timeout: Millis::new(3_600_000),
        ..Timing::default()
    };
    Settings::validated(timing, &Sticky).unwrap()
}

/// Whoever drains for longer is fenced in the middle of it (rule H20).
fn impatient() -> Settings {
    let timing = Timing {
        rebalance_timeout: Millis::new(5_000),
        ..Timing::default()
    };
    Settings::validated(timing, &Sticky).unwrap()
}

fn told(bench: &Bench, error: &str) -> TestCaseError {
    TestCaseError::fail(format!("{error}\n{}", bench.story()))
}

/// The faults of the network, and those of machines if there are to be any.
fn goes_through(
    bench: &mut Bench,
    choices: &mut Choices,
    steps: usize,
    machines_fail: bool,
) -> Result<(), TestCaseError> {
    for _ in 0..steps {
        bench
            .faulty_step(choices)
            .map_err(|error| told(bench, &error))?;
        if machines_fail {
            bench
                .upheaval(choices)
                .map_err(|error| told(bench, &error))?;
        }
    }
    Ok(())
}

/// The longest that anything may have to wait is one lease after coordinators were away, one more in quarantine, and then a handoff.
fn comes_to_rest(bench: &mut Bench, shards: u32) -> Result<(), TestCaseError> {
    for _ in 0..40 {
        bench.good_round().map_err(|error| told(bench, &error))?;
    }
    prop_assert_eq!(bench.world.group.state(), GroupState::Stable);
    for shard in 0..shards {
        prop_assert_eq!(bench.readers(shard), 1, "shard {} is read by one", shard);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn i2_i8_i9_one_reader_at_most_nobody_fenced_for_nothing_and_rest_once_faults_stop(
        seed in any::<u64>(),
        steps in 1_usize..600,
        members in 1_usize..5,
        shards in 1_u32..7,
    ) {
        let mut choices = Choices::new(seed);
        let mut bench = Bench::new(World::with(shards, patient()), members, 0, shards);
        goes_through(&mut bench, &mut choices, steps, false)?;
        comes_to_rest(&mut bench, shards)?;
    }

    #[test]
    fn i2_i8_i9_the_same_while_members_leave_return_and_are_replaced_and_coordinators_restart(
        seed in any::<u64>(),
        steps in 1_usize..600,
        members in 1_usize..5,
        shards in 1_u32..7,
    ) {
        let mut choices = Choices::new(seed);
        let mut bench = Bench::new(World::with(shards, patient()), members, 0, shards);
        goes_through(&mut bench, &mut choices, steps, true)?;
        comes_to_rest(&mut bench, shards)?;
    }

    /// Rules O5a, O6, H11, H14a and H20: what clients that neither name themselves nor number their messages are promised is safety, not peace.
    #[test]
    fn i2_one_reader_at_most_whatever_clients_say_of_themselves(
        seed in any::<u64>(),
        steps in 1_usize..600,
        members in 1_usize..5,
        plain in 0_usize..5,
        shards in 1_u32..7,
    ) {
        let mut choices = Choices::new(seed);
        let mut bench = Bench::new(World::with(shards, impatient()), members, plain, shards);
        bench.promises_peace = false;
        goes_through(&mut bench, &mut choices, steps, true)?;
    }
}
