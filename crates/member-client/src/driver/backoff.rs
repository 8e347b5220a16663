//! Pauses between attempts that grow and are spread. What is attempted is not known here.

use std::time::Duration;

/// The first and the longest pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Backoff {
    first: Duration,
    longest: Duration,
}

impl Backoff {
    pub(crate) const fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest }
    }

    /// The pause after so many failures in a row: from half of, up to all of a length that doubles each time.
    pub(crate) fn pause(self, failures: u32) -> Duration {
        let full = self
            .first
            .saturating_mul(1 << failures.saturating_sub(1).min(20))
            .min(self.longest);
        let (_, random) = uuid::Uuid::new_v4().as_u64_pair();
        let share = u32::try_from(random % 1_024).unwrap_or(0);
        full / 2 + full / 2 * share / 1_024
    }

    pub(crate) const fn longest(self) -> Duration {
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(1));
        for (failures, full) in [
            (0, 100),
            (1, 100),
            (2, 200),
            (4, 800),
            (5, 1_000),
            (u32::MAX, 1_000),
        ] {
            let pause = backoff.pause(failures).as_millis();
            assert!((full / 2..=full).contains(&pause), "{failures}: {pause}");
        }
    }
}
