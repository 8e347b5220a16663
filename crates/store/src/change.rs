//! News of commits, to wake watches and caches. A hint: it may be late, doubled or lost.

use async_trait::async_trait;
use coordinator_core::names::GroupId;
use coordinator_core::numbers::MetadataVersion;
use futures_util::StreamExt;
use futures_util::stream::{BoxStream, unfold};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::RecvError;

use crate::StoreError;

/// A commit took place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// In this group.
    pub group: GroupId,
    /// Its version since then; none where news may have been missed, so that the group must be looked at.
    pub version: Option<MetadataVersion>,
}

/// News of one or more groups. Ends when the feed is closed.
pub type ChangeStream = BoxStream<'static, Change>;

/// Where news of commits comes from, those of other coordinators included.
#[async_trait]
pub trait ChangeFeed: Send + Sync {
    /// News of one group from now on. After a loss of the connection it is taken up again by itself, and one [`Change`] without a version says so.
    ///
    /// # Errors
    /// [`StoreError`].
    async fn subscribe(&self, group: &GroupId) -> Result<ChangeStream, StoreError>;
}

/// The news of one group as they come through a channel. Whoever is too slow is told that it missed something.
#[must_use]
pub fn change_stream(group: GroupId, receiver: Receiver<Change>) -> ChangeStream {
    unfold((group, receiver), next).boxed()
}

async fn next(
    (group, mut receiver): (GroupId, Receiver<Change>),
) -> Option<(Change, (GroupId, Receiver<Change>))> {
    let change = match receiver.recv().await {
        Ok(change) => change,
        Err(RecvError::Lagged(_)) => Change {
            group: group.clone(),
            version: None,
        },
        Err(RecvError::Closed) => return None,
    };
    Some((change, (group, receiver)))
}
