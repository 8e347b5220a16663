//! One group as it is recorded, and what its record asks to be done to the shard streams.

use std::sync::Arc;

use coordinator_core::Group;
use coordinator_core::input::Input;
use coordinator_core::migration::{Migration, MigrationState};
use coordinator_core::names::ReshardingId;
use coordinator_core::record::GroupRecord;
use coordinator_core::step::Effect;
use coordinator_core::time::{Clock, Timestamp};
use coordinator_core::write::Write;

use crate::engine::EngineError;
use crate::engine::change;
use crate::engine::group_task::{Ask, GroupTask};

/// A group that was looked at.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Looked {
    pub(super) record: Arc<GroupRecord>,
    /// What it asks for; nothing while it has something to record first.
    pub(super) effect: Option<Effect>,
    /// Under which doubt it was looked at (rule C8).
    pub(super) doubted_at: Option<Timestamp>,
    /// The store's time.
    pub(super) now: Timestamp,
}

impl Looked {
    /// The change under way.
    pub(super) fn active(&self) -> Option<&Migration> {
        self.record.migration.as_ref()
    }

    /// How far the group is with a change, if it has it or had it.
    pub(super) fn state_of(&self, change: &ReshardingId) -> Option<MigrationState> {
        let finished = self.record.finished_migrations.iter();
        let mut known = self.record.migration.iter().chain(finished);
        known.find(|it| it.id == *change).map(|it| it.state)
    }

    /// Whether the group is through with a change.
    pub(super) fn is_through(&self, change: &ReshardingId) -> bool {
        let mut finished = self.record.finished_migrations.iter();
        finished.any(|it| it.id == *change)
    }
}

/// What a group asks for, unless time alone changes something in it.
pub(super) fn asks_for(group: &Group, clock: Clock) -> Option<Effect> {
    let step = group.decide(clock, &Input::TickDue).ok()?;
    let is_quiet = step
        .writes
        .iter()
        .all(|write| matches!(write, Write::LeaseSet { .. }));
    step.effects.into_iter().next().filter(|_| is_quiet)
}

impl GroupTask {
    /// Brings the group up to date and says what it asks for.
    pub(in crate::engine) async fn look(&mut self) -> Result<Looked, EngineError> {
        self.load().await?;
        let clock = self.look_clock().await?;
        let is_quiet = self.cached.as_ref().is_none_or(|cached| {
            let step = cached.group.decide(clock, &Input::TickDue);
            step.is_ok_and(|step| step.writes.is_empty())
        });
        if !is_quiet {
            let brought_up = change::change(self, vec![Ask::Tick]).await;
            brought_up.map_err(|(_, error)| error)?;
            self.load().await?;
        }
        let clock = self.look_clock().await?;
        let doubted_at = self.latest_doubt();
        let cached = self.cached.as_ref().ok_or(EngineError::GroupNotFound)?;
        Ok(Looked {
            record: Arc::clone(&cached.snapshot.record),
            effect: asks_for(&cached.group, clock),
            doubted_at,
            now: clock.now,
        })
    }

    async fn look_clock(&self) -> Result<Clock, EngineError> {
        let cached = self.cached.as_ref().ok_or(EngineError::GroupNotFound)?;
        Ok(self.clock(cached.snapshot.now).await?)
    }
}
