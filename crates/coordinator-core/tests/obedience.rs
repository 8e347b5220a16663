//! Invariants I2, I8 and I9: obedient members on a network that loses, doubles, delays and reorders.
#![allow(clippy::unwrap_used)]

mod support;

use coordinator_core::assign::Sticky;
use coordinator_core::settings::{Settings, Timing};
use coordinator_core::state::GroupState;
use coordinator_core::time::Millis;
use proptest::prelude::*;
use support::World;
use support::obedient::{Bench, Choices};

/// Draining takes as long as it takes here: the rebalance timeout is another rule's matter (H20).
fn patient() -> Settings {
    let timing = Timing {
        rebalance_timeout: Millis::new(3_600_000),
        ..Timing::default()
    };
    Settings::validated(timing, &Sticky).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn i2_i8_i9_one_reader_at_most_nobody_fenced_for_nothing_and_rest_once_faults_stop(
        seed in any::<u64>(),
        steps in 1_usize..600,
        members in 1_usize..5,
        shards in 1_u32..7,
    ) {
        let mut choices = Choices::new(seed);
        let mut bench = Bench::new(World::with(shards, patient()), members, shards);
        for step in 0..steps {
            bench.faulty_step(&mut choices).map_err(|error| TestCaseError::fail(format!("step {step}: {error}\n{}", bench.story("m"))))?;
        }
        // The longest that anything may have to wait is one lease, and then a handoff.
        for _ in 0..25 {
            bench.good_round().map_err(TestCaseError::fail)?;
        }
        prop_assert_eq!(bench.world.group.state(), GroupState::Stable);
        for shard in 0..shards {
            prop_assert_eq!(bench.readers(shard), 1, "shard {} is read by one", shard);
        }
    }
}
