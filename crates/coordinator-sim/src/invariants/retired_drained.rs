//! Invariant 6: a shard is retired only when every consumer group on it was proven drained in the same atomic step.

use crate::world::World;

/// What stands against taking a shard away at this moment, by what is really in its stream and who really reads it.
pub(crate) fn check(world: &World, shard: u32) -> Option<String> {
    let open = world.streams.open_entries(shard);
    if !open.is_empty() {
        return Some(format!(
            "shard {shard} is retired and entries {open:?} are not handled by every group"
        ));
    }
    let mut processes = world.processes.iter().enumerate();
    let (reader, _) = processes.find(|(_, process)| process.may_read(shard, world.now))?;
    Some(format!(
        "shard {shard} is retired and process {reader} may be reading it"
    ))
}
