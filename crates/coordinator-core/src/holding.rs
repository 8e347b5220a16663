//! What a member holds: the shards that it may be reading (rule O2), and what happens to them when it is cut off (rule O6).

use alloc::vec::Vec;

use crate::names::{InstanceId, MemberId};
use crate::numbers::{MemberEpoch, MetadataVersion, ShardIndex};
use crate::time::{Millis, Timestamp};

/// How far a member has come with a shard that it holds. Rule O1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// The member was told that it owns the shard and has not reported it yet. It may be reading already.
    Granted,
    /// The member reported that it owns the shard.
    Owned,
    /// The member reported that it is draining the shard and has something in flight.
    Draining,
}

/// One shard that a member holds. Rule O2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Holding {
    /// The shard.
    pub shard: ShardIndex,
    /// How far the member has come with it.
    pub phase: Phase,
    /// The version below which no report of the member can release the shard. Rule O5a.
    pub since: MetadataVersion,
    /// Whether the member says that it reads the shard while nobody is known to have given it to the member (rule C2).
    pub is_claim: bool,
    /// When the member is fenced unless it has let go of the shard by then (rule H20); none where nobody told it to.
    pub release_by: Option<Timestamp>,
}

impl Holding {
    /// The same when nobody is there any more who could be told to let go of it.
    pub(crate) const fn quarantined(&self) -> Self {
        Self {
            release_by: None,
            ..*self
        }
    }
}

/// What a member held when it was fenced or its process was replaced: nobody may be given it until the deadline. Rule O6.
///
/// The process is told apart from its successor by its member id and the epoch that it had.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Quarantine {
    /// The member whose process was cut off.
    pub member: MemberId,
    /// The epoch that it had.
    pub epoch: MemberEpoch,
    /// The process, where it named itself.
    pub instance: Option<InstanceId>,
    /// The end of its lease: by then it has stopped reading (rule T2).
    pub until: Timestamp,
    /// The lease that it had been promised; what a jump of the clock is judged by (rule M7).
    pub lease_ttl: Millis,
    /// The shards, sorted.
    pub holdings: Vec<Holding>,
}
