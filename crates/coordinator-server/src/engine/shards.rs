//! Looking at the shard streams of a group.

use coordinator_core::Group;
use coordinator_core::numbers::ShardIndex;
use coordinator_core::shard_set::ShardSet;
use store::{MessagePage, MessageRange, PlaneError, StreamOffsets};

use super::{Engine, EngineError};

impl Engine {
    /// Where the streams of a group stand, those on their way out included.
    pub(super) async fn offsets(
        &self,
        group: &Group,
    ) -> Result<Vec<(ShardIndex, Result<StreamOffsets, PlaneError>)>, EngineError> {
        let plane = self.plane()?;
        let id = &group.record().id;
        Ok(plane.offsets(&id.stream, &id.group, &streams(group)).await)
    }

    /// A page of a shard's entries.
    pub(crate) async fn messages(
        &self,
        group: &Group,
        range: &MessageRange,
    ) -> Result<MessagePage, EngineError> {
        let plane = self.plane()?;
        let page = plane.messages(&group.record().id.stream, range).await;
        page.map_err(EngineError::Unread)
    }

    /// Whether a shard has a stream.
    pub(crate) fn has_stream(&self, group: &Group, shard: ShardIndex) -> bool {
        streams(group).contains(shard)
    }

    fn plane(&self) -> Result<&dyn store::ShardPlane, EngineError> {
        let plane = self.0.deps.plane.as_deref();
        plane.ok_or(EngineError::NoPlane)
    }
}

/// The shards that have a stream: those of the count, and those on their way out.
pub(crate) fn streams(group: &Group) -> ShardSet {
    super::create::streams_of(group.record())
}
