//! What producers and operators do: publish where they think the stream is, and ask for another number of shards.

use coordinator_core::input::Input;
use coordinator_core::migration::{Migration, MigrationState};
use coordinator_core::names::ReshardingId;
use coordinator_core::numbers::ShardCount;

use super::{Producer, World};
use crate::coordinator::{Ask, doubt_of};
use crate::setup::MOST_SHARDS;

impl World {
    /// A producer that finds no stream asks where to publish (NOMKSTREAM).
    pub(super) fn publish(&mut self, producer: usize, key: u32) {
        let Some(Producer { count }) = self.producers.get(producer).copied() else {
            return;
        };
        if count == 0 || !self.streams.publish(key % count) {
            self.refresh(producer);
        }
    }

    pub(crate) fn refresh(&mut self, producer: usize) {
        let count = self.store.record(0).shard_count.get();
        if let Some(producer) = self.producers.get_mut(producer) {
            producer.count = count;
        }
    }

    /// An operator asks for a change. All groups are looked at first, and the first one decides whether it is taken on; the others follow.
    pub(super) fn scale(&mut self, coordinator: usize, target: u32) {
        let is_free =
            (0..self.setup.groups).all(|group| self.store.record(group).migration.is_none());
        if target > MOST_SHARDS || !is_free || self.store.is_away(self.now) {
            return;
        }
        self.changes += 1;
        let input = Input::ScaleRequested {
            resharding: ReshardingId::new(&format!("reshard-{}", self.changes)),
            target: ShardCount::new(target),
        };
        self.ask_first_group(coordinator, input);
    }

    /// The first group decides whether the change is taken back; the others follow (rule G8). None is asked where any has gone too far.
    pub(super) fn roll_back(&mut self, coordinator: usize) {
        let active = self
            .store
            .record(0)
            .migration
            .as_ref()
            .map(|migration| migration.id.clone());
        let may_go_back = |id: &ReshardingId| {
            (0..self.setup.groups).all(|group| {
                let record = self.store.record(group);
                let is_it = |migration: &&Migration| migration.id == *id;
                record.migration.as_ref().filter(is_it).is_none_or(|it| {
                    matches!(
                        it.state,
                        MigrationState::Preparing
                            | MigrationState::Active
                            | MigrationState::RollingBack
                    )
                }) && !record.finished_migrations.iter().any(|it| it.id == *id)
            })
        };
        if let Some(resharding) = active.filter(may_go_back) {
            self.ask_first_group(
                coordinator,
                Input::RollbackRequested {
                    resharding,
                    is_decided: false,
                },
            );
        }
    }

    fn ask_first_group(&mut self, coordinator: usize, input: Input) {
        let now = self.now;
        let Ok(snapshot) = self.store.load(0, now) else {
            return;
        };
        if let Some(it) = self
            .coordinators
            .get_mut(coordinator)
            .filter(|it| it.is_awake(now))
        {
            it.tasks[0].queue.push_back(Ask::Admin {
                input: Box::new(input),
                doubted_at: doubt_of(&snapshot),
            });
        }
    }
}
