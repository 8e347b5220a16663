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
