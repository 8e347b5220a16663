//! Rules G1 to G8 at random, with invariants I2, I6 and I8: the shard count changes while members, the network and producers do what they do.
#![allow(clippy::unwrap_used)]

mod support;

use coordinator_core::settings::Settings;
use coordinator_core::state::GroupState;
use proptest::prelude::*;
use support::World;
use support::choices::Choices;
use support::obedient::Bench;
use support::streams::Streams;

/// The most shards there ever are.
const MOST: u32 = 7;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn i2_i6_i8_nothing_is_lost_or_read_twice_at_once_while_the_shard_count_changes(
        seed in any::<u64>(),
        steps in 1_usize..500,
        members in 1_usize..4,
        shards in 0_u32..MOST,
    ) {
        let mut choices = Choices::new(seed);
        let mut bench = Bench::new(World::with(shards, Settings::default()), members, 0, MOST);
        bench.promises_peace = false;
        let mut streams = Streams::new(shards, MOST);
        let told = |bench: &Bench, error: &str| TestCaseError::fail(format!("{error}\n{}", bench.story()));
        for _ in 0..steps {
            bench.faulty_step(&mut choices).map_err(|error| told(&bench, &error))?;
            streams.step(&mut bench, &mut choices).map_err(|error| told(&bench, &error))?;
        }
        for _ in 0..60 {
            bench.good_round().map_err(|error| told(&bench, &error))?;
            streams.good_step(&mut bench).map_err(|error| told(&bench, &error))?;
        }
        let record = bench.world.group.record();
        prop_assert_eq!(&record.migration, &None, "every change ends");
        prop_assert_eq!(bench.world.group.state(), GroupState::Stable);
        prop_assert_eq!(streams.left(), 0, "nothing is left where nobody reads");
        let count = record.shard_count.get();
        for shard in 0..MOST {
            prop_assert_eq!(bench.readers(shard), usize::from(shard < count), "shard {} of {}", shard, count);
        }
    }
}
