//! One group as it is recorded, and what its record asks to be done to the shard streams.

use std::sync::Arc;

use coordinator_core::input::Input;
use coordinator_core::resharding::GroupView;
use coordinator_core::time::{Clock, Timestamp};

use crate::engine::EngineError;
use crate::engine::change;
use crate::engine::group_task::{Ask, GroupTask};

/// A group that was looked at.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Looked {
    pub(super) view: GroupView,
    /// The store's time.
    pub(super) now: Timestamp,
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
            let brought_up = change::change(self, vec![Ask::Tick(None)]).await;
            brought_up.map_err(|(_, error)| error)?;
            self.load().await?;
        }
        let clock = self.look_clock().await?;
        let doubted_at = self.latest_doubt();
        let cached = self.cached.as_ref().ok_or(EngineError::GroupNotFound)?;
        let view = GroupView {
            record: Arc::clone(&cached.snapshot.record),
            effect: cached.group.asks_for(clock),
            doubted_at,
        };
        Ok(Looked {
            view,
            now: clock.now,
        })
    }

    async fn look_clock(&self) -> Result<Clock, EngineError> {
        let cached = self.cached.as_ref().ok_or(EngineError::GroupNotFound)?;
        Ok(self.clock(cached.snapshot.now).await?)
    }
}
