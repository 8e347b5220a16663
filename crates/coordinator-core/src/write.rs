//! What a decision changes. Writes are committed together, then applied; they are also the feed of what happened in a group.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::generations::Generations;
use crate::holding::{Phase, Quarantine};
use crate::lineage::Correction;
use crate::member::MemberRecord;
use crate::migration::{LeavingShard, Migration, MigrationState};
use crate::names::{InstanceId, MemberId, RequestId, ReshardingId};
use crate::numbers::{
    AssignmentEpoch, Concurrency, GroupEpoch, MemberEpoch, MetadataVersion, Sequence, ShardCount,
    ShardIndex,
};
use crate::shard_set::ShardSet;
use crate::target::Target;
use crate::time::{Millis, Timestamp};

/// Why a member was fenced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FenceCause {
    /// It reported a shard outside its authority (rule O7): an ownership violation.
    OutsideAuthority {
        /// The lowest such shard.
        shard: ShardIndex,
    },
    /// It kept a shard beyond the rebalance timeout (rule H20).
    RebalanceTimeout,
    /// It was told what the store has, and still reports a version that the store does not have (rule H5). Its versions are no sign of a loss from now on.
    UnknownVersion {
        /// The version that it reported.
        reported: MetadataVersion,
    },
}

/// What a report says of the member itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    /// The process, where it names itself.
    pub instance: Option<InstanceId>,
    /// The name that its user gave it.
    pub name: Option<String>,
    /// How many records its process handles at the same time.
    pub max_concurrency: Concurrency,
    /// The version it has seen.
    pub version: MetadataVersion,
    /// The position of the message (rule H14a).
    pub sequence: Option<Sequence>,
    /// The lease it is promised from now on.
    pub lease_ttl: Millis,
}

/// One change of a group's record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Write {
    /// Rule E3.
    GroupEpochRaised {
        /// The new epoch.
        to: GroupEpoch,
    },
    /// Rule E2.
    MetadataVersionRaised {
        /// The new version.
        to: MetadataVersion,
    },
    /// Rule E4.
    TargetAssigned {
        /// The epoch it was computed for.
        epoch: AssignmentEpoch,
        /// The new target.
        target: Target,
    },
    /// The group's streams exist now.
    GroupProvisioned,
    /// Streams are in these lives.
    GenerationsNoted {
        /// The lives, of the shards that were made or looked at.
        generations: Generations,
    },
    /// The store may have lost writes: from here on epochs are new ones, and nothing is granted for a while (rules C7 and C8).
    WritesDoubted {
        /// When the store showed it.
        at: Timestamp,
        /// Until when nothing new is granted.
        hold_until: Timestamp,
        /// The group epoch, raised.
        floor: GroupEpoch,
    },
    /// The end of a hold was cut (rule M7).
    HoldCut {
        /// The new end.
        until: Timestamp,
    },
    /// Shards may be granted again (rule C8).
    HoldEnded,
    /// A member knows what the store has lost (rule C2).
    CorrectionOpened {
        /// The round.
        correction: Correction,
    },
    /// Every live member knows the present version, and nobody waits for a shard (rule C4).
    CorrectionClosed,
    /// A change of the shard count was recorded (rule G1).
    MigrationStarted {
        /// The change.
        migration: Migration,
    },
    /// A change that was over is under way again: another group of the stream takes it back (rule G8).
    MigrationReopened {
        /// The change.
        id: ReshardingId,
    },
    /// A change of the shard count went on.
    MigrationMoved {
        /// How far it is now.
        state: MigrationState,
        /// When.
        at: Timestamp,
        /// The version that members must have seen before shards are looked at (rule G4).
        seen_from: MetadataVersion,
        /// The shards that leave from now on.
        leaving: Vec<LeavingShard>,
    },
    /// A shard that leaves was looked at, proven empty, or retired (rules G4 and G5).
    LeavingShardChanged {
        /// The shard and how far it is now.
        leaving: LeavingShard,
    },
    /// A change of the shard count is over.
    MigrationFinished {
        /// How it ended.
        state: MigrationState,
        /// When.
        at: Timestamp,
    },
    /// Producers are routed to another number of shards (rules G2 and G8).
    ShardCountChanged {
        /// The new count.
        to: ShardCount,
    },
    /// A member joined or rejoined (rules H7, H9, H11). Replaces what was recorded under its id.
    MemberJoined {
        /// The member.
        member: MemberId,
        /// Its new record.
        record: Arc<MemberRecord>,
    },
    /// A member asked again to join (rule H10). It knows no epoch but the one it is told now: the previous one is forgotten (rule E6).
    JoinRepeated {
        /// The member.
        member: MemberId,
        /// The request it asked with.
        request: RequestId,
        /// The position of the message (rule H14a).
        sequence: Option<Sequence>,
    },
    /// What a member says of itself changed.
    MemberReported {
        /// The member.
        member: MemberId,
        /// What it says.
        report: Report,
    },
    /// A member was given an epoch (rule E5).
    EpochIssued {
        /// The member.
        member: MemberId,
        /// The new epoch.
        epoch: MemberEpoch,
        /// The earliest epoch that it may still send (rule E6).
        previous: MemberEpoch,
        /// The newest one from before a loss of writes that it may still send, if there was one in between (rule C7).
        before_loss: Option<MemberEpoch>,
    },
    /// A member has sent an epoch that it was given: earlier ones are no longer good (rule E6).
    EpochConfirmed {
        /// The member.
        member: MemberId,
        /// What it sent; none if it is the newest.
        previous: Option<MemberEpoch>,
    },
    /// A member's lease runs until the deadline (rules T1 and M7).
    LeaseSet {
        /// The member.
        member: MemberId,
        /// The end of its lease.
        deadline: Timestamp,
    },
    /// A member is to let go of shards that it holds, or need not any more (rule H20).
    ReleaseDemanded {
        /// The member.
        member: MemberId,
        /// The shards.
        shards: ShardSet,
        /// When it is fenced unless it has; none if it may keep them.
        by: Option<Timestamp>,
    },
    /// A member may start to read a shard (rule O4).
    ShardGranted {
        /// The member.
        member: MemberId,
        /// The shard.
        shard: ShardIndex,
        /// Rule O5a.
        since: MetadataVersion,
    },
    /// A member reported how far it is with a shard that it holds.
    ShardReported {
        /// The member.
        member: MemberId,
        /// The shard.
        shard: ShardIndex,
        /// How far it is.
        phase: Phase,
    },
    /// A member says that it reads a shard that nobody is known to have given it (rule C2): it counts as held.
    ShardClaimed {
        /// The member.
        member: MemberId,
        /// The shard.
        shard: ShardIndex,
        /// How far it says it is.
        phase: Phase,
        /// Rule O5a.
        since: MetadataVersion,
    },
    /// What a member had claimed turned out to be its own.
    ClaimAccepted {
        /// The member.
        member: MemberId,
        /// The shard.
        shard: ShardIndex,
    },
    /// A shard that a member holds became its own anew (rule O5a).
    ShardSinceRaised {
        /// The member.
        member: MemberId,
        /// The shard.
        shard: ShardIndex,
        /// The version below which no report releases it.
        since: MetadataVersion,
    },
    /// A member let go of a shard (rule O5).
    ShardReleased {
        /// The member.
        member: MemberId,
        /// The shard.
        shard: ShardIndex,
        /// The version from which on it knows that.
        at: MetadataVersion,
    },
    /// A member announced that it leaves (rule H13).
    MemberLeft {
        /// The member.
        member: MemberId,
    },
    /// A member's lease was over (rule M1).
    MemberExpired {
        /// The member.
        member: MemberId,
        /// The deadline that was judged.
        judged: Option<Timestamp>,
        /// When.
        at: Timestamp,
    },
    /// A member was cut off (rules O6, O7, H20). What it held went to quarantine before.
    MemberFenced {
        /// The member.
        member: MemberId,
        /// Why.
        cause: FenceCause,
        /// When.
        at: Timestamp,
    },
    /// The record of an ended member was dropped (rule M2).
    MemberPruned {
        /// The member.
        member: MemberId,
    },
    /// What a process held is kept from everybody (rule O6).
    QuarantineOpened {
        /// What, and until when.
        quarantine: Quarantine,
        /// The lease deadline that was taken over.
        judged: Option<Timestamp>,
    },
    /// A quarantine's deadline was cut (rule M7).
    QuarantineCut {
        /// The member.
        member: MemberId,
        /// The epoch of its process.
        epoch: MemberEpoch,
        /// The new deadline.
        until: Timestamp,
    },
    /// A process in quarantine was shown to have let go of a shard (rule O6).
    QuarantineShardReleased {
        /// The member.
        member: MemberId,
        /// The epoch of its process.
        epoch: MemberEpoch,
        /// The shard.
        shard: ShardIndex,
    },
    /// A quarantine is over (rule O6).
    QuarantineEnded {
        /// The member.
        member: MemberId,
        /// The epoch of its process.
        epoch: MemberEpoch,
    },
}

/// What a write does to the leases, which a store may keep apart from the record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeaseChange<'a> {
    /// The member.
    pub member: &'a MemberId,
    /// The new deadline; none when the lease is gone.
    pub deadline: Option<Timestamp>,
}

/// A lease on whose deadline a decision was built: if it was renewed meanwhile, the decision does not stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JudgedLease<'a> {
    /// The member.
    pub member: &'a MemberId,
    /// The deadline as it was seen.
    pub seen: Option<Timestamp>,
}

impl Write {
    /// What this write does to a lease.
    #[must_use]
    pub fn lease_change(&self) -> Option<LeaseChange<'_>> {
        match self {
            Self::LeaseSet { member, deadline } => Some(LeaseChange {
                member,
                deadline: Some(*deadline),
            }),
            Self::MemberJoined { member, record } => Some(LeaseChange {
                member,
                deadline: record.lease_deadline,
            }),
            Self::MemberExpired { member, .. }
            | Self::MemberFenced { member, .. }
            | Self::MemberPruned { member } => Some(LeaseChange {
                member,
                deadline: None,
            }),
            _ => None,
        }
    }

    /// The lease that this write rests on.
    #[must_use]
    pub fn judged_lease(&self) -> Option<JudgedLease<'_>> {
        match self {
            Self::MemberExpired { member, judged, .. } => Some(JudgedLease {
                member,
                seen: *judged,
            }),
            Self::QuarantineOpened { quarantine, judged } => Some(JudgedLease {
                member: &quarantine.member,
                seen: *judged,
            }),
            _ => None,
        }
    }
}
