//! Choices at random that can be made again: the same seed gives the same choices in every version. Decides nothing by itself.

/// A source of choices. Source: the splitmix64 generator.
#[derive(Clone, Debug)]
pub(crate) struct Choices(u64);

const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Choices {
    pub(crate) const fn new(seed: u64) -> Self {
        Self(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        scramble(self.0)
    }

    /// A number below `limit`, which is above 0.
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        usize::try_from(self.next() % limit as u64).expect("below a limit that is a usize")
    }

    /// A number from `least` to `most`, both included.
    pub(crate) fn within(&mut self, least: u64, most: u64) -> u64 {
        least + self.next() % (most - least + 1)
    }

    /// Whether something happens that does so `percent` times in a hundred.
    pub(crate) fn chance(&mut self, percent: u64) -> bool {
        self.next() % 100 < percent
    }

    /// The position of one of several weights, chosen by their share.
    pub(crate) fn weighted(&mut self, weights: &[u32]) -> usize {
        let all: u64 = weights.iter().map(|weight| u64::from(*weight)).sum();
        let mut left = self.next() % all.max(1);
        for (position, weight) in weights.iter().enumerate() {
            match left.checked_sub(u64::from(*weight)) {
                Some(rest) => left = rest,
                None => return position,
            }
        }
        0
    }
}

/// A number that depends on two others and looks like neither.
pub(crate) const fn mix(seed: u64, salt: u64) -> u64 {
    scramble(scramble(seed.wrapping_add(STEP)) ^ salt.wrapping_mul(STEP).wrapping_add(STEP))
}

const fn scramble(value: u64) -> u64 {
    let mut z = value;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Seeds are kept for ever, so the numbers they stand for never change.
    #[test]
    fn a_seed_means_the_same_choices_in_every_version() {
        let mut choices = Choices::new(1);
        let first = [
            choices.below(1_000),
            choices.below(1_000),
            choices.below(1_000),
        ];
        assert_eq!(first, [465, 519, 590]);
        assert_eq!(mix(1, 2), mix(1, 2));
        assert_ne!(mix(1, 2), mix(2, 1));
    }

    #[test]
    fn a_weight_of_nothing_is_never_chosen() {
        let mut choices = Choices::new(7);
        assert!((0..1_000).all(|_| choices.weighted(&[3, 0, 2]) != 1));
    }
}
