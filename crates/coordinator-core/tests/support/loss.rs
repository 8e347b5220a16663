//! A group whose store loses writes.

use std::collections::BTreeMap;

use coordinator_core::lineage::Lineage;
use coordinator_core::record::GroupRecord;
use coordinator_core::step::HeartbeatReply;

use super::{Beat, World, join, obeying};

/// `a` had shards 0 to 3 when the record was saved. Since then `b` joined, `a` let go of 2 and 3, and `b` reads them.
pub struct Loss {
    pub world: World,
    pub saved: GroupRecord,
    pub members: BTreeMap<&'static str, HeartbeatReply>,
}

impl Loss {
    pub fn new() -> Self {
        let (mut world, mut members) = World::settled(4, &["a", "b"]);
        let saved = world.saved();
        // c joins and takes over a shard of each: this is what will be lost.
        let c = world.beat(join("c"));
        members.insert("c", c);
        world.settle(&mut members);
        Self {
            world,
            saved,
            members,
        }
    }

    /// In the lost writes a and b were there, b got shards 2 and 3 from a.
    pub fn of_a_handoff() -> Self {
        let (mut world, mut members) = World::settled(4, &["a"]);
        let b = world.beat(join("b"));
        let saved = world.saved();
        members.insert("b", b);
        world.settle(&mut members);
        assert_eq!(
            (world.holds("a"), world.holds("b")),
            (vec![0, 1], vec![2, 3])
        );
        Self {
            world,
            saved,
            members,
        }
    }

    pub fn beat_of(&self, member: &str) -> Beat {
        obeying(member, &self.members[member])
    }

    pub fn hear(&mut self, member: &'static str) -> HeartbeatReply {
        let reply = self.world.beat(self.beat_of(member));
        self.members.insert(member, reply.clone());
        reply
    }

    pub fn lineage(&self) -> &Lineage {
        &self.world.group.record().lineage
    }
}
