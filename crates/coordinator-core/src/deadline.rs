//! When a group next wants a tick. A hint: late or needless ticks are harmless.

use crate::group::Group;
use crate::time::Timestamp;

impl Group {
    /// The next moment at which time alone may change something: a lease, a quarantine, a rebalance timeout, a hold, a record to drop.
    ///
    /// After coordinators were away the change may come later (rule M6). `None` where nothing is waiting for time.
    #[must_use]
    pub fn next_deadline(&self) -> Option<Timestamp> {
        let retention = self.settings().stale_member_retention();
        let of_members = self.record.members.values().flat_map(|member| {
            let pruned = member.ended_at.map(|ended| ended.plus(retention));
            // A live member without a known lease is to be given one at once.
            let lease = member
                .is_live()
                .then(|| member.lease_deadline.unwrap_or_default());
            [lease, member.rebalance_deadline(), pruned]
                .into_iter()
                .flatten()
        });
        of_members
            .chain(self.record.lineage.hold_until)
            .chain(
                self.record
                    .quarantines
                    .iter()
                    .map(|quarantine| quarantine.until),
            )
            .min()
    }
}
