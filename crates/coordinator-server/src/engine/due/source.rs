//! What is true of due times: the records of the groups. A fallback is answered from what this coordinator knows already, for a tick must not read all
//! groups; the sweep finds the rest. A rebuild reads the records.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use coordinator_core::names::GroupId;
use coordinator_core::settings::Settings;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use projection::{Namespace, Position, Range, Source, SourceError};
use store::{GroupStore, StoreError};

use super::entry::{DueGroup, PARTS};
use super::times::DueTimes;
use crate::engine::directory::SharedWalk;
use crate::engine::recorded::recorded;

/// How many records a rebuild reads at once.
const AT_ONCE: usize = 8;

pub(super) struct DueSource {
    store: Arc<dyn GroupStore>,
    settings: Settings,
    times: Arc<DueTimes>,
    walk: SharedWalk,
    /// What a rebuild has read and not yet been given.
    read: Mutex<HashMap<Namespace, Vec<DueGroup>>>,
}

impl DueSource {
    pub(super) fn new(
        store: Arc<dyn GroupStore>,
        settings: Settings,
        times: Arc<DueTimes>,
    ) -> Self {
        Self {
            walk: SharedWalk::new(Arc::clone(&store), PARTS),
            store,
            settings,
            times,
            read: Mutex::default(),
        }
    }

    /// All groups of a part that wait for something, sorted.
    async fn all(&self, part: &Namespace) -> Result<Vec<DueGroup>, StoreError> {
        let groups = self.walk.names_of(part).await?;
        let reading = stream::iter(groups).map(|group| self.due_of(group));
        let found: Vec<Option<DueGroup>> = reading.buffer_unordered(AT_ONCE).try_collect().await?;
        let mut found: Vec<DueGroup> = found.into_iter().flatten().collect();
        found.sort_by_key(Position::of);
        Ok(found)
    }

    /// When a group wants to be looked at; none if it waits for nothing, or can't be read: nobody can do anything for it then.
    async fn due_of(&self, group: GroupId) -> Result<Option<DueGroup>, StoreError> {
        let (restored, snapshot) = match recorded(&*self.store, &self.settings, &group).await {
            Ok(Some(found)) => found,
            Ok(None) | Err(StoreError::Corrupt { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let due = restored.next_deadline();
        Ok(due.map(|due| DueGroup {
            group,
            due,
            seen_at: snapshot.now,
        }))
    }

    fn read(&self) -> MutexGuard<'_, HashMap<Namespace, Vec<DueGroup>>> {
        self.read.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Source<DueGroup> for DueSource {
    async fn head(&self, part: &Namespace, range: &Range) -> Result<Vec<DueGroup>, SourceError> {
        Ok(self.times.within(part, range))
    }

    async fn page(
        &self,
        part: &Namespace,
        after: Option<&Position>,
        count: usize,
    ) -> Result<Vec<DueGroup>, SourceError> {
        // One rebuild at a time asks for a part, from the beginning to the end.
        let mut rest = match after {
            None => {
                // What is left of a rebuild that broke off is old.
                self.read().remove(part);
                self.all(part).await?
            }
            Some(after) => {
                let mut rest = self.read().remove(part).unwrap_or_default();
                rest.retain(|due| Position::of(due) > *after);
                rest
            }
        };
        let later = rest.split_off(count.min(rest.len()));
        if !later.is_empty() {
            self.read().insert(part.clone(), later);
        }
        Ok(rest)
    }
}
