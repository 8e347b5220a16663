//! The projection: asks the index, and the source where the index does not answer; writes to the index what the source has confirmed. It
//! decides nothing that must not be decided from a stale answer.

mod breaker;
mod error;
mod held;
mod repair;
mod settings;
mod standing;

use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use breaker::{Breakers, Trial};
pub use error::{FallbackReason, RebuildError, SnapshotError, WriteError};
pub use repair::Rebuilt;
pub use settings::Settings;
use standing::Standing;

use crate::index::{Answer, Applied, Index, IndexError};
use crate::metrics::{Counters, Metrics};
use crate::model::{
    Entry, EntryId, Epoch, Limit, Namespace, Order, Position, Projected, Range, Version,
};
use crate::source::Source;

/// Who gave an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ServedBy {
    /// The index.
    Index,
    /// The source, for this reason.
    Source(FallbackReason),
}

/// The first entries of a namespace.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snapshot<T> {
    /// The entries, by order and id.
    pub items: Vec<T>,
    /// Who gave them.
    pub served_by: ServedBy,
    /// The rebuild that they come from; `None` if the source gave them.
    pub epoch: Option<Epoch>,
    /// How long ago that rebuild was; zero if the source gave them.
    pub age: Duration,
}

/// An index in front of a source of truth. Copies share everything.
pub struct Projection<T> {
    shared: Arc<Shared<T>>,
}

struct Shared<T> {
    source: Arc<dyn Source<T>>,
    index: Option<Arc<dyn Index>>,
    settings: Settings,
    breakers: Breakers,
    standing: Standing,
    counters: Counters,
}

impl<T: Projected> Projection<T> {
    /// A projection of this source with this index.
    pub fn new(source: impl Source<T>, index: impl Index, settings: Settings) -> Self {
        Self::shared(Arc::new(source), Some(Arc::new(index)), settings)
    }

    /// A projection of this source without an index: the source answers everything.
    pub fn without_index(source: impl Source<T>, settings: Settings) -> Self {
        Self::shared(Arc::new(source), None, settings)
    }

    /// A projection of parts that others use too.
    pub fn shared(
        source: Arc<dyn Source<T>>,
        index: Option<Arc<dyn Index>>,
        settings: Settings,
    ) -> Self {
        Self {
            shared: Arc::new(Shared {
                source,
                index,
                breakers: Breakers::new(settings.breaker_failures, settings.breaker_pause),
                standing: Standing::default(),
                counters: Counters::default(),
                settings,
            }),
        }
    }

    /// The first entries of a namespace.
    ///
    /// # Errors
    ///
    /// [`SnapshotError`] if the source was asked and failed. The index alone never makes it fail.
    pub async fn snapshot(
        &self,
        namespace: &Namespace,
        limit: Limit,
    ) -> Result<Snapshot<T>, SnapshotError> {
        let range = Range {
            limit,
            after: None,
            upper: None,
        };
        self.range(namespace, &range).await
    }

    /// The next entries of a namespace behind a place, whether or not an entry stands there any more: the next page of a list. That there is
    /// none is an answer, unless the index holds nothing at all.
    ///
    /// # Errors
    ///
    /// As [`snapshot`](Self::snapshot).
    pub async fn snapshot_after(
        &self,
        namespace: &Namespace,
        limit: Limit,
        after: Position,
    ) -> Result<Snapshot<T>, SnapshotError> {
        let range = Range {
            limit,
            after: Some(after),
            upper: None,
        };
        self.range(namespace, &range).await
    }

    /// The first entries of a namespace among those whose order is at most `upper`, such as what is due by now. If there is none while the
    /// namespace has others, that is an answer.
    ///
    /// # Errors
    ///
    /// As [`snapshot`](Self::snapshot).
    pub async fn snapshot_up_to(
        &self,
        namespace: &Namespace,
        limit: Limit,
        upper: Order,
    ) -> Result<Snapshot<T>, SnapshotError> {
        let range = Range {
            limit,
            after: None,
            upper: Some(upper),
        };
        self.range(namespace, &range).await
    }

    /// The entries of a namespace in a range: what the other questions are made of.
    ///
    /// # Errors
    ///
    /// As [`snapshot`](Self::snapshot).
    pub async fn range(
        &self,
        namespace: &Namespace,
        range: &Range,
    ) -> Result<Snapshot<T>, SnapshotError> {
        let shared = &self.shared;
        let reason = match shared.ask_index(namespace, range).await {
            Ok(snapshot) => {
                shared.counters.answered(snapshot.age);
                if snapshot.age >= shared.settings.reconcile_after {
                    self.repair(namespace);
                }
                return Ok(snapshot);
            }
            Err(reason) => reason,
        };
        shared.counters.fell_back(&reason);
        match shared.source.head(namespace, range).await {
            Ok(items) => {
                // That the index is empty is right if the source is.
                if reason.wants_repair() && !(reason == FallbackReason::Empty && items.is_empty()) {
                    self.repair(namespace);
                }
                Ok(Snapshot {
                    items,
                    served_by: ServedBy::Source(reason),
                    epoch: None,
                    age: Duration::ZERO,
                })
            }
            Err(source) => {
                shared
                    .counters
                    .source_failures
                    .fetch_add(1, Ordering::Relaxed);
                Err(SnapshotError {
                    namespace: namespace.clone(),
                    index: reason,
                    source,
                })
            }
        }
    }

    /// Writes to the index what the source has confirmed. If that fails, this process asks the source about the namespace until a rebuild
    /// has succeeded; other processes notice at their next reconciliation.
    ///
    /// # Errors
    ///
    /// [`WriteError`]. The source is right whatever comes of it, so it may be ignored.
    pub async fn upsert(&self, item: &T) -> Result<Applied, WriteError> {
        let entry = Entry::of(item);
        self.write(&entry.namespace, |index| {
            let entry = entry.clone();
            async move { index.upsert(&entry).await }
        })
        .await
    }

    /// Removes from the index what the source no longer has. `version` is that of the row when it was removed, or a later one. An entry
    /// that moves to another namespace is removed from the old one by the version with which it moves.
    ///
    /// # Errors
    ///
    /// As [`upsert`](Self::upsert).
    pub async fn remove(
        &self,
        namespace: &Namespace,
        id: &EntryId,
        version: Version,
    ) -> Result<Applied, WriteError> {
        self.write(namespace, |index| {
            let (namespace, id) = (namespace.clone(), id.clone());
            async move { index.remove(&namespace, &id, version).await }
        })
        .await
    }

    async fn write<F, Fut>(&self, namespace: &Namespace, write: F) -> Result<Applied, WriteError>
    where
        F: FnOnce(Arc<dyn Index>) -> Fut,
        Fut: Future<Output = Result<Applied, IndexError>>,
    {
        let shared = &self.shared;
        let Some(index) = &shared.index else {
            return Ok(Applied::Superseded);
        };
        // Marked before the write begins: whoever drops this future leaves a namespace that is repaired.
        let doubt = shared.standing.doubt(namespace);
        let outcome = if shared.breakers.lets_through(namespace) {
            let write = write(Arc::clone(index));
            shared.in_time(namespace, write).await
        } else {
            Err(FallbackReason::CircuitOpen)
        };
        match outcome {
            Ok(applied) => {
                doubt.settle();
                Ok(applied)
            }
            Err(reason) => {
                drop(doubt);
                shared
                    .counters
                    .failed_writes
                    .fetch_add(1, Ordering::Relaxed);
                Err(WriteError {
                    namespace: namespace.clone(),
                    reason,
                })
            }
        }
    }

    /// What happened so far in this process, to be shown to people and machines.
    #[must_use]
    pub fn metrics(&self) -> Metrics {
        self.shared
            .counters
            .read(self.shared.breakers.open(), self.shared.standing.in_doubt())
    }
}

impl<T: Projected> Shared<T> {
    /// The answer of the index, or why there is none.
    async fn ask_index(
        &self,
        namespace: &Namespace,
        range: &Range,
    ) -> Result<Snapshot<T>, FallbackReason> {
        let index = self.index.as_ref().ok_or(FallbackReason::NoIndex)?;
        if self.standing.is_doubtful(namespace) {
            return Err(FallbackReason::MissedWrite);
        }
        if !self.breakers.lets_through(namespace) {
            return Err(FallbackReason::CircuitOpen);
        }
        let answer = self
            .in_time(namespace, index.read(namespace, range))
            .await?;
        let items = restored(&answer).map_err(FallbackReason::Damaged)?;
        Ok(Snapshot {
            items,
            served_by: ServedBy::Index,
            epoch: Some(answer.epoch),
            age: answer.age,
        })
    }

    /// What the index says within its time. The namespace's breaker counts what fails.
    async fn in_time<R>(
        &self,
        namespace: &Namespace,
        call: impl Future<Output = Result<R, IndexError>>,
    ) -> Result<R, FallbackReason> {
        // Whoever drops the caller's future here has tried, and learnt nothing.
        let trial = self.breakers.trial(namespace);
        match tokio::time::timeout(self.settings.index_timeout, call).await {
            Err(_) => Err(self.note_failure(trial, FallbackReason::Timeout)),
            Ok(Err(error)) if error.is_failure() => {
                Err(self.note_failure(trial, FallbackReason::of(error)))
            }
            Ok(Err(error)) => {
                self.note_success(trial);
                Err(FallbackReason::of(error))
            }
            Ok(Ok(answer)) => {
                self.note_success(trial);
                Ok(answer)
            }
        }
    }

    /// The index failed. Told once, when it is left alone for it.
    fn note_failure(&self, trial: Trial<'_>, reason: FallbackReason) -> FallbackReason {
        let namespace = trial.namespace();
        if trial.failed() {
            let index = self.settings.name;
            tracing::warn!(index, %namespace, %reason, "the index failed repeatedly and is left alone for a while; the source answers instead");
        }
        reason
    }

    fn note_success(&self, trial: Trial<'_>) {
        let namespace = trial.namespace();
        if trial.succeeded() {
            let index = self.settings.name;
            tracing::info!(index, %namespace, "the index answers again");
        }
    }
}

fn restored<T: Projected>(answer: &Answer) -> Result<Vec<T>, String> {
    let restored = answer.entries.iter().map(|entry| {
        entry
            .restore()
            .map_err(|error| format!("{}: {error}", entry.id))
    });
    restored.collect()
}

impl<T> Clone for Projection<T> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
        }
    }
}

impl<T> fmt::Debug for Projection<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Projection")
            .field("settings", &self.shared.settings)
            .finish_non_exhaustive()
    }
}
