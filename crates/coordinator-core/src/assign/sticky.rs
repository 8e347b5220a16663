//! The default strategy: balanced, and with the fewest possible changes of owner (rules A2 to A7).

use alloc::vec;
use alloc::vec::Vec;

use super::{AssignmentStrategy, Candidate, Owners, Problem};
use crate::numbers::ShardIndex;

/// Keeps every owner that balance allows. Rules A3, A4 and A6.
#[derive(Clone, Copy, Debug)]
pub struct Sticky;

impl AssignmentStrategy for Sticky {
    fn name(&self) -> &'static str {
        "sticky"
    }

    fn solve(&self, problem: &Problem<'_>) -> Owners {
        let mut owners = problem.no_owners();
        if problem.candidates.is_empty() {
            return owners;
        }
        let mut kept = keep_previous(problem, &mut owners);
        let limits = load_limits(problem, &kept);
        for ((candidate, kept), limit) in problem.candidates.iter().zip(&mut kept).zip(limits) {
            give_up(candidate, kept, limit, &mut owners);
        }
        let loads: Vec<usize> = kept.iter().map(Vec::len).collect();
        hand_out(problem, &loads, &mut owners);
        owners
    }
}

/// Gives every still assignable shard back to its previous owner, and lists what each keeps.
fn keep_previous(problem: &Problem<'_>, owners: &mut Owners) -> Vec<Vec<ShardIndex>> {
    let everything = problem
        .assignable
        .is_contiguous_from_zero()
        .then(|| problem.assignable.len());
    let is_assignable = |shard: ShardIndex| match everything {
        Some(count) => shard.as_usize() < count,
        None => problem.assignable.contains(shard),
    };
    let mut kept = Vec::with_capacity(problem.candidates.len());
    for (position, candidate) in problem.candidates.iter().enumerate() {
        let mut own = Vec::with_capacity(candidate.previous.len());
        for shard in candidate.previous {
            if is_assignable(shard) && owners.get(shard).is_none() {
                owners.set(shard, position);
                own.push(shard);
            }
        }
        kept.push(own);
    }
    kept
}

/// The most that each member may keep (rule A4): one more than the even share for as many members as there are shards left over.
/// Among those with that much, members that hold all of it come first (rule A6: nothing needs draining then), then the smallest id.
fn load_limits(problem: &Problem<'_>, kept: &[Vec<ShardIndex>]) -> Vec<usize> {
    let share = problem.assignable.len() / kept.len();
    let left_over = problem.assignable.len() % kept.len();
    let mut rich: Vec<usize> = (0..kept.len())
        .filter(|position| kept[*position].len() > share)
        .collect();
    if rich.len() > left_over {
        let drains_less = |position: usize| {
            let candidate = &problem.candidates[position];
            kept[position]
                .iter()
                .filter(|shard| candidate.holds(**shard))
                .count()
                > share
        };
        rich.sort_by_cached_key(|position| (!drains_less(*position), *position));
        rich.truncate(left_over);
    }
    let mut limits = vec![share; kept.len()];
    for position in rich {
        limits[position] = share + 1;
    }
    limits
}

/// Takes from a member what is above its limit: first what it does not hold yet, then the highest index (rule A6).
fn give_up(
    candidate: &Candidate<'_>,
    kept: &mut Vec<ShardIndex>,
    limit: usize,
    owners: &mut Owners,
) {
    if kept.len() <= limit {
        return;
    }
    kept.sort_by_cached_key(|shard| (!candidate.holds(*shard), *shard));
    for shard in kept.drain(limit..) {
        owners.clear(shard);
    }
}

/// Gives every shard without an owner to the least loaded member, the smallest id first (rule A6).
///
/// Members are served level by level instead of through a heap: one walk over the shards, whatever their number (rule A7).
fn hand_out(problem: &Problem<'_>, loads: &[usize], owners: &mut Owners) {
    let mut free = problem
        .assignable
        .iter()
        .filter(|shard| owners.get(*shard).is_none())
        .collect::<Vec<_>>()
        .into_iter();
    let mut waiting: Vec<usize> = (0..loads.len()).collect();
    waiting.sort_by_key(|position| loads[*position]);
    let mut waiting = waiting.into_iter().peekable();
    let mut level = waiting.peek().map_or(0, |position| loads[*position]);
    let mut receivers: Vec<usize> = Vec::new();
    while free.len() > 0 {
        let before = receivers.len();
        while let Some(position) = waiting.next_if(|position| loads[*position] == level) {
            receivers.push(position);
        }
        if receivers.len() > before {
            receivers.sort_unstable();
        }
        for (position, shard) in receivers.iter().zip(free.by_ref()) {
            owners.set(shard, *position);
        }
        level += 1;
    }
}
