//! Rules M4 and M5: a tick changes nothing that is not due, whenever it comes, and what is due is announced before.
#![allow(clippy::unwrap_used)]

mod support;

use coordinator_core::input::Input;
use coordinator_core::settings::Settings;
use coordinator_core::time::{Clock, Timestamp};
use proptest::prelude::*;
use support::World;
use support::choices::Choices;
use support::obedient::Bench;
use support::streams::Streams;

const MOST: u32 = 6;

/// A moment from now on that is before the group's next deadline; none if that is over.
fn before_the_deadline(world: &World, choices: &mut Choices) -> Option<Timestamp> {
    let far = world.now.as_ms() + 10_000_000;
    let next = world.group.next_deadline().map_or(far, Timestamp::as_ms);
    let room = next
        .checked_sub(world.now.as_ms())
        .filter(|room| *room > 0)?;
    let room = usize::try_from(room).unwrap();
    Some(Timestamp::from_ms(
        world.now.as_ms() + choices.below(room) as u64,
    ))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn m4_m5_ticks_at_random_times_change_nothing_that_is_not_due(
        seed in any::<u64>(),
        steps in 1_usize..400,
        members in 1_usize..4,
        plain in 0_usize..2,
        shards in 0_u32..MOST,
    ) {
        let mut choices = Choices::new(seed);
        let mut bench = Bench::new(World::with(shards, Settings::default()), members, plain, MOST);
        bench.promises_peace = false;
        let mut streams = Streams::new(shards, MOST);
        for _ in 0..steps {
            let told = |bench: &Bench, error: &str| TestCaseError::fail(format!("{error}\n{}", bench.story()));
            bench.faulty_step(&mut choices).map_err(|error| told(&bench, &error))?;
            bench.upheaval(&mut choices).map_err(|error| told(&bench, &error))?;
            streams.step(&mut bench, &mut choices).map_err(|error| told(&bench, &error))?;
            if choices.below(40) == 0 {
                // The store was restarted; nothing was lost, which nobody can know (rule C8).
                bench.world.doubted_at = Some(bench.world.now);
            }
            if bench.world.group.record().lineage.is_news(bench.world.doubted_at) {
                continue;
            }
            let Some(now) = before_the_deadline(&bench.world, &mut choices) else {
                continue;
            };
            let coordination_since = if choices.below(2) == 0 { now } else { bench.world.since };
            let clock = Clock { now, coordination_since, doubted_at: bench.world.doubted_at };
            let step = bench.world.group.decide(clock, &Input::TickDue).unwrap();
            prop_assert_eq!(step.writes, [], "at {:?}, due at {:?}\n{}", now, bench.world.group.next_deadline(), bench.story());
        }
    }
}
