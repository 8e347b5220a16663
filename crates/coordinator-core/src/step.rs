//! What a decision answers: the writes that must be committed first, and what may be said afterwards (rule H16).

use alloc::vec::Vec;

use crate::numbers::{AssignmentEpoch, GroupEpoch, MetadataVersion};
use crate::shard_set::ShardSet;
use crate::write::Write;

/// A decision. The reply may be given once the writes are committed, and never before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What changes, in order. Empty where nothing does.
    pub writes: Vec<Write>,
    /// What may be said then.
    pub reply: Reply,
}

/// What may be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// To a member.
    Heartbeat(HeartbeatReply),
    /// It is done.
    Done,
}

/// A decision about a heartbeat that needs no commit. Rule H17.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SteadyStep {
    /// Whether the member's lease must be renewed before the reply is given (rule T3a).
    pub renews_lease: bool,
    /// What may be said then.
    pub reply: HeartbeatReply,
}

/// How a heartbeat is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HeartbeatStatus {
    /// The decision stands; new shards may be started.
    Ok,
    /// Nobody of that name is known (rules H3, H8, H13).
    UnknownMember,
    /// The sender is not, or no longer, the member (rules H5a, H12, H15, O7).
    Fenced,
    /// Rule H1.
    UnsupportedProtocol,
    /// Rule H2.
    InvalidRequest,
}

/// The answer to a heartbeat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeartbeatReply {
    /// How it is answered.
    pub status: HeartbeatStatus,
    /// The epoch that the member is to send from now on; 0 where the heartbeat is refused.
    ///
    /// A refused sender may be a superseded twin and is never told the current one (rule H5a).
    pub member_epoch: u64,
    /// The group's epoch.
    pub group_epoch: GroupEpoch,
    /// The epoch of the target.
    pub assignment_epoch: AssignmentEpoch,
    /// The group's version.
    pub metadata_version: MetadataVersion,
    /// What the member may read (rule O4).
    pub assigned: ShardSet,
    /// What it will be given once others have let go (rule O4).
    pub pending: ShardSet,
    /// The shards whose reported progress is believed (rule O8).
    pub progress: ShardSet,
}

impl HeartbeatReply {
    /// An answer where no group is known to speak of (rules H1 to H3).
    #[must_use]
    pub fn without_group(status: HeartbeatStatus) -> Self {
        Self {
            status,
            member_epoch: 0,
            group_epoch: GroupEpoch::default(),
            assignment_epoch: AssignmentEpoch::default(),
            metadata_version: MetadataVersion::default(),
            assigned: ShardSet::new(),
            pending: ShardSet::new(),
            progress: ShardSet::new(),
        }
    }
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// A group is not deleted from under its members without force.
    #[error(
        "{active} members are active or may still be reading; stop them and wait for one lease, or force the deletion"
    )]
    GroupHasActiveMembers {
        /// How many, processes in quarantine included.
        active: usize,
    },
}
