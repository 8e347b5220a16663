//! The budget of seeds that belongs to every change, in parts that run at the same time; and that a seed means the same run each time.

use coordinator_sim::{Options, simulate, simulate_many};

/// Seeds of one part.
const PART: u64 = 250;

fn part(first: u64, options: &Options) {
    let fleet = simulate_many(first, options, 1, |number| number < PART);
    println!("{}", fleet.counts);
    if let Some(failed) = fleet.failed {
        let violation = failed.violation.expect("it failed");
        panic!("{violation}\n   cargo xtask sim --seed {}", failed.seed);
    }
    assert_eq!(fleet.counts.seeds, PART);
    assert!(fleet.counts.handoffs > 0 && fleet.counts.migrations_finished > 0);
}

macro_rules! parts {
    ($($name:ident: $first:expr),*) => {$(
        #[test]
        fn $name() {
            part($first, &Options::default());
        }
    )*};
}

parts! {
    i1_to_i9_hold_for_seeds_from_0: 0,
    i1_to_i9_hold_for_seeds_from_250: 250,
    i1_to_i9_hold_for_seeds_from_500: 500,
    i1_to_i9_hold_for_seeds_from_750: 750,
    i1_to_i9_hold_for_seeds_from_1000: 1_000,
    i1_to_i9_hold_for_seeds_from_1250: 1_250,
    i1_to_i9_hold_for_seeds_from_1500: 1_500,
    i1_to_i9_hold_for_seeds_from_1750: 1_750
}

/// Invariant 9 in its own words: nothing but messages goes wrong.
#[test]
fn i9_holds_for_every_member_where_only_messages_go_wrong() {
    let fleet = simulate_many(10_000, &Options::messages_only(), 1, |number| number < PART);
    println!("{}", fleet.counts);
    assert_eq!(fleet.failed.and_then(|failed| failed.violation), None);
}

#[test]
fn a_seed_is_the_same_run_each_time() {
    for seed in 0..20 {
        let options = Options::default();
        assert_eq!(simulate(seed, &options), simulate(seed, &options));
        assert_eq!(
            coordinator_sim::events_of(seed, &options, None),
            coordinator_sim::events_of(seed, &options, None)
        );
    }
}
