//! What is recorded once the store may have lost writes: the rules C1 to C8. Decides nothing.

use crate::numbers::{GroupEpoch, MetadataVersion};
use crate::time::Timestamp;

/// By how much the group epoch is raised when writes may be lost, so that none handed out in them is handed out again. Rule C7.
pub const EPOCH_LEAP: u64 = 1 << 20;

/// How far above every epoch that is known one may be for it to be believed: nobody can come by a higher one than by a million losses, and numbers
/// near their end would leave no epoch to hand out.
const PLAUSIBLE_EPOCHS: u64 = 1 << 40;

/// For each leap of epochs so much time passes. A group that begins with the epoch of a moment stays below that of a later one unless it loses writes more often
/// than this, or changes a thousand times within each millisecond.
pub const MS_PER_LEAP: u64 = 500;

/// The epoch that belongs to a moment by the store's clock: what a record begins with that is put back where nobody knows which epochs were handed out (rule C7).
/// Below 2^53, where clients still read whole numbers exactly, until the year 2106.
#[must_use]
pub const fn epoch_of_moment(now: Timestamp) -> u64 {
    now.as_ms().saturating_mul(EPOCH_LEAP) / MS_PER_LEAP
}

/// Rule H5: whether somebody can have been given an epoch, of which this store may have lost all: it follows from what is known, or from a record that was put back.
pub(crate) fn is_plausible(epoch: u64, known: GroupEpoch, now: Timestamp) -> bool {
    let most = known.get().max(epoch_of_moment(now));
    epoch <= most.saturating_add(PLAUSIBLE_EPOCHS)
}

/// What is known of writes that the store may have lost.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Lineage {
    /// The last moment of doubt that this group has acted on (rule C8).
    pub doubted_at: Option<Timestamp>,
    /// The group epoch since then: members with a lower one may not have been told of the loss yet (rule C7).
    pub epoch_floor: GroupEpoch,
    /// Until when nothing new is granted and nobody is expired (rule C8).
    pub hold_until: Option<Timestamp>,
    /// The correction round, while one is open.
    pub correction: Option<Correction>,
}

/// A correction round. Rule C2.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Correction {
    /// When it was opened.
    pub opened_at: Timestamp,
    /// The version that the store had then.
    pub version: MetadataVersion,
    /// The version that a member knew, which showed the loss.
    pub reported: MetadataVersion,
}

impl Lineage {
    /// Whether an epoch was handed out before the last loss that is suspected. Rule C7.
    #[must_use]
    pub const fn is_before_loss(&self, epoch: u64) -> bool {
        epoch < self.epoch_floor.get()
    }

    /// Whether a doubt is one that the group has not acted on yet. Rule C8.
    #[must_use]
    pub fn is_news(&self, doubted_at: Option<Timestamp>) -> bool {
        doubted_at > self.doubted_at
    }

    /// Whether only what members own already may be said to be theirs: during a hold (rule C8) and in a correction round (rule H18).
    #[must_use]
    pub const fn is_settling(&self) -> bool {
        self.hold_until.is_some() || self.correction.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn c7_h5_what_a_record_that_was_put_back_handed_out_is_believed_though_nothing_is_known_of_it()
    {
        let (known, now) = (GroupEpoch::new(90), Timestamp::from_ms(1_790_000_000_000));
        let restored = epoch_of_moment(now);
        assert!(restored > known.get() + PLAUSIBLE_EPOCHS && restored < 1 << 53);
        assert!(is_plausible(restored + EPOCH_LEAP, known, now));
        assert!(!is_plausible(restored + PLAUSIBLE_EPOCHS + 1, known, now));
        assert!(!is_plausible(i64::MAX.unsigned_abs(), known, now));
        // Clocks of tests and simulations begin at nought.
        assert!(!is_plausible(restored, known, Timestamp::from_ms(0)));
    }
}
