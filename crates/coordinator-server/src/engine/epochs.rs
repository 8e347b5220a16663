//! With which group epoch a record is put back, where nothing says which ones were handed out since it was written down (rule C7): one that belongs to the
//! moment by the store's clock. Writes nothing.

use std::time::Duration;

use coordinator_core::lineage::{EPOCH_LEAP, MS_PER_LEAP, epoch_of_moment};
use coordinator_core::time::Timestamp;

/// What is waited for at most before a record is put back. Epochs that are further ahead of the clock show that it went back: then what is known has to do.
const MOST_AHEAD: Duration = Duration::from_secs(5);

/// Rule C7: an epoch above every one that is known, and above every one that may have been handed out and is known to nobody.
pub(super) fn above(known: u64, now: Timestamp) -> u64 {
    let of_now = epoch_of_moment(now);
    if known < of_now {
        of_now
    } else {
        known.saturating_add(EPOCH_LEAP)
    }
}

/// How long it takes until every moment's epoch is above this one, by any clock that is at most a tenth slower than the store's. Whoever puts a record back later,
/// and knows nothing of this one, then still comes to a higher epoch. None where no waiting helps.
pub(super) fn wait_for(epoch: u64, now: Timestamp) -> Option<Duration> {
    let over = epoch
        .saturating_add(1)
        .saturating_mul(MS_PER_LEAP)
        .div_ceil(EPOCH_LEAP);
    let ahead = over.saturating_sub(now.as_ms());
    let wait = Duration::from_millis(ahead + ahead.div_ceil(8));
    (wait <= MOST_AHEAD).then_some(wait)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use coordinator_core::time::Millis;

    use super::*;

    const NOW: Timestamp = Timestamp::from_ms(1_790_000_000_123);

    /// Each knows nothing of the ones before, as where the record was lost or can't be read, and begins once the one before has waited.
    #[test]
    fn c7_epochs_rise_though_nobody_knows_the_last_one() {
        let (mut now, mut last) = (NOW, 0);
        for _ in 0..1_000 {
            let epoch = above(7, now);
            assert!(epoch > last, "{epoch} after {last}");
            let wait = wait_for(epoch, now).unwrap();
            assert!(wait <= Duration::from_millis(4), "{wait:?}");
            // The clock of whoever waits is fast by a tenth.
            let passed = u64::try_from(wait.as_micros()).unwrap() * 9 / 10 / 1_000;
            now = now.plus(Millis::new(passed));
            last = epoch;
        }
    }

    #[test]
    fn c7_epochs_rise_within_one_millisecond_where_the_last_one_is_known() {
        let mut last = 0;
        for _ in 0..9 {
            let epoch = above(last, NOW);
            assert!(epoch > last, "{epoch} after {last}");
            last = epoch;
        }
        // The ones ahead of the clock are waited for, as long as that is of use.
        assert!(wait_for(last, NOW).unwrap() > Duration::from_secs(4));
        assert_eq!(wait_for(last + 9 * EPOCH_LEAP, NOW), None);
    }

    #[test]
    fn c7_the_epoch_of_a_moment_is_a_number_that_every_client_can_read() {
        let last_moment = Timestamp::from_ms(((1 << 32) - 1) * 1_000);
        assert!(epoch_of_moment(last_moment) < 1 << 53);
        assert!(epoch_of_moment(NOW) > (NOW.as_ms() / 1_000) * EPOCH_LEAP);
    }
}
