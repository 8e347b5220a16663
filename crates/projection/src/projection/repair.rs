//! Rebuilding a namespace of the index from pages of the source: beside a read that found it wanting, or because someone asks. It never
//! changes an answer.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::held::Held;
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
        if std::thread::panicking() {
            self.shared.counters.rebuild_panicked();
        }
        self.shared.standing.repaired(&self.namespace);
    }
}

impl<T: Projected> Projection<T> {
    /// Rebuilds a namespace now, whatever its state: page by page from the source, and in place only as a whole. Reads go on meanwhile. A repair of the namespace
    /// that this process has under way is waited for.
    ///
    /// # Errors
    ///
    /// [`RebuildError`]: what the index held is as it was; where the index failed in the last step, it may hold all that was rebuilt instead.
    pub async fn rebuild(&self, namespace: &Namespace) -> Result<Rebuilt, RebuildError> {
        let shared = &self.shared;
        loop {
            let ended = shared.standing.repair_ended();
            let was_repairing = shared.standing.is_repairing(namespace);
            let outcome = shared.rebuild(namespace).await;
            let is_busy = matches!(&outcome, Err(RebuildError::Index(IndexError::Busy { .. })));
            let is_repairing = shared.standing.is_repairing(namespace);
            if !is_busy || !(was_repairing || is_repairing) {
                shared.counters.rebuilt(&outcome);
                return outcome;
            }
            if is_repairing {
                ended.await;
            }
        }
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
            // What comes of it is counted and told; the next read tries again if need be.
            let outcome = running.shared.rebuild(&running.namespace).await;
            running.shared.counters.rebuilt(&outcome);
            running.shared.tell(&running.namespace, &outcome);
        });
    }
}

impl<T: Projected> Shared<T> {
    async fn rebuild(&self, namespace: &Namespace) -> Result<Rebuilt, RebuildError> {
        let index = self.index.as_ref().ok_or(RebuildError::NoIndex)?;
        let number = self.standing.rebuilding();
        let trial = self.breakers.trial(namespace);
        let work = self.build(index, namespace);
        let outcome = tokio::time::timeout(self.settings.repair_deadline, work).await;
        let rebuilt = outcome.map_err(|_| RebuildError::Deadline)??;
        self.note_success(trial);
        self.standing.rebuilt(namespace, number);
        Ok(rebuilt)
    }

    /// Tells why a repair failed, once for each reason.
    fn tell(&self, namespace: &Namespace, outcome: &Result<Rebuilt, RebuildError>) {
        let failure = match outcome {
            Err(RebuildError::Index(IndexError::Busy { .. })) => return,
            Err(error) => Some(error.to_string()),
            Ok(_) => None,
        };
        if self.standing.is_news(namespace, failure.as_deref())
            && let Some(error) = failure
        {
            let index = self.settings.name;
            tracing::warn!(index, %namespace, %error, "the index was not rebuilt");
        }
    }

    async fn build(
        &self,
        index: &Arc<dyn Index>,
        namespace: &Namespace,
    ) -> Result<Rebuilt, RebuildError> {
        let mut held = Held::new(index, Build::new(namespace));
        match self.in_steps(index.as_ref(), &mut held.build).await {
            Ok(rebuilt) => {
                held.keep();
                Ok(rebuilt)
            }
            Err(error @ RebuildError::Index(IndexError::Busy { .. })) => {
                held.keep();
                Err(error)
            }
            Err(error) => {
                held.give_up().await;
                Err(error)
            }
        }
    }

    async fn in_steps(
        &self,
        index: &dyn Index,
        build: &mut Build,
    ) -> Result<Rebuilt, RebuildError> {
        index.begin(build).await?;
        let entries = self.fill(index, build).await?;
        let epoch = index.commit(build.clone()).await?;
        Ok(Rebuilt { epoch, entries })
    }

    async fn fill(&self, index: &dyn Index, build: &mut Build) -> Result<u64, RebuildError> {
        let size = self.settings.page();
        let mut after: Option<Position> = None;
        let mut count = 0;
        loop {
            let page = self.source.page(&build.namespace, after.as_ref(), size);
            let page = keeping(index, build, page).await?;
            let items = page.map_err(|source| RebuildError::Source {
                namespace: build.namespace.clone(),
                source,
            })?;
            let entries: Vec<Entry> = items.iter().map(Entry::of).collect();
            // It refuses what belongs elsewhere. What is not sorted is given up with the rebuild.
            index.load(build, &entries).await?;
            for item in &items {
                let place = Position::of(item);
                if after.as_ref().is_some_and(|after| place <= *after) {
                    return Err(RebuildError::Unsorted {
                        namespace: build.namespace.clone(),
                        id: place.id,
                    });
                }
                after = Some(place);
            }
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
