//! Invariant 9: a member that obeys the answers is never fenced by lost, duplicated or delayed messages alone.

use coordinator_core::names::MemberId;
use coordinator_core::write::FenceCause;
use member_client::protocol::HeartbeatStatus;

use crate::world::World;

/// Whether a refusal that a process heard while its lease ran breaks the promise. It does not where the client says too little of itself, where
/// its id was taken by another process, after the store lost writes, and where a shard was kept beyond the rebalance timeout, or the store's clock jumped over it.
pub(crate) fn check(world: &World, index: usize, status: HeartbeatStatus) -> Option<String> {
    let process = &world.processes[index];
    if process.client.is_plain() || process.has_lost_its_id || world.watch.has_lost_writes {
        return None;
    }
    let member = MemberId::parse(&process.name).ok()?;
    let cause = world.watch.fenced[process.group].get(&member);
    // It may hear of it as late as a lease after the coordinator has armed the timeout.
    let may_drain_ms = world
        .setup
        .rebalance_ms
        .saturating_sub(world.setup.lease_ms);
    let was_slow = process.longest_drain_ms >= may_drain_ms;
    let had_its_time = !was_slow && !world.watch.has_jumped;
    if cause == Some(&FenceCause::RebalanceTimeout) && !had_its_time {
        return None;
    }
    let epoch = process.waiting.as_ref().map(|waiting| waiting.epoch);
    Some(format!(
        "process {index} ({member}) obeyed and is told {status:?} while its lease runs (epoch {epoch:?}, last fenced for {cause:?})"
    ))
}
