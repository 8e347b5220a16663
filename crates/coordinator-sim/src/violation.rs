//! What a run found that must never be: which invariant, what was seen, and when. Checks nothing.

use serde::{Deserialize, Serialize};

/// An invariant of the rules, by its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Invariant {
    /// Invariant 1: no shard is granted to two members at once, quarantine included.
    SingleHolder,
    /// Invariant 2: no two clients read one shard at the same moment.
    SingleReader,
    /// Invariant 3: every assignable shard has exactly one target owner.
    TargetOwners,
    /// Invariant 4: epochs stand in their order and never go down.
    Epochs,
    /// Invariant 5: the target names only who and what it may, in balance.
    TargetMembers,
    /// Invariant 6: a shard is retired only when it is proven drained.
    RetiredDrained,
    /// Invariant 7: what is recorded gives the same answers again.
    Reproducible,
    /// Invariant 8: once faults stop, everything comes to rest and everything is read.
    ComesToRest,
    /// Invariant 9: who obeys is not fenced by what happens to messages alone.
    ObedientStays,
    /// No invariant of the rules: a happening that the options forbid.
    Forbidden,
}

impl Invariant {
    /// Its number in the rules; none for what only the options forbid.
    #[must_use]
    pub const fn number(self) -> Option<u8> {
        match self {
            Self::SingleHolder => Some(1),
            Self::SingleReader => Some(2),
            Self::TargetOwners => Some(3),
            Self::Epochs => Some(4),
            Self::TargetMembers => Some(5),
            Self::RetiredDrained => Some(6),
            Self::Reproducible => Some(7),
            Self::ComesToRest => Some(8),
            Self::ObedientStays => Some(9),
            Self::Forbidden => None,
        }
    }
}

/// Something that must never be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("step {step}, {at_ms} ms: {invariant:?}{}: {seen}", .invariant.number().map(|number| format!(" (invariant {number})")).unwrap_or_default())]
pub struct Violation {
    /// Which invariant.
    pub invariant: Invariant,
    /// What was seen.
    pub seen: String,
    /// After how many actions; those of the calm at the end count on.
    pub step: usize,
    /// The true time, in milliseconds since the beginning.
    pub at_ms: u64,
}
