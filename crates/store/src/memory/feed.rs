//! News of commits within one process. Whoever is too slow is told that it missed something.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use coordinator_core::names::GroupId;
use futures_util::StreamExt;
use futures_util::stream::unfold;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender, channel};

use crate::{Change, ChangeStream};

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
        unfold((receiver, group.clone()), next).boxed()
    }
}

async fn next(
    (mut receiver, group): (Receiver<Change>, GroupId),
) -> Option<(Change, (Receiver<Change>, GroupId))> {
    let change = match receiver.recv().await {
        Ok(change) => change,
        Err(RecvError::Lagged(_)) => Change {
            group: group.clone(),
            version: None,
        },
        Err(RecvError::Closed) => return None,
    };
    Some((change, (receiver, group)))
}
