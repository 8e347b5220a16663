//! Deleting a group. Its streams stay: what is in them is the user's.

use std::sync::Arc;

use coordinator_core::input::Input;
use coordinator_core::names::GroupId;
use coordinator_core::numbers::MetadataVersion;
use coordinator_core::record::GroupRecord;
use store::CommitError;
use tokio::sync::oneshot;

use super::group_task::{Ask, GroupTask};
use super::{Engine, EngineError, change};
use crate::metrics;

const ATTEMPTS: usize = 8;

impl Engine {
    /// Deletes a group and says what it was.
    pub(crate) async fn delete(
        &self,
        group: &GroupId,
        force: bool,
    ) -> Result<Arc<GroupRecord>, EngineError> {
        let _begun = self.begin_change()?;
        let (answer, outcome) = oneshot::channel();
        self.ask(group, Ask::Delete { force, answer })?;
        let record = outcome.await.map_err(|_| EngineError::Interrupted)??;
        tracing::info!(%group, force, "group deleted");
        Ok(record)
    }
}

impl GroupTask {
    pub(super) async fn delete(&mut self, force: bool) -> Result<Arc<GroupRecord>, EngineError> {
        for _ in 0..ATTEMPTS {
            let begun = self.begin().await?;
            let (Some(begun), Some(cached)) = (begun, &self.cached) else {
                return Err(EngineError::GroupNotFound);
            };
            let clock = match self.clock(begun.now).await {
                Ok(clock) => clock,
                Err(error) => {
                    self.engine.store().release(begun.lock).await;
                    return Err(error.into());
                }
            };
            let deletion = Input::DeletionRequested { force };
            match cached.group.decide(clock, &deletion) {
                Err(rejection) => {
                    self.engine.store().release(begun.lock).await;
                    return Err(rejection.into());
                }
                Ok(step) if !force && !step.writes.is_empty() => {
                    // Whoever was expired for this might renew its lease until that is committed, and would be deleted from under.
                    self.engine.store().release(begun.lock).await;
                    let brought_up = change::change(self, vec![Ask::Tick(None)]).await;
                    brought_up.map_err(|(_, error)| error)?;
                    continue;
                }
                Ok(_) => {}
            }
            match self
                .engine
                .store()
                .remove(begun.lock, &cached.snapshot.stamp)
                .await
            {
                Ok(()) => {
                    let record = Arc::clone(&cached.snapshot.record);
                    self.forget();
                    self.hub.correct(MetadataVersion::default());
                    self.engine.unlist(&self.id);
                    return Ok(record);
                }
                Err(CommitError::Store(error)) => {
                    self.cached = None;
                    return Err(error.into());
                }
                Err(_) => metrics::state_conflict("remove"),
            }
        }
        Err(EngineError::Conflict)
    }
}
