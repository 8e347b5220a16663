//! Changes of the shard count, carried out: looked at, planned from what all groups of the stream have recorded, done to the streams, told to the groups.
//! Any coordinator goes on where another ended. Rules G1 to G11; what is to be done next is planned in the core.

mod carry_out;
mod driver;
mod look;
mod retire;

pub(super) use driver::Drivers;
pub(super) use look::Looked;

use coordinator_core::names::StreamPrefix;
use coordinator_core::resharding::{GroupView, plan};
use coordinator_core::time::Timestamp;
use tokio::sync::oneshot;

use super::group_task::Ask;
use super::{Engine, EngineError};

/// All groups of a stream, as they were looked at.
#[derive(Default)]
struct LookedAt {
    groups: Vec<GroupView>,
    /// The store's time.
    now: Timestamp,
}

/// What came of one stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// No group of the stream has a change under way.
    Nothing,
    /// The groups wait for their members, or for a shard to be read to its end.
    Waits,
    /// Something was done.
    Went,
}

impl Engine {
    /// Goes on with the stream's change by one stage.
    pub(super) async fn reshard(&self, stream: &StreamPrefix) -> Result<Progress, EngineError> {
        let looked = self.look_at_stream(stream).await?;
        let Some(plan) = plan(&looked.groups) else {
            let is_active = looked.groups.iter().any(|group| group.active().is_some());
            return Ok(if is_active {
                Progress::Waits
            } else {
                Progress::Nothing
            });
        };
        self.carry_out(stream, looked, plan).await
    }

    /// Every group of the stream, brought up to date, and what its record asks for. One that is half made has no say yet.
    async fn look_at_stream(&self, stream: &StreamPrefix) -> Result<LookedAt, EngineError> {
        let mut looked = LookedAt::default();
        for group in self.groups_of_stream(stream).await? {
            let (answer, outcome) = oneshot::channel();
            self.ask(&group, Ask::Look { answer })?;
            match outcome.await.map_err(|_| EngineError::Interrupted)? {
                Ok(group) => {
                    looked.now = looked.now.max(group.now);
                    looked.groups.push(group.view);
                }
                // The directory may name one that is gone.
                Err(EngineError::GroupNotFound) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(looked)
    }
}
