//! What concerns all groups of one stream: which there are, how one is told something, and in which lives its shards are.

use std::collections::BTreeSet;
use std::sync::Arc;

use coordinator_core::input::Input;
use coordinator_core::names::{GroupId, StreamPrefix};
use coordinator_core::record::GroupRecord;
use coordinator_core::shard_set::ShardSet;
use coordinator_core::time::Timestamp;
use store::{Lives, Snapshot};
use tokio::sync::oneshot;

use super::directory::walk;
use super::group_task::{Ask, Told};
use super::{Engine, EngineError};

impl Engine {
    /// The names of all groups in the directory, those without a record and those that can't be read included.
    pub(crate) async fn group_ids(&self) -> Result<BTreeSet<GroupId>, EngineError> {
        let mut ids = BTreeSet::new();
        walk(self.store(), |group| {
            ids.insert(group);
        })
        .await?;
        Ok(ids)
    }

    /// The groups of a stream, in the order of their names.
    pub(crate) async fn groups_of_stream(
        &self,
        stream: &StreamPrefix,
    ) -> Result<BTreeSet<GroupId>, EngineError> {
        Ok(self.store().groups_of(stream).await?)
    }

    /// What the store has of them now.
    pub(super) async fn snapshots_of_stream(
        &self,
        stream: &StreamPrefix,
    ) -> Result<Vec<Snapshot>, EngineError> {
        let mut snapshots = Vec::new();
        for id in self.groups_of_stream(stream).await? {
            // The directory may name one that is gone.
            snapshots.extend(self.store().load(&id, None).await?);
        }
        Ok(snapshots)
    }

    /// Their records, as they are now.
    pub(super) async fn records_of_stream(
        &self,
        stream: &StreamPrefix,
    ) -> Result<Vec<Arc<GroupRecord>>, EngineError> {
        let snapshots = self.snapshots_of_stream(stream).await?;
        Ok(snapshots.into_iter().map(|found| found.record).collect())
    }

    /// Tells a group something, and gives what became of it once it is recorded.
    pub(super) async fn tell(
        &self,
        group: &GroupId,
        input: Input,
        under: Option<Option<Timestamp>>,
    ) -> Result<Told, EngineError> {
        let (answer, outcome) = oneshot::channel();
        let input = Box::new(input);
        self.ask(
            group,
            Ask::Tell {
                input,
                under,
                answer,
            },
        )?;
        outcome.await.map_err(|_| EngineError::Interrupted)?
    }

    /// In which lives shards are; to be asked before records are looked at. Nothing is known without a data plane.
    pub(super) async fn lives(
        &self,
        stream: &StreamPrefix,
        shards: &ShardSet,
    ) -> Result<Lives, EngineError> {
        match &self.0.deps.plane {
            Some(plane) => Ok(plane.lives(stream, shards).await?),
            None => Ok(Lives::default()),
        }
    }

    /// Rule C8: what a group that was read so is to take for its doubt, as far as the store and all coordinators tell.
    pub(super) fn doubt_of(&self, snapshot: &Snapshot) -> Option<Timestamp> {
        let acted_on = snapshot.record.lineage.doubted_at;
        let of_all = self.0.watchtower.doubt();
        let of_all = of_all.and_then(|doubt| doubt.for_group(acted_on));
        snapshot.doubted_at.max(of_all)
    }

    /// Rule C8: the latest doubt that is known of a group that was read so, acted on or not.
    pub(super) fn latest_doubt_of(&self, snapshot: &Snapshot) -> Option<Timestamp> {
        self.doubt_of(snapshot)
            .max(snapshot.record.lineage.doubted_at)
    }
}
