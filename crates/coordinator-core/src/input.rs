//! What a group is asked to decide: facts that happened and requests that were made. Already validated, not yet judged.

use alloc::string::String;
use alloc::vec::Vec;

use crate::evidence::{OpenCondition, ShardEvidence};
use crate::generations::Generations;
use crate::names::{ConsumerGroup, InstanceId, MemberId, RequestId, ReshardingId};
use crate::numbers::{Concurrency, GroupEpoch, MetadataVersion, Sequence, ShardCount, ShardIndex};
use crate::shard_set::ShardSet;

/// The protocol version that this core decides for. Rule H1.
pub const PROTOCOL_VERSION: u32 = 1;

/// A fact or a request.
#[derive(Clone, Debug)]
pub enum Input {
    /// A member reported.
    HeartbeatReceived(Heartbeat),
    /// Time has passed.
    TickDue,
    /// The group's streams and consumer groups exist now.
    ProvisioningFinished {
        /// Which life each stream is in, where that is told.
        generations: Generations,
        /// Below which epochs the streams take nobody, on account of an earlier group of the same name; 0 if there was none.
        epochs_from: GroupEpoch,
    },
    /// The stream is to have another number of shards (rules G1 and G9).
    ScaleRequested {
        /// What the change is to be called.
        resharding: ReshardingId,
        /// The number.
        target: ShardCount,
    },
    /// The streams of a change exist, with all their consumer groups (rule G1).
    MigrationProvisioned {
        /// The change.
        resharding: ReshardingId,
        /// Which life each of its streams is in, where that is told.
        generations: Generations,
    },
    /// Shards that leave were looked at (rule G4).
    DrainObserved {
        /// The change.
        resharding: ReshardingId,
        /// What was read of each.
        evidence: Vec<(ShardIndex, ShardEvidence)>,
        /// All groups of the stream that coordinators know.
        coordinated: Vec<ConsumerGroup>,
    },
    /// Shards were taken away, proven empty in the same step (rule G5).
    ShardsRetired {
        /// The change.
        resharding: ReshardingId,
        /// The shards.
        shards: ShardSet,
    },
    /// A shard was not taken away: something was written to it meanwhile (rule G5).
    RetireRefused {
        /// The change.
        resharding: ReshardingId,
        /// The shard.
        shard: ShardIndex,
        /// What stands against it.
        open: Vec<OpenCondition>,
    },
    /// A change is to be taken back (rule G8).
    RollbackRequested {
        /// The change.
        resharding: ReshardingId,
        /// Whether another group of the stream takes it back already: then this one follows, however far it has come, since nothing is retired that not every
        /// group has given up.
        is_decided: bool,
    },
    /// The group is to be deleted.
    DeletionRequested {
        /// Even if members are active.
        force: bool,
    },
}

/// A member's report, as it was received. Whether it is believed is decided by rules H1 to H21.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heartbeat {
    /// The version of the protocol that the client speaks (rule H1).
    pub protocol_version: u32,
    /// The client's name for this message.
    pub request: RequestId,
    /// The member that the message was addressed to (rule H2).
    pub addressed_to: MemberId,
    /// The member that the message says it is from (rule H2).
    pub member: MemberId,
    /// The epoch that it claims: 0 joins, -1 leaves (rule H2).
    pub epoch: i64,
    /// The version of the group that it has seen.
    pub version: MetadataVersion,
    /// The process, where it names itself.
    pub instance: Option<InstanceId>,
    /// The position of this message among those of its process (rule H14a).
    pub sequence: Option<Sequence>,
    /// The name that its user gave it.
    pub name: Option<String>,
    /// How many records its process handles at the same time.
    pub max_concurrency: Concurrency,
    /// Every shard that it owns (rule O5b).
    pub owned: ShardSet,
    /// Every shard that it is letting go of.
    pub revoking: Vec<Revoking>,
    /// The shards that it reports progress of (rule O8).
    pub progress: ShardSet,
}

/// A shard that a member is letting go of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Revoking {
    /// The shard.
    pub shard: ShardIndex,
    /// Whether it was read and handled to the end: nothing is in flight any more (rule O5).
    pub finished: bool,
}

/// The epoch that a heartbeat claims.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EpochClaim {
    Leave,
    Join,
    At(u64),
}

impl Heartbeat {
    /// What the epoch claims; nothing where no client may send it (rule H2).
    pub(crate) fn claim(&self) -> Option<EpochClaim> {
        match self.epoch {
            -1 => Some(EpochClaim::Leave),
            0 => Some(EpochClaim::Join),
            epoch => u64::try_from(epoch).ok().map(EpochClaim::At),
        }
    }

    /// A shard that it speaks of and that no stream can have; recorded, it would make the record unreadable (rules H2 and C6).
    pub(crate) fn impossible_shard(&self) -> Option<ShardIndex> {
        let revoking = self.revoking.iter().map(|revoking| revoking.shard);
        let mut named = self.owned.iter().chain(revoking);
        named.find(|shard| !ShardCount::MAX.contains(*shard))
    }

    /// The shards it says it may still be reading: owned, or draining with something in flight (rule O7).
    pub(crate) fn claimed(&self) -> ShardSet {
        self.owned.iter().chain(self.draining()).collect()
    }

    /// The shards it says it is still draining.
    pub(crate) fn draining(&self) -> impl Iterator<Item = ShardIndex> {
        self.revoking
            .iter()
            .filter(|revoking| !revoking.finished)
            .map(|revoking| revoking.shard)
    }
}
