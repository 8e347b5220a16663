//! What a decision answers: the writes that must be committed first, and what may be said afterwards (rule H16).

use alloc::vec::Vec;

use crate::generations::Generations;
use crate::migration::MigrationState;
use crate::names::ReshardingId;
use crate::numbers::{AssignmentEpoch, GroupEpoch, MetadataVersion};
use crate::shard_set::ShardSet;
use crate::time::Timestamp;
use crate::write::Write;

/// A decision. The reply may be given once the writes are committed, and never before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// What changes, in order. Empty where nothing does.
    pub writes: Vec<Write>,
    /// What may be said then.
    pub reply: Reply,
    /// What is to be done: after the commit, unless the effect says otherwise. Every effect may be repeated.
    pub effects: Vec<Effect>,
}

/// Something to be done by whoever can. What is about shard streams is asked for as long as the record asks for it, so that any coordinator goes on
/// where another ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Make the streams of shards, with all consumer groups of the stream (rule G1).
    Provision {
        /// The change.
        resharding: ReshardingId,
        /// The shards; none where shards only leave.
        shards: ShardSet,
    },
    /// Look whether shards are drained (rule G4).
    ReadDrainEvidence {
        /// The change.
        resharding: ReshardingId,
        /// The shards.
        shards: ShardSet,
    },
    /// Take shards away, each only if the same step proves it drained (rule G5). To be done once every group of the stream asks for it.
    Retire {
        /// The change.
        resharding: ReshardingId,
        /// The shards.
        shards: ShardSet,
    },
    /// Let every group of the store know that writes may be lost: pass this moment, or a later one, as
    /// [`Clock::doubted_at`](crate::time::Clock) with every decision from now on (rule C8). Asked for once, and so to be done *before* the writes are
    /// committed: if it can't be done, they must not be.
    DoubtWrites {
        /// The moment.
        at: Timestamp,
    },
}

/// What may be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// To a member.
    Heartbeat(HeartbeatReply),
    /// To whoever asked for another number of shards.
    Scale(ScaleReply),
    /// It is done.
    Done,
}

/// What becomes of a request for another number of shards. Rule G9.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScaleReply {
    /// The change was recorded.
    Started(ReshardingId),
    /// The same change had been recorded and goes on.
    Resumed(ReshardingId),
    /// The stream has that number already.
    NothingToDo,
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
    /// The sender knows what the store has lost: it is to take over the versions, keep what it is assigned, and start nothing (rules H5 and H6).
    SyncMetadata,
    /// What it owns and is assigned stays; nothing may be started until all is known again (rules H18 and C8).
    RevokePending,
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
    /// Which lives the streams of the assigned shards are in, as far as that is known.
    pub generations: Generations,
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
            generations: Generations::default(),
            progress: ShardSet::new(),
        }
    }
}

/// Why a request is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// Rule G9: one change at a time.
    #[error("the shard count is being changed already, by {active}")]
    ActiveMigration {
        /// The change that is under way.
        active: ReshardingId,
    },
    /// No such change is known.
    #[error("no change of the shard count is called {wanted}")]
    UnknownMigration {
        /// What was asked for.
        wanted: ReshardingId,
    },
    /// Rule G8: shards are on their way out, or all is over.
    #[error(
        "the change is {state}, and can be taken back only while it is PREPARING or ACTIVE; ask for the former count once it is over"
    )]
    RollbackNotAllowed {
        /// How far the change is.
        state: MigrationState,
    },
    /// Rule C5: what the members have is not known yet.
    #[error(
        "the store lost writes and the members are being brought up to date; try again in a moment"
    )]
    MetadataSyncInProgress,
    /// A group is not deleted from under its members without force.
    #[error(
        "members that are active or may still be reading: {active}; stop them and wait for one lease, or force the deletion"
    )]
    GroupHasActiveMembers {
        /// How many, processes in quarantine included.
        active: usize,
    },
}
