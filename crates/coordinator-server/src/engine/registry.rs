//! The tasks of the groups that somebody asks for: at most one a group.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use coordinator_core::names::GroupId;
use tokio::sync::mpsc;

use super::Engine;
use super::group_task::{self, Ask};
use super::hub::VersionHub;

/// How to reach the task of a group.
#[derive(Clone)]
pub(super) struct GroupHandle {
    pub(super) asks: mpsc::UnboundedSender<Ask>,
    pub(super) hub: Arc<VersionHub>,
}

#[derive(Default)]
pub(super) struct Registry(Mutex<HashMap<GroupId, GroupHandle>>);

impl Registry {
    /// The task of a group, started if there is none.
    pub(super) fn get(&self, engine: &Engine, group: &GroupId) -> GroupHandle {
        let mut handles = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(handle) = handles.get(group).filter(|handle| !handle.asks.is_closed()) {
            return handle.clone();
        }
        let (asks, receiver) = mpsc::unbounded_channel();
        let handle = GroupHandle {
            asks,
            hub: Arc::new(VersionHub::new()),
        };
        tokio::spawn(group_task::run(
            engine.clone(),
            group.clone(),
            receiver,
            Arc::clone(&handle.hub),
        ));
        handles.insert(group.clone(), handle.clone());
        handle
    }

    /// Whether a group has a task.
    pub(super) fn knows(&self, group: &GroupId) -> bool {
        let handles = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        handles.contains_key(group)
    }

    /// Forgets the task of a group, unless somebody has asked it meanwhile. Says whether it is forgotten.
    pub(super) fn forget_if_idle(
        &self,
        group: &GroupId,
        asks: &mpsc::UnboundedReceiver<Ask>,
        hub: &VersionHub,
    ) -> bool {
        let mut handles = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let is_idle = asks.is_empty() && !hub.is_watched() && asks.sender_strong_count() <= 1;
        if is_idle {
            handles.remove(group);
        }
        is_idle
    }
}

#[cfg(test)]
mod tests {
    //! Anybody may ask for any name.

    use std::time::Duration;

    use coordinator_core::names::StreamPrefix;
    use coordinator_core::numbers::MetadataVersion;
    use coordinator_core::settings::Settings;
    use store::MemoryStore;

    use super::*;
    use crate::engine::{Deps, EngineError};

    #[tokio::test]
    async fn no_task_stays_for_names_that_are_no_groups() {
        let store = Arc::new(MemoryStore::new());
        let deps = Deps::new(store);
        let engine = Engine::start(
            deps,
            Settings::default(),
            crate::ServerConfig::new("test").resharding_times(),
            crate::ServerConfig::new("test").watching_times(),
        );
        for number in 0..50 {
            let name = StreamPrefix::parse(&format!("none-{number}")).expect("a name");
            let group = name.own_group();
            engine.ask(&group, Ask::Tick(None)).expect("it takes asks");
            let version = MetadataVersion::default();
            let watched = engine.wait_for_version(&group, version, Duration::ZERO);
            assert!(matches!(watched.await, Err(EngineError::GroupNotFound)));
        }
        let is_empty = || async {
            let handles = engine.0.registry.0.lock();
            handles.is_ok_and(|handles| handles.is_empty())
        };
        testkit::wait_until_async(Duration::from_secs(5), is_empty)
            .await
            .expect("the tasks end at once");
        engine.stop();
    }
}
