//! What a group looks like from outside: rule M3 and the summaries that monitoring shows. Decides nothing.

use crate::group::Group;
use crate::holding::Phase;
use crate::names::MemberId;
use crate::shard_set::ShardSet;

/// How far a group is. Rule M3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupState {
    /// No live member.
    Empty,
    /// The target is older than the membership. Never seen after a command.
    Assigning,
    /// Some member does not have what it should, or has more.
    Reconciling,
    /// Everybody reads what it should.
    Stable,
}

impl Group {
    /// How far the group is. Rule M3.
    #[must_use]
    pub fn state(&self) -> GroupState {
        if self.live_members().next().is_none() {
            GroupState::Empty
        } else if self.record.group_epoch.get() > self.record.assignment_epoch.get() {
            GroupState::Assigning
        } else if self.live_members().all(|(id, _)| self.is_reconciled(id)) {
            GroupState::Stable
        } else {
            GroupState::Reconciling
        }
    }

    fn is_reconciled(&self, id: &MemberId) -> bool {
        let target = self.record.target.of(id);
        let Some(member) = self.member(id) else {
            return true;
        };
        target.len() == member.holdings.len()
            && member
                .holdings
                .iter()
                .all(|holding| holding.phase == Phase::Owned && target.contains(holding.shard))
            && self.pending(id).next().is_none()
    }

    /// The shards that a member last reported owning.
    #[must_use]
    pub fn current(&self, id: &MemberId) -> ShardSet {
        self.member(id)
            .map(|member| member.shards_in(Phase::Owned))
            .unwrap_or_default()
    }

    /// The shards that a member reported draining.
    #[must_use]
    pub fn draining(&self, id: &MemberId) -> ShardSet {
        self.member(id)
            .map(|member| member.shards_in(Phase::Draining))
            .unwrap_or_default()
    }

    /// The shards that a member was told it owns: those it may have now, and those it was granted and has not yet settled.
    #[must_use]
    pub fn granted(&self, id: &MemberId) -> ShardSet {
        let told = |shard: &crate::numbers::ShardIndex| {
            self.member(id).is_some_and(|member| member.holds(*shard))
        };
        let unsettled = self
            .member(id)
            .map(|member| member.shards_in(Phase::Granted))
            .unwrap_or_default();
        self.assigned(id)
            .filter(told)
            .chain(unsettled.iter())
            .collect()
    }
}
