//! Whether a shard is drained: rule G4. Read here, judged in the core.

use coordinator_core::evidence::{GroupEvidence, ShardEvidence};
use coordinator_core::names::StreamPrefix;
use coordinator_core::numbers::ShardIndex;
use store::PlaneError;
use stream_lifecycle::{LifecycleError, ShardInspect};

use super::lives::Present;
use super::{RedisPlane, failure, groups, shard_key};

impl RedisPlane {
    pub(super) async fn look_at(
        &self,
        stream: &StreamPrefix,
        shard: ShardIndex,
    ) -> Result<ShardEvidence, PlaneError> {
        let key = shard_key(stream, shard);
        let handle = match self.present(stream, shard).await? {
            Present::Alive(handle) => handle,
            Present::Over(_) => return Ok(ShardEvidence::Missing),
            Present::Never if self.exists(&key).await? => {
                return Err(failure::without_lifecycle(&key));
            }
            Present::Never => return Ok(ShardEvidence::Missing),
        };
        let evidence = match handle.drain_evidence().await {
            Ok(evidence) => evidence,
            Err(LifecycleError::Destroyed { .. } | LifecycleError::GenerationMismatch { .. }) => {
                return Ok(ShardEvidence::Missing);
            }
            Err(error) => return Err(failure::of_lifecycle(&key, error)),
        };
        if evidence.is_missing {
            return Ok(ShardEvidence::Missing);
        }
        let of_group = |group: stream_lifecycle::GroupEvidence| GroupEvidence {
            group: groups::told(&group.name),
            pending: group.pending,
            lag: group.lag,
            has_unread: group.has_unread,
        };
        let groups = evidence.groups.into_iter().map(of_group);
        Ok(ShardEvidence::Groups(groups.collect()))
    }
}
