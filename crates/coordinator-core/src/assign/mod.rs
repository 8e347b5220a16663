//! Target assignment: which member should own which shard (rules A1 to A8). Pure functions of members, shards,
//! the previous target and what is held; knows nothing of epochs, leases or who is allowed to start reading.

mod problem;
mod range;
mod sticky;

use core::fmt;

pub use problem::{Candidate, Owners, Problem};
pub use range::Range;
pub use sticky::Sticky;

/// A way of computing target assignments. Rule A8.
///
/// Whatever the strategy, its answer must give every assignable shard one owner (rule A2), keep the loads within one of
/// each other (rule A3) and depend on nothing but the problem (rule A5).
pub trait AssignmentStrategy: fmt::Debug + Send + Sync {
    /// The strategy's name, as it is configured and shown.
    fn name(&self) -> &'static str;

    /// The owner of every assignable shard; no owners where there are no candidates.
    fn solve(&self, problem: &Problem<'_>) -> Owners;
}
