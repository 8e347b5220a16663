//! One attempt to publish through a handle: the handle is opened, its generation compared with the route's, and the call repeated
//! as long as that is safe. What is done about a shard that takes nothing is decided in `exact`.

use std::sync::Arc;

use redis::RedisError;
use stream_lifecycle::{Fields, LifecycleError, OnceKey, Published as Outcome, ShardProducer};

use crate::counters::Counters;
use crate::error::{PublishError, ShardProblem};
use crate::patience::Patience;
use crate::producer::Producer;
use crate::router::Fetched;
use crate::routing_table::Route;
use crate::shards::{Shard, ShardHandle};

/// What is to be done with a handle.
pub(super) enum Work<'a> {
    /// Add the entry.
    Add(&'a Fields),
    /// Add it unless the key was used before.
    AddOnce(&'a OnceKey, &'a Fields),
}

/// Why an attempt came to nothing.
pub(super) enum Obstacle {
    /// Fresh routing may help; nothing was added.
    Stale(ShardProblem),
    /// Another route would not help, or must not be taken.
    Failed(PublishError),
}

impl Work<'_> {
    async fn on(&self, handle: &ShardHandle) -> Result<Outcome, LifecycleError> {
        match self {
            Self::Add(fields) => handle.publish(fields).await.map(Outcome::Added),
            Self::AddOnce(key, fields) => handle.add_once(key, fields).await,
        }
    }

    /// Whether it may be repeated on the same handle although it may have happened.
    const fn happens_once(&self) -> bool {
        matches!(self, Self::AddOnce(..))
    }
}

impl Producer {
    /// Publishes to the shard of a route. Where the route tells no generation, one before `at_least` is refused all the same.
    pub(super) async fn attempt(
        &self,
        fetched: &Fetched,
        route: &Route,
        at_least: Option<u64>,
        work: &Work<'_>,
    ) -> Result<Outcome, Obstacle> {
        let shared = &self.shared;
        let count = fetched.table.routes().len();
        let shard = shared
            .shards
            .of(route, count, &shared.link)
            .map_err(|invalid| Obstacle::Failed(invalid.into()))?;
        let mut patience = Patience::new();
        let handle = self.bind(&shard, route, &mut patience).await?;
        let found = handle.identity().generation.get();
        let problem = match (route.generation, at_least) {
            (Some(told), _) => ShardProblem::of_generation(told, found),
            (None, Some(least)) => ShardProblem::of_generation(least, found.min(least)),
            (None, None) => None,
        };
        if let Some(problem) = problem {
            shard.unbind(handle.identity());
            return Err(self.stale(problem));
        }
        let outcome = self.carry_out(work, &handle, route, &mut patience).await;
        if matches!(outcome, Err(Obstacle::Stale(_))) {
            shard.unbind(handle.identity());
        }
        outcome
    }

    /// The handle. Opening it only reads, so that it is repeated even where no answer came.
    async fn bind(
        &self,
        shard: &Shard,
        route: &Route,
        patience: &mut Patience,
    ) -> Result<ShardHandle, Obstacle> {
        loop {
            let error = match shard.handle().await {
                Ok(handle) => return Ok(handle),
                Err(LifecycleError::Ambiguous(source)) => LifecycleError::Unreachable(source),
                Err(error) => error,
            };
            if !error.is_retryable() || !self.pause(patience).await {
                return Err(self.obstacle(error, route));
            }
        }
    }

    /// Does the work on this very handle. After an attempt without an answer no other shard or generation may be tried: there it would
    /// not be known what this one took.
    async fn carry_out(
        &self,
        work: &Work<'_>,
        handle: &ShardHandle,
        route: &Route,
        patience: &mut Patience,
    ) -> Result<Outcome, Obstacle> {
        let mut unanswered: Option<Arc<RedisError>> = None;
        loop {
            let error = match work.on(handle).await {
                Ok(outcome) => return Ok(outcome),
                Err(error) => error,
            };
            let may_repeat = match &error {
                LifecycleError::Ambiguous(source) => {
                    unanswered = Some(Arc::clone(source));
                    work.happens_once()
                }
                error => error.is_retryable(),
            };
            if may_repeat && self.pause(patience).await {
                continue;
            }
            let error = match (error, unanswered) {
                // That the id belongs to other fields is certain: an earlier attempt would have been found as itself.
                (conflict @ LifecycleError::IdempotencyConflict { .. }, _) => conflict,
                (_, Some(source)) => LifecycleError::Ambiguous(source),
                (error, None) => error,
            };
            return Err(self.obstacle(error, route));
        }
    }

    /// Waits before a repetition, if there is to be one.
    async fn pause(&self, patience: &mut Patience) -> bool {
        let Some(pause) = patience.pause() else {
            return false;
        };
        Counters::count(&self.shared.counters.repeats);
        tokio::time::sleep(pause).await;
        true
    }

    fn obstacle(&self, error: LifecycleError, route: &Route) -> Obstacle {
        match ShardProblem::told_by(&error) {
            Some(problem) => self.stale(problem),
            None => {
                let address = self.shared.link.address_of(route.slot);
                let error = PublishError::of_shard(error, &route.stream_key, address);
                Obstacle::Failed(error)
            }
        }
    }

    fn stale(&self, problem: ShardProblem) -> Obstacle {
        let counters = &self.shared.counters;
        Counters::count(match problem {
            ShardProblem::Sealed => &counters.sealed,
            ShardProblem::StreamLost => &counters.streams_lost,
            ShardProblem::WritesLost { .. } => &counters.writes_lost,
            ShardProblem::NoLifecycle
            | ShardProblem::Over { .. }
            | ShardProblem::Replaced { .. }
            | ShardProblem::AheadOfRouting { .. } => &counters.other_generations,
        });
        Obstacle::Stale(problem)
    }
}
