//! Invariant 8: once faults stop, every group with live members becomes STABLE, every shard is read, and every migration with drained shards
//! ends.

use coordinator_core::Group;
use coordinator_core::names::MemberId;
use coordinator_core::numbers::ShardIndex;
use coordinator_core::state::GroupState;

use crate::world::World;

/// What is still missing; nothing where all has come to rest.
pub(crate) fn check(world: &World) -> Option<String> {
    (0..world.setup.groups).find_map(|group| of_group(world, group))
}

fn of_group(world: &World, index: usize) -> Option<String> {
    let record = world.store.record(index);
    let group = match Group::restore(record.clone(), world.setup.settings) {
        Ok(group) => group,
        Err(error) => return Some(error.to_string()),
    };
    if group.state() != GroupState::Stable {
        return Some(format!("group {index} is {:?}", group.state()));
    }
    if let Some(migration) = &record.migration {
        return Some(format!(
            "group {index}: {} is {:?}, {:?}",
            migration.id, migration.state, migration.leaving
        ));
    }
    if record.lineage.is_settling() {
        return Some(format!(
            "group {index} has not settled: {:?}",
            record.lineage
        ));
    }
    if record.shard_count != world.store.record(0).shard_count {
        return Some(format!(
            "group {index} has {} shards and the first one {}",
            record.shard_count,
            world.store.record(0).shard_count
        ));
    }
    let unread = record
        .shard_count
        .shards()
        .find_map(|shard| not_read(world, index, &group, shard));
    unread.or_else(|| not_handled(world, index))
}

/// Whether a shard's target owner reads it.
fn not_read(world: &World, index: usize, group: &Group, shard: ShardIndex) -> Option<String> {
    let owner: Option<&MemberId> = group.record().target.owner(shard);
    let reads = world.processes.iter().any(|process| {
        process.group == index
            && process.may_read(shard.get(), world.now)
            && owner.is_some_and(|owner| owner.as_str() == process.name)
    });
    (!reads).then(|| format!("shard {shard} of group {index} is not read by its owner {owner:?}"))
}

/// Whether an entry was never handled. Where the store lost writes, streams and records may not agree: shards that the group does not know are
/// then nobody's.
fn not_handled(world: &World, index: usize) -> Option<String> {
    let count = world.store.record(index).shard_count;
    let is_known =
        |shard: u32| !world.watch.has_lost_writes || count.contains(ShardIndex::new(shard));
    let mut left = world.streams.never_handled(index);
    let (entry, shard) = left.find(|(_, shard)| is_known(*shard))?;
    Some(format!(
        "entry {entry} of shard {shard} was never handled by group {index}"
    ))
}
