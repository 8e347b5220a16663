//! What a case needs of the surroundings of a store.

use std::sync::Arc;

use async_trait::async_trait;
use coordinator_core::names::GroupId;

use crate::{AuditSink, ChangeFeed, GroupStore, LockLimits};

/// A store with its news and its audit.
pub trait TestedStore: GroupStore + ChangeFeed + AuditSink {}

impl<T: GroupStore + ChangeFeed + AuditSink> TestedStore for T {}

/// A place that is empty at first and where stores are opened.
#[async_trait]
pub trait World: Send + Sync {
    /// One more coordinator's store on the same data.
    async fn open(&self, limits: LockLimits) -> Arc<dyn TestedStore>;

    /// Names a group in the directory without storing it, as a creation does that is cut off half way.
    async fn name_in_directory(&self, group: &GroupId);
}
