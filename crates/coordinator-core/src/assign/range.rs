//! The second strategy: contiguous ranges in the order of ids. Easy to predict, but moves more (rule A8).

use super::{AssignmentStrategy, Owners, Problem};

/// Gives the first member the lowest shards, and so on. Balanced and deterministic, not sticky: rule A4 is not kept.
#[derive(Clone, Copy, Debug)]
pub struct Range;

impl AssignmentStrategy for Range {
    fn name(&self) -> &'static str {
        "range"
    }

    fn solve(&self, problem: &Problem<'_>) -> Owners {
        let mut owners = problem.no_owners();
        let members = problem.candidates.len();
        if members == 0 {
            return owners;
        }
        let (share, left_over) = (
            problem.assignable.len() / members,
            problem.assignable.len() % members,
        );
        let mut shards = problem.assignable.iter();
        for position in 0..members {
            for shard in shards
                .by_ref()
                .take(share + usize::from(position < left_over))
            {
                owners.set(shard, position);
            }
        }
        owners
    }
}
