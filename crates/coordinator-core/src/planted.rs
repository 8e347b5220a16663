//! Known-wrong variants of the decisions, to see whether the checks notice them. They exist only with the feature `planted`, which no product build has; without
//! it nothing here is reachable and every use is a constant.
#![cfg_attr(not(feature = "planted"), allow(unreachable_pub))]

/// One rule that is broken on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// Rule O2: what was granted and not yet reported does not count as held.
    GrantedIsNotHeld,
    /// Rule O3: what another member holds is given all the same.
    HeldIsGiven,
    /// Rule O6: who is cut off counts as having stopped.
    FencingReleases,
    /// Rule O6: whoever joins under the id ends the quarantine of the process that was cut off.
    AnyJoinEndsQuarantine,
    /// Rule E6: only the newest epoch is good.
    PreviousEpochRefused,
    /// Rule O5a: a report releases what has left the target, whatever the version that it was sent with.
    LateReportReleases,
    /// Rule T3a: a join that is asked again is answered without renewing the lease.
    ReplayKeepsLease,
    /// Rule H11: a second process under a live id is answered as if it were the first.
    SecondProcessInherits,
    /// Rule H14a: an older message is processed like a new one.
    OldMessageProcessed,
    /// Rule M6: leases run out while no coordinator is there.
    AbsenceCounts,
    /// Rule G3: shards leave the target as soon as producers do not write to them any more.
    LeavingIsUnassigned,
    /// Rule G4: a lag of zero is proof enough.
    LagIsProof,
    /// Rule G5: a shard is retired while somebody may still read it.
    RetiredWhileHeld,
    /// Rule G8: what a change had added is forgotten when it is taken back.
    RollbackDropsAdded,
    /// Rule C4: a round closes while a shard is waited for.
    RoundClosesEarly,
    /// Rule C7: epochs go on from what the store still has.
    EpochsReused,
    /// Rule C8: shards are granted at once after lost writes.
    HoldIgnored,
}
