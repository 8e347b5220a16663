//! A group and the moment, driven by commands; after each, the invariants are checked (rule M4).
#![allow(dead_code, unreachable_pub, unused_imports, clippy::unwrap_used)]

pub mod beat;
pub mod choices;
pub mod client;
pub mod loss;
pub mod obedient;
pub mod shards;
pub mod streams;

use std::collections::BTreeMap;

use coordinator_core::Group;
use coordinator_core::input::{Heartbeat, Input};
use coordinator_core::names::{MemberId, StreamPrefix};
use coordinator_core::numbers::{ShardCount, ShardIndex};
use coordinator_core::record::{GroupRecord, Provisioning};
use coordinator_core::settings::Settings;
use coordinator_core::shard_set::ShardSet;
use coordinator_core::step::{HeartbeatReply, HeartbeatStatus, Rejection, Reply, Step};
use coordinator_core::time::{Clock, Millis, Timestamp};
use coordinator_core::write::Write;

pub use beat::{Beat, join, leave, obeying, report};

/// A moment far enough from the beginning of time.
pub const START: u64 = 1_000_000;

/// A group of 4 shards with the times of protocol version 1, watched since long ago.
pub struct World {
    pub group: Group,
    pub now: Timestamp,
    pub since: Timestamp,
    pub doubted_at: Option<Timestamp>,
}

impl World {
    pub fn new() -> Self {
        Self::with_shards(4)
    }

    pub fn with_shards(shards: u32) -> Self {
        Self::with(shards, Settings::default())
    }

    pub fn with(shards: u32, settings: Settings) -> Self {
        let id = StreamPrefix::parse("orders").unwrap().own_group();
        let record = GroupRecord::new(id, ShardCount::new(shards), Provisioning::Done);
        let group = Group::restore(record, settings).unwrap();
        Self {
            group,
            now: Timestamp::from_ms(START),
            since: Timestamp::from_ms(0),
            doubted_at: None,
        }
    }

    pub fn clock(&self) -> Clock {
        Clock {
            now: self.now,
            coordination_since: self.since,
            doubted_at: self.doubted_at,
        }
    }

    /// Time passes.
    pub fn after(&mut self, ms: u64) -> &mut Self {
        self.now = self.now.plus(Millis::new(ms));
        self
    }

    /// Decides without committing.
    pub fn decide(&self, input: &Input) -> Result<Step, Rejection> {
        self.group.decide(self.clock(), input)
    }

    /// Decides and commits; the invariants must hold before and after (rule M4).
    pub fn command(&mut self, input: &Input) -> Step {
        let step = self.decide(input).unwrap();
        let before = self.group.clone();
        self.group.apply(&step.writes);
        assert_eq!(self.group.check_invariants(), []);
        assert_eq!(self.group.check_succession(&before), []);
        step
    }

    pub fn step(&mut self, beat: Beat) -> Step {
        self.command(&Input::HeartbeatReceived(beat.build()))
    }

    pub fn beat(&mut self, beat: Beat) -> HeartbeatReply {
        reply(self.step(beat))
    }

    pub fn tick(&mut self) -> Vec<Write> {
        self.command(&Input::TickDue).writes
    }

    /// The member joins and reports what it was given, until nothing changes.
    pub fn join_and_settle(&mut self, member: &str) -> HeartbeatReply {
        let joined = self.beat(join(member));
        assert_eq!(joined.status, HeartbeatStatus::Ok);
        self.beat(obeying(member, &joined))
    }

    /// Every member heartbeats obediently until the group is at rest. What each was last told.
    pub fn settle(&mut self, members: &mut BTreeMap<&'static str, HeartbeatReply>) {
        for _ in 0..10 {
            let mut is_at_rest = true;
            for (member, last) in members.iter_mut() {
                let beat = obeying(member, last);
                let knows_all = last.metadata_version == self.group.metadata_version();
                is_at_rest &= knows_all
                    && self
                        .group
                        .decide_steady(&beat.clone().build(), None)
                        .is_some();
                *last = self.beat(beat);
                assert_eq!(last.status, HeartbeatStatus::Ok, "{member}");
            }
            if is_at_rest {
                return;
            }
        }
        panic!("the group does not come to rest: {:?}", self.group.record());
    }

    /// Every member heartbeats once.
    pub fn settle_partly(&mut self, members: &mut BTreeMap<&'static str, HeartbeatReply>) {
        for (member, last) in members.iter_mut() {
            *last = self.beat(obeying(member, last));
        }
    }

    /// A world with settled members.
    pub fn settled(
        shards: u32,
        names: &[&'static str],
    ) -> (Self, BTreeMap<&'static str, HeartbeatReply>) {
        let mut world = Self::with_shards(shards);
        let mut members = BTreeMap::new();
        for name in names {
            let joined = world.beat(join(name));
            members.insert(*name, joined);
        }
        world.settle(&mut members);
        (world, members)
    }

    /// The store loses what was written since a record was saved, and shows it (rule C8).
    pub fn lose_writes_since(&mut self, saved: &GroupRecord) {
        self.lose_writes_unseen(saved);
        self.doubted_at = Some(self.now);
    }

    /// The store loses what was written since a record was saved, and nothing shows it.
    pub fn lose_writes_unseen(&mut self, saved: &GroupRecord) {
        self.group = Group::restore(saved.clone(), *self.group.settings()).unwrap();
    }

    pub fn saved(&self) -> GroupRecord {
        self.group.record().clone()
    }

    pub fn member(&self, member: &str) -> &coordinator_core::member::MemberRecord {
        self.group.member(&id(member)).unwrap()
    }

    pub fn holds(&self, member: &str) -> Vec<u32> {
        self.member(member)
            .holdings
            .iter()
            .map(|holding| holding.shard.get())
            .collect()
    }

    pub fn target(&self, member: &str) -> Vec<u32> {
        numbers(self.group.record().target.of(&id(member)))
    }

    pub fn in_quarantine(&self) -> Vec<u32> {
        let quarantines = &self.group.record().quarantines;
        quarantines
            .iter()
            .flat_map(|it| &it.holdings)
            .map(|holding| holding.shard.get())
            .collect()
    }

    pub fn versions(&self) -> (u64, u64, u64) {
        let record = self.group.record();
        (
            record.group_epoch.get(),
            record.assignment_epoch.get(),
            record.metadata_version.get(),
        )
    }
}

pub fn id(member: &str) -> MemberId {
    MemberId::parse(member).unwrap()
}

pub fn set(shards: &[u32]) -> ShardSet {
    shards.iter().map(|shard| ShardIndex::new(*shard)).collect()
}

pub fn numbers(shards: &ShardSet) -> Vec<u32> {
    shards.iter().map(ShardIndex::get).collect()
}

pub fn reply(step: Step) -> HeartbeatReply {
    match step.reply {
        Reply::Heartbeat(reply) => reply,
        Reply::Scale(_) | Reply::Done => panic!("a heartbeat is answered"),
    }
}

/// What an answer assigns and what it leaves pending.
pub fn given(reply: &HeartbeatReply) -> (Vec<u32>, Vec<u32>) {
    (numbers(&reply.assigned), numbers(&reply.pending))
}

pub fn heartbeat(beat: Beat) -> Heartbeat {
    beat.build()
}
