//! Who has which shard, told by shard: walked through once for a group, however many shards there are.

use std::collections::HashMap;

use coordinator_core::Group;
use coordinator_core::names::MemberId;
use coordinator_core::numbers::ShardIndex;
use coordinator_core::shard_set::ShardSet;

/// The members that have each shard, in the order of their names.
pub(super) struct Owners(HashMap<ShardIndex, Vec<String>>);

impl Owners {
    /// Who reads what.
    pub(super) fn current(group: &Group) -> Self {
        let live = group.live_members();
        Self::of(live.map(|(id, _)| (id, group.current(id))))
    }

    /// Who gives up what.
    pub(super) fn revoking(group: &Group) -> Self {
        let live = group.live_members();
        Self::of(live.map(|(id, _)| (id, group.draining(id))))
    }

    /// Who should read what.
    pub(super) fn target(group: &Group) -> Self {
        let target = group.record().target.iter();
        Self::of(target.map(|(id, shards)| (id, shards.clone())))
    }

    fn of<'a>(members: impl Iterator<Item = (&'a MemberId, ShardSet)>) -> Self {
        let mut owners: HashMap<ShardIndex, Vec<String>> = HashMap::new();
        for (id, shards) in members {
            for shard in shards.iter() {
                owners
                    .entry(shard)
                    .or_default()
                    .push(id.as_str().to_owned());
            }
        }
        Self(owners)
    }

    pub(super) fn names(&self, shard: ShardIndex) -> &[String] {
        self.0.get(&shard).map_or(&[], Vec::as_slice)
    }

    /// Separated by commas.
    pub(super) fn joined(&self, shard: ShardIndex) -> String {
        self.names(shard).join(",")
    }
}
