//! Asking: heartbeats, single groups, listings, and waiting for the next version.

use std::collections::BTreeMap;
use std::time::Duration;

use coordinator_core::Group;
use coordinator_core::input::Heartbeat;
use coordinator_core::names::{GroupId, MemberId};
use coordinator_core::numbers::MetadataVersion;
use coordinator_core::record::Provisioning;
use store::MemberProgress;
use tokio::sync::oneshot;

use super::group_task::Ask;
use super::recorded::recorded;
use super::{Engine, EngineError, HeartbeatOutcome};

impl Engine {
    pub(super) fn ask(&self, group: &GroupId, ask: Ask) -> Result<(), EngineError> {
        let handle = self.0.registry.get(self, group);
        handle.asks.send(ask).map_err(|_| EngineError::Interrupted)
    }

    /// Decides about a heartbeat.
    pub(crate) async fn heartbeat(
        &self,
        group: &GroupId,
        heartbeat: Heartbeat,
        progress: MemberProgress,
    ) -> Result<HeartbeatOutcome, EngineError> {
        let _begun = self.begin_change()?;
        let (answer, outcome) = oneshot::channel();
        self.ask(
            group,
            Ask::Heartbeat {
                heartbeat: Box::new(heartbeat),
                progress,
                answer,
            },
        )?;
        outcome.await.map_err(|_| EngineError::Interrupted)?
    }

    /// A group as it is recorded now.
    pub(crate) async fn group(&self, id: &GroupId) -> Result<Group, EngineError> {
        let found = recorded(self.store(), self.settings(), id).await?;
        let (group, _) = found.ok_or(EngineError::GroupNotFound)?;
        Ok(group)
    }

    /// A group whose streams exist.
    pub(crate) async fn ready_group(&self, id: &GroupId) -> Result<Group, EngineError> {
        let group = self.group(id).await?;
        match group.record().provisioning {
            Provisioning::Done => Ok(group),
            Provisioning::Pending => Err(EngineError::GroupNotFound),
        }
    }

    /// What the members of a group last reported of their work.
    pub(crate) async fn progress(
        &self,
        id: &GroupId,
    ) -> Result<BTreeMap<MemberId, MemberProgress>, EngineError> {
        Ok(self.store().progress(id).await?)
    }

    /// Waits until the group's version is above `after`, or `patience` is over, or the coordinator ends. Gives the version.
    pub(crate) async fn wait_for_version(
        &self,
        id: &GroupId,
        after: MetadataVersion,
        patience: Duration,
    ) -> Result<MetadataVersion, EngineError> {
        if !self.0.registry.knows(id) {
            // No task is started for a name that is no group's.
            self.ready_group(id).await?;
        }
        let handle = self.0.registry.get(self, id);
        let mut versions = handle.hub.subscribe();
        // Looked at after subscribing, so that no commit falls between.
        let current = self.ready_group(id).await?.metadata_version();
        if current > after {
            return Ok(current);
        }
        let seen = async {
            let above = versions.wait_for(|version| *version > after).await;
            above.map_or(current, |version| *version)
        };
        tokio::select! {
            version = seen => Ok(version),
            () = tokio::time::sleep(patience) => Ok(current),
            () = self.stopped() => Ok(current),
        }
    }
}
