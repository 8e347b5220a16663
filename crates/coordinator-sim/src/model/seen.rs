//! What happened in at least one run of a model: without that a clean result would mean little. Kept beside the states, so that it makes no two of
//! them differ.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use coordinator_core::migration::{LeavingPhase, MigrationState};
use coordinator_core::write::Write;

/// Something that a model is to reach.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reached {
    /// A member reads what another one read before.
    Handoff,
    /// A member's lease was over.
    Expiry,
    /// A member was cut off.
    Fence,
    /// What a process held was kept from others.
    QuarantineOpened,
    /// And then was not any more.
    QuarantineEnded,
    /// The short way was taken.
    ShortWay,
    /// A commit was refused because another one came first.
    StaleCommit,
    /// A commit was refused because a lease that it judged was renewed.
    LeaseRenewed,
    /// A member left.
    Left,
    /// A shard was retired.
    Retired,
    /// A shard was not retired because something was written to it.
    RetireRefused,
    /// A change of the shard count was done.
    MigrationDone,
    /// A change of the shard count was taken back to its end.
    RolledBack,
    /// A group acted on lost writes.
    WritesDoubted,
    /// A hold ended.
    HoldEnded,
    /// A correction round opened.
    CorrectionOpened,
    /// A correction round closed.
    CorrectionClosed,
}

impl fmt::Display for Reached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

/// Everything that was reached so far.
#[derive(Debug, Default)]
pub(super) struct Seen(Mutex<BTreeSet<Reached>>);

impl Seen {
    pub(super) fn note(&self, reached: Reached) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(reached);
    }

    pub(super) fn note_writes(&self, writes: &[Write]) {
        for write in writes {
            let reached = match write {
                Write::MemberExpired { .. } => Reached::Expiry,
                Write::MemberFenced { .. } => Reached::Fence,
                Write::QuarantineOpened { .. } => Reached::QuarantineOpened,
                Write::QuarantineEnded { .. } => Reached::QuarantineEnded,
                Write::MemberLeft { .. } => Reached::Left,
                Write::LeavingShardChanged { leaving }
                    if leaving.phase == LeavingPhase::Retired =>
                {
                    Reached::Retired
                }
                Write::MigrationFinished { state, .. } if *state == MigrationState::RolledBack => {
                    Reached::RolledBack
                }
                Write::MigrationFinished { .. } => Reached::MigrationDone,
                Write::WritesDoubted { .. } => Reached::WritesDoubted,
                Write::HoldEnded => Reached::HoldEnded,
                Write::CorrectionOpened { .. } => Reached::CorrectionOpened,
                Write::CorrectionClosed => Reached::CorrectionClosed,
                _ => continue,
            };
            self.note(reached);
        }
    }

    pub(super) fn all(&self) -> BTreeSet<Reached> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}
