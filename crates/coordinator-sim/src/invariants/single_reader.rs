//! Invariant 2: seen from outside, no two clients read one shard at the same moment.

use crate::world::World;

/// Who may be reading a shard for a group, if that is more than one. A process that is paused counts for as long as its lease runs: after that
/// the first thing its workers do is to look at it.
pub(crate) fn check(world: &World, group: usize, shard: u32) -> Option<String> {
    let processes = world.processes.iter().enumerate();
    let mut readers = processes
        .filter(|(_, process)| process.group == group && process.may_read(shard, world.now))
        .map(|(index, process)| (index, process.member));
    let first = readers.next()?;
    let second = readers.next()?;
    Some(format!(
        "shard {shard} of group {group} is read by process {} (member {}) and process {} (member {}) at once",
        first.0, first.1, second.0, second.1
    ))
}
