//! News of commits within one process.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use coordinator_core::names::GroupId;
use tokio::sync::broadcast::{Sender, channel};

use crate::{Change, ChangeStream, change_stream};

/// How many changes of one group a subscriber may be behind.
const BACKLOG: usize = 64;

/// The subscribers, by group.
#[derive(Debug, Default)]
pub(super) struct Feed(Mutex<BTreeMap<GroupId, Sender<Change>>>);

impl Feed {
    /// Tells the subscribers of the change's group.
    pub(super) fn publish(&self, change: Change) {
        let mut senders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let group = change.group.clone();
        if senders
            .get(&group)
            .is_some_and(|sender| sender.send(change).is_err())
        {
            // Nobody listens any more.
            senders.remove(&group);
        }
    }

    /// Everything that is published about a group from now on.
    pub(super) fn subscribe(&self, group: &GroupId) -> ChangeStream {
        let mut senders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let receiver = senders
            .entry(group.clone())
            .or_insert_with(|| channel(BACKLOG).0)
            .subscribe();
        change_stream(group.clone(), receiver)
    }
}
