//! Changes of the shard count in a test: evidence, written shortly.

use coordinator_core::evidence::{GroupEvidence, ShardEvidence};
use coordinator_core::generations::Generations;
use coordinator_core::input::Input;
use coordinator_core::migration::{LeavingPhase, Migration, MigrationState};
use coordinator_core::names::{ConsumerGroup, ReshardingId};
use coordinator_core::numbers::{ShardCount, ShardIndex};
use coordinator_core::step::Effect;

use super::{World, numbers, set};

pub fn resharding() -> ReshardingId {
    ReshardingId::new("reshard-1")
}

pub fn scale(target: u32) -> Input {
    Input::ScaleRequested {
        resharding: resharding(),
        target: ShardCount::new(target),
    }
}

pub fn provisioned() -> Input {
    Input::MigrationProvisioned {
        resharding: resharding(),
        generations: Generations::default(),
    }
}

pub fn rollback() -> Input {
    Input::RollbackRequested {
        resharding: resharding(),
        is_decided: false,
    }
}

pub fn retired(shards: &[u32]) -> Input {
    Input::ShardsRetired {
        resharding: resharding(),
        shards: set(shards),
    }
}

pub fn coordinated() -> ConsumerGroup {
    ConsumerGroup::parse("orders").expect("a good name")
}

/// The one group of the stream, as it was found.
pub fn found(pending: u64, lag: Option<u64>, has_unread: bool) -> ShardEvidence {
    ShardEvidence::Groups(vec![GroupEvidence {
        group: coordinated(),
        pending,
        lag,
        has_unread,
    }])
}

/// Nothing is left.
pub fn empty() -> ShardEvidence {
    found(0, Some(0), false)
}

pub fn observed(evidence: Vec<(u32, ShardEvidence)>) -> Input {
    let evidence = evidence
        .into_iter()
        .map(|(shard, evidence)| (ShardIndex::new(shard), evidence))
        .collect();
    Input::DrainObserved {
        resharding: resharding(),
        evidence,
        coordinated: vec![coordinated()],
    }
}

impl World {
    pub fn migration(&self) -> &Migration {
        self.group
            .record()
            .migration
            .as_ref()
            .expect("a change is under way")
    }

    /// How the last change ended.
    pub fn ended(&self) -> Option<MigrationState> {
        self.group
            .record()
            .finished_migrations
            .last()
            .map(|migration| migration.state)
    }

    pub fn leaving_in(&self, phase: LeavingPhase) -> Vec<u32> {
        self.migration()
            .leaving_in(phase)
            .map(ShardIndex::get)
            .collect()
    }

    pub fn count(&self) -> u32 {
        self.group.record().shard_count.get()
    }

    pub fn assignable(&self) -> Vec<u32> {
        numbers(&self.group.assignable())
    }

    /// What the record asks to be done now.
    pub fn effects(&self) -> Vec<Effect> {
        self.decide(&Input::TickDue)
            .expect("a tick is never refused")
            .effects
    }
}
