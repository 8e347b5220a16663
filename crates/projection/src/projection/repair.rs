//! Rebuilding a namespace of the index from pages of the source: beside a read that found it wanting, or because someone asks. It never
//! changes an answer.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{Projection, RebuildError, Shared};
use crate::index::{Build, Index, IndexError};
use crate::model::{Entry, Epoch, Namespace, Position, Projected};

/// A rebuild that is in place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rebuilt {
    /// The epoch that readers are told.
    pub epoch: Epoch,
    /// How many entries the source had.
    pub entries: u64,
}

/// Ends the single flight however the repair ends.
struct Running<T: Projected> {
    shared: Arc<Shared<T>>,
    namespace: Namespace,
}

impl<T: Projected> Drop for Running<T> {
    fn drop(&mut self) {
        self.shared.standing.repaired(&self.namespace);
    }
}

impl<T: Projected> Projection<T> {
    /// Rebuilds a namespace now, whatever its state: page by page from the source, and in place only as a whole. Reads go on meanwhile.
    ///
    /// # Errors
    ///
    /// [`RebuildError`]: what the index held is as it was; where the index failed in the last step, it may hold all that was rebuilt instead.
    pub async fn rebuild(&self, namespace: &Namespace) -> Result<Rebuilt, RebuildError> {
        let shared = &self.shared;
        let outcome = shared.rebuild(namespace).await;
        shared.counters.rebuilt(&outcome);
        outcome
    }

    /// Rebuilds a namespace beside the caller's path, unless that is being done or was done just now.
    pub(super) fn repair(&self, namespace: &Namespace) {
        let interval = self.shared.settings.repair_interval;
        if self.shared.index.is_none() || !self.shared.standing.may_repair(namespace, interval) {
            return;
        }
        self.shared
            .counters
            .repairs_begun
            .fetch_add(1, Ordering::Relaxed);
        let running = Running {
            shared: Arc::clone(&self.shared),
            namespace: namespace.clone(),
        };
        tokio::spawn(async move {
            // What comes of it is counted; the next read tries again if need be.
            let outcome = running.shared.rebuild(&running.namespace).await;
            running.shared.counters.rebuilt(&outcome);
        });
    }
}

impl<T: Projected> Shared<T> {
    async fn rebuild(&self, namespace: &Namespace) -> Result<Rebuilt, RebuildError> {
        let index = self.index.as_ref().ok_or(RebuildError::NoIndex)?;
        let number = self.standing.rebuilding();
        let trial = self.breakers.trial(namespace);
        let work = self.build(index.as_ref(), namespace);
        let outcome = tokio::time::timeout(self.settings.repair_deadline, work).await;
        let rebuilt = outcome.map_err(|_| RebuildError::Deadline)??;
        trial.succeeded();
        self.standing.rebuilt(namespace, number);
        Ok(rebuilt)
    }

    async fn build(
        &self,
        index: &dyn Index,
        namespace: &Namespace,
    ) -> Result<Rebuilt, RebuildError> {
        let mut build = index.begin(namespace).await?;
        match self.fill(index, &mut build).await {
            Ok(entries) => match index.commit(build.clone()).await {
                Ok(epoch) => Ok(Rebuilt { epoch, entries }),
                Err(error) => Err(given_up(index, build, error.into()).await),
            },
            Err(error) => Err(given_up(index, build, error).await),
        }
    }

    async fn fill(&self, index: &dyn Index, build: &mut Build) -> Result<u64, RebuildError> {
        let size = self.settings.page();
        let mut after: Option<Position> = None;
        let mut count = 0;
        loop {
            let page = self.source.page(&build.namespace, after.as_ref(), size);
            let page = keeping(index, build, page).await?;
            let items = page.map_err(RebuildError::Source)?;
            for item in &items {
                let place = Position::of(item);
                if after.as_ref().is_some_and(|after| place <= *after) {
                    return Err(RebuildError::Unsorted { id: place.id });
                }
                after = Some(place);
            }
            let entries: Vec<Entry> = items.iter().map(Entry::of).collect();
            index.load(build, &entries).await?;
            count += u64::try_from(items.len()).unwrap_or(u64::MAX);
            if items.len() < size {
                return Ok(count);
            }
        }
    }
}

/// Waits for the source, and keeps the rebuild's lease meanwhile: however long that takes, nobody else begins.
async fn keeping<R>(
    index: &dyn Index,
    build: &Build,
    work: impl Future<Output = R>,
) -> Result<R, IndexError> {
    let lost = async {
        loop {
            tokio::time::sleep(build.lease / 3).await;
            // Of what fails otherwise the next page hears, if it lasts.
            if let Err(error @ IndexError::BuildLost) = index.renew(build).await {
                return error;
            }
        }
    };
    tokio::select! {
        done = work => Ok(done),
        error = lost => Err(error),
    }
}

/// Gives a rebuild up that came to nothing. If that fails too, its lease runs out.
async fn given_up(index: &dyn Index, build: Build, error: RebuildError) -> RebuildError {
    let _ = index.abandon(build).await;
    error
}
