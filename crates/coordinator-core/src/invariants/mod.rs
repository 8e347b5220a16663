//! What must be true of a group after every command (rule M4). One file per invariant; each says what is wrong, none repairs anything.

mod epochs;
mod holders;
mod replay;
mod single_holder;
mod target_members;
mod target_owners;

use alloc::vec::Vec;

use crate::group::Group;
use crate::names::MemberId;
use crate::numbers::ShardIndex;

/// Something that must never be so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// Invariant 1.
    #[error("shard {shard} is held by {holders} at once, quarantines included")]
    HeldTwice {
        /// The shard.
        shard: ShardIndex,
        /// How many hold it.
        holders: u32,
    },
    /// Invariant 1: what decisions go by does not agree with the record.
    #[error("shard {shard} counts {counted} holders and the record has {recorded}")]
    HoldersMiscounted {
        /// The shard.
        shard: ShardIndex,
        /// The count that decisions go by.
        counted: u32,
        /// The holders in the record.
        recorded: u32,
    },
    /// Invariant 3.
    #[error("shard {shard} has no target owner though there are members")]
    Unowned {
        /// The shard.
        shard: ShardIndex,
    },
    /// Invariant 4.
    #[error("{what} is {value}, above {limit_of} {limit}")]
    EpochAhead {
        /// The epoch.
        what: &'static str,
        /// Its value.
        value: u64,
        /// What it must not be above.
        limit_of: &'static str,
        /// The value of that.
        limit: u64,
    },
    /// Invariant 4.
    #[error("{what} went down from {from} to {to}")]
    WentDown {
        /// The epoch or version.
        what: &'static str,
        /// Its value before.
        from: u64,
        /// Its value after.
        to: u64,
    },
    /// Invariant 5.
    #[error("{member} is a target owner and can't be one")]
    TargetWithoutMember {
        /// The member.
        member: MemberId,
    },
    /// Invariant 5.
    #[error("shard {shard} has a target owner and is not assignable")]
    TargetWithoutShard {
        /// The shard.
        shard: ShardIndex,
    },
    /// Invariant 5.
    #[error("target loads range from {least} to {most}")]
    Unbalanced {
        /// The smallest load.
        least: usize,
        /// The largest load.
        most: usize,
    },
    /// Invariant 7.
    #[error("the record does not give the same group again")]
    NotReproducible,
}

impl Group {
    /// Everything that is wrong with the group. Empty unless there is a fault in this crate or in the store.
    #[must_use]
    pub fn check_invariants(&self) -> Vec<Violation> {
        let mut violations = Vec::new();
        single_holder::check(self, &mut violations);
        holders::check(self, &mut violations);
        target_owners::check(self, &mut violations);
        target_members::check(self, &mut violations);
        epochs::check(self, &mut violations);
        violations
    }

    /// Everything that is wrong with this group as the successor of an earlier one of the same lineage.
    #[must_use]
    pub fn check_succession(&self, earlier: &Self) -> Vec<Violation> {
        let mut violations = Vec::new();
        epochs::check_succession(earlier, self, &mut violations);
        replay::check(self, &mut violations);
        violations
    }
}
