//! The record of one member. Plain data: what may be done with it is decided elsewhere.

use alloc::string::String;
use alloc::vec::Vec;

use crate::holding::{Holding, Phase};
use crate::names::{InstanceId, RequestId};
use crate::numbers::{Concurrency, MemberEpoch, MetadataVersion, Sequence, ShardIndex};
use crate::shard_set::ShardSet;
use crate::time::{Millis, Timestamp};

/// Where a member stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemberState {
    /// It reports and may own shards.
    Active,
    /// It announced that it leaves and is letting go of what it holds.
    Leaving,
    /// Its lease ended without a report (rule M1).
    Expired,
    /// It was cut off (rules O7 and H20).
    Fenced,
}

/// Everything that is recorded of a member.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct MemberRecord {
    /// Where it stands.
    pub state: MemberState,
    /// The name that its user gave it.
    pub name: Option<String>,
    /// The process behind it, where it named itself.
    pub instance: Option<InstanceId>,
    /// Processes that had this id before and were replaced while they lived, latest last. None of them may take the id back from its successor (case C22).
    pub superseded: Vec<InstanceId>,
    /// The requests by which it joined, the latest last (rule H10). Earlier ones are kept so that a late copy of one is known for what it is.
    pub join_requests: Vec<RequestId>,
    /// Whether it has reported anything since it joined (rule H10).
    pub has_reported: bool,
    /// The epoch that it was last given (rule E5).
    pub epoch: MemberEpoch,
    /// The last epoch that it has sent itself, until it sends the newest (rule E6). Whatever was issued from that one on stays good: any of the
    /// answers may be the one that it heard.
    pub previous_epoch: Option<MemberEpoch>,
    /// The newest epoch that it had been given when writes were doubted, until it sends one from after that. From the last that it sent to this one they stay good;
    /// others from before may have gone to another process in the lost writes (rule C7).
    pub epoch_before_loss: Option<MemberEpoch>,
    /// The version with which it joined: whoever knows only an earlier one speaks from before (rule H13).
    pub joined_at: MetadataVersion,
    /// The last version it reported.
    pub reported_version: MetadataVersion,
    /// The version from which on it knew that it had let go of the shard it released last. See [`crate::Group::decide`], rule H14a.
    pub released_at: MetadataVersion,
    /// The position of the last of its messages that changed anything (rule H14a).
    pub sequence: Option<Sequence>,
    /// Whether it went on reporting a version that the store does not have after it had been told of the loss: what it says of versions is no sign of
    /// a loss any more (rule H5). Kept when it joins again.
    pub is_distrusted: bool,
    /// How many records its process handles at the same time.
    pub max_concurrency: Concurrency,
    /// The shards it holds (rule O2), sorted by shard.
    pub holdings: Vec<Holding>,
    /// The lease that it was last promised.
    pub lease_ttl: Millis,
    /// The end of its lease (rule T1). `None` when the store has lost it: it is then given a full one.
    pub lease_deadline: Option<Timestamp>,
    /// When it was expired or fenced (rule M2).
    pub ended_at: Option<Timestamp>,
}

/// How many superseded processes, and how many joins, are remembered of one member.
pub(crate) const MAX_REMEMBERED: usize = 8;

impl MemberRecord {
    /// Whether it is one whose lease counts: active or leaving.
    #[must_use]
    pub const fn is_live(&self) -> bool {
        matches!(self.state, MemberState::Active | MemberState::Leaving)
    }

    /// Whether it may be the target owner of shards (rule A2).
    #[must_use]
    pub const fn is_target(&self) -> bool {
        matches!(self.state, MemberState::Active)
    }

    /// When it is fenced next unless it has let go of a shard by then (rule H20).
    #[must_use]
    pub fn rebalance_deadline(&self) -> Option<Timestamp> {
        self.holdings
            .iter()
            .filter_map(|holding| holding.release_by)
            .min()
    }

    /// What it has of a shard, if it holds it.
    #[must_use]
    pub fn holding(&self, shard: ShardIndex) -> Option<&Holding> {
        self.find(shard)
            .ok()
            .map(|position| &self.holdings[position])
    }

    /// Whether it holds a shard (rule O2).
    #[must_use]
    pub fn holds(&self, shard: ShardIndex) -> bool {
        self.find(shard).is_ok()
    }

    /// The shards it holds in one phase.
    #[must_use]
    pub fn shards_in(&self, phase: Phase) -> ShardSet {
        self.holdings
            .iter()
            .filter(|holding| holding.phase == phase)
            .map(|holding| holding.shard)
            .collect()
    }

    pub(crate) fn find(&self, shard: ShardIndex) -> Result<usize, usize> {
        self.holdings
            .binary_search_by_key(&shard, |holding| holding.shard)
    }
}

/// Adds to what is remembered, the latest last, and forgets the oldest when there is too much.
pub(crate) fn remember<T: PartialEq>(remembered: &mut Vec<T>, item: T) {
    remembered.retain(|earlier| *earlier != item);
    remembered.push(item);
    let too_many = remembered.len().saturating_sub(MAX_REMEMBERED);
    remembered.drain(..too_many);
}
