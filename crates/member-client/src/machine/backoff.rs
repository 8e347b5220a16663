//! Growing waits with jitter from a seed, so that many members do not knock in step and a run can be repeated exactly.

/// The source of jitter: a small generator (splitmix64), good enough to spread waits and nothing else.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Jitter(u64);

impl Jitter {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A wait in milliseconds before the attempt that follows `failures` failures in a row: from half of, up to all of
    /// `first_ms · 2^(failures − 1)`, where that is not above `most_ms`.
    pub(crate) fn wait_ms(&mut self, failures: u32, first_ms: u64, most_ms: u64) -> u64 {
        let doublings = failures.saturating_sub(1).min(32);
        let full = first_ms.saturating_mul(1 << doublings).min(most_ms);
        let half = full / 2;
        half + self.next() % (full - half + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_most_and_stay_within_half_of_it() {
        let mut jitter = Jitter::new(7);
        for (failures, full) in [
            (0, 100),
            (1, 100),
            (2, 200),
            (3, 400),
            (4, 800),
            (5, 1_000),
            (60, 1_000),
        ] {
            for _ in 0..100 {
                let wait = jitter.wait_ms(failures, 100, 1_000);
                assert!(
                    (full / 2..=full).contains(&wait),
                    "{failures} failures: {wait}"
                );
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_waits_and_another_one_others() {
        let waits = |seed| {
            let mut jitter = Jitter::new(seed);
            (1..20)
                .map(|failures| jitter.wait_ms(failures, 1_000, 60_000))
                .collect::<Vec<_>>()
        };
        assert_eq!(waits(1), waits(1));
        assert_ne!(waits(1), waits(2));
    }
}
