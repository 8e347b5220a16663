//! Choices at random that can be made again.

/// A source of choices that is the same for the same seed.
pub struct Choices(u64);

impl Choices {
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number below `limit`. Source: the splitmix64 generator.
    pub fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % limit as u64).expect("below the limit")
    }
}
