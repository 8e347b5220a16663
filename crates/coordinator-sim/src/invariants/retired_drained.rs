//! Invariant 6: a shard is retired only when every consumer group on it was proven drained in the same atomic step.

use coordinator_core::migration::LeavingPhase;
use coordinator_core::numbers::ShardIndex;

use crate::world::World;

/// What stands against taking a shard away at this moment, by what is really in its stream and who really reads it.
pub(crate) fn check(world: &World, shard: u32) -> Option<String> {
    let open = world.streams.open_entries(shard);
    if !open.is_empty() {
        return Some(format!(
            "shard {shard} is retired and entries {open:?} are not handled by every group"
        ));
    }
    if is_read_again(world, shard) {
        return None;
    }
    let mut processes = world.processes.iter().enumerate();
    let (reader, _) = processes.find(|(_, process)| process.may_read(shard, world.now))?;
    Some(format!(
        "shard {shard} is retired and process {reader} may be reading it"
    ))
}

/// Whether a group took the shard back meanwhile, to read it to its end: that nothing is left of it then harms nobody.
fn is_read_again(world: &World, shard: u32) -> bool {
    let mut groups = 0..world.setup.groups;
    groups.any(|group| {
        let migration = world.store.record(group).migration.as_ref();
        migration.is_some_and(|migration| {
            let mut leaving = migration.leaving_in(LeavingPhase::Draining);
            leaving.any(|leaving| leaving == ShardIndex::new(shard))
        })
    })
}
