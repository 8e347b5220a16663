//! What dashboards ask for: groups with where their streams stand and what their members report. Each is read once for all who ask, a few groups at a time.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use coordinator_core::Group;
use coordinator_core::names::{GroupId, MemberId};
use coordinator_core::numbers::ShardIndex;
use store::{MemberProgress, PlaneError, StreamOffsets};
use tokio::sync::Semaphore;

use super::shared_reads::{Look, SharedReads};
use super::{Engine, EngineError};

/// Of how many groups the shard streams are looked at at once, for those who ask and for the sampler.
pub(super) const GROUPS_AT_ONCE: usize = 4;

/// Where the stream of each shard stands; each fails alone (case C04).
pub(crate) type ShardLooks = Vec<(ShardIndex, Result<StreamOffsets, PlaneError>)>;

/// A group and where its streams stand.
#[derive(Debug)]
pub(crate) struct Standing {
    pub(crate) group: Group,
    pub(crate) shards: ShardLooks,
}

/// A group and what its members last reported.
#[derive(Debug)]
pub(crate) struct Reported {
    pub(crate) group: Group,
    pub(crate) progress: BTreeMap<MemberId, MemberProgress>,
}

pub(super) struct Looks {
    standings: SharedReads<GroupId, Standing>,
    reports: SharedReads<GroupId, Reported>,
    groups: SharedReads<GroupId, Group>,
    room: Semaphore,
}

impl Looks {
    /// What was read is told again for so long.
    pub(super) fn new(keep: Duration) -> Self {
        Self {
            standings: SharedReads::new(keep),
            reports: SharedReads::new(keep),
            groups: SharedReads::new(keep),
            room: Semaphore::new(GROUPS_AT_ONCE),
        }
    }
}

impl Engine {
    /// A group, and where its streams stand. Of one that is half made some may be missing.
    pub(crate) async fn standing(&self, id: &GroupId) -> Arc<Look<Standing>> {
        let looks = &self.0.looks;
        let read = || async {
            let _room = looks.room.acquire().await;
            self.look_at_streams(id).await
        };
        looks.standings.get(id, read).await
    }

    /// The same for the sampler, which looks at few groups at once by itself: where it has to wait, those who ask must not wait for it.
    pub(super) async fn sampled_standing(&self, id: &GroupId) -> Arc<Look<Standing>> {
        let looks = &self.0.looks;
        looks.standings.get(id, || self.look_at_streams(id)).await
    }

    async fn look_at_streams(&self, id: &GroupId) -> Result<Standing, EngineError> {
        let group = self.group(id).await?;
        let shards = self.offsets(&group).await?;
        Ok(Standing { group, shards })
    }

    /// A group, and what its members last reported.
    pub(crate) async fn reported(&self, id: &GroupId) -> Arc<Look<Reported>> {
        let read = || async {
            let group = self.group(id).await?;
            let progress = self.progress(id).await?;
            Ok(Reported { group, progress })
        };
        self.0.looks.reports.get(id, read).await
    }

    /// A group alone.
    pub(crate) async fn shared_group(&self, id: &GroupId) -> Arc<Look<Group>> {
        self.0.looks.groups.get(id, || self.group(id)).await
    }

    /// Whether there is a Redis of shard streams.
    pub(crate) fn has_plane(&self) -> bool {
        self.0.deps.plane.is_some()
    }
}

/// What came of a look, for whoever can't go on without.
pub(crate) fn seen<T>(look: &Look<T>) -> Result<&T, EngineError> {
    look.outcome.as_ref().map_err(Clone::clone)
}
