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
        let hold = self.record.lineage.hold_until;
        // Rule C8: no lease, quarantine or rebalance timeout ends before a hold does.
        let after_hold = |deadline: Timestamp| deadline.max(hold.unwrap_or_default());
        let of_members = self.record.members.values().flat_map(|member| {
            let pruned = member.ended_at.map(|ended| ended.plus(retention));
            // A live member without a known lease is to be given one at once.
            let lease = member.is_live().then(|| {
                member
                    .lease_deadline
                    .map_or_else(Timestamp::default, after_hold)
            });
            let rebalance = member.rebalance_deadline().map(after_hold);
            [lease, rebalance, pruned].into_iter().flatten()
        });
        let quarantines = self.record.quarantines.iter();
        let of_quarantines = quarantines.map(|quarantine| after_hold(quarantine.until));
        of_members.chain(of_quarantines).chain(hold).min()
    }
}
