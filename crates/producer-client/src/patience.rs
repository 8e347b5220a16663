//! How often, and after which pauses, a call is repeated that Redis could not take. Pure: nobody sleeps here.

use std::time::Duration;

/// The pauses before each repetition. They are long enough for a slot that moves or a connection that is opened anew; a failover
/// that takes longer is for the caller to wait out.
const PAUSES: [Duration; 3] = [
    Duration::from_millis(25),
    Duration::from_millis(100),
    Duration::from_millis(400),
];

/// What is left of the repetitions of one publication.
#[derive(Debug)]
pub(crate) struct Patience {
    pauses: std::array::IntoIter<Duration, 3>,
}

impl Patience {
    pub(crate) fn new() -> Self {
        Self {
            pauses: PAUSES.into_iter(),
        }
    }

    /// How long to wait before the next repetition; none if there is to be none.
    pub(crate) fn pause(&mut self) -> Option<Duration> {
        self.pauses.next()
    }
}

#[cfg(test)]
mod tests {
    use super::{PAUSES, Patience};

    #[test]
    fn pauses_grow_and_end() {
        let mut patience = Patience::new();
        let pauses: Vec<_> = std::iter::from_fn(|| patience.pause()).collect();
        assert_eq!(pauses, PAUSES);
        assert!(pauses.is_sorted_by(|before, after| before < after));
        assert_eq!(patience.pause(), None);
    }
}
