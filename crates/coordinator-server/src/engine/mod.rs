//! The engine: the only place that orders effects. Begin, decide, commit, apply, publish, answer. Knows nothing of HTTP.

mod change;
mod create;
mod delete;
mod due;
mod error;
mod group_task;
mod hub;
mod news;
mod of_stream;
mod read;
mod registry;
mod resharding;
mod scale;
mod shards;
mod snapshot;
mod steady;
mod sweep;
mod tick;
mod watchtower;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use coordinator_core::names::GroupId;
use coordinator_core::settings::Settings;
use coordinator_core::time::Millis;
use store::{ChangeFeed, GroupStore, ShardPlane};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

pub(crate) use create::Creation;
pub(crate) use error::EngineError;
pub(crate) use group_task::HeartbeatOutcome;
pub(crate) use scale::Scaled;
pub(crate) use snapshot::{Before, RestoreError, WrittenDown};

use due::DueIndex;
use registry::Registry;
use resharding::Drivers;
use watchtower::Watchtower;

/// What the engine works on.
#[derive(Clone)]
pub struct Deps {
    /// Where groups are recorded.
    pub store: Arc<dyn GroupStore>,
    /// News of commits, those of other coordinators included.
    pub feed: Arc<dyn ChangeFeed>,
    /// The Redis of the shard streams. Without one, only routing and assignment are served.
    pub plane: Option<Arc<dyn ShardPlane>>,
}

/// The engine. Cheap to copy.
#[derive(Clone)]
pub(crate) struct Engine(Arc<Inner>);

struct Inner {
    deps: Deps,
    settings: Settings,
    watchtower: Watchtower,
    registry: Registry,
    due: DueIndex,
    resharding: Resharding,
    status: tick::StatusCell,
    terminating: AtomicBool,
    begun: TaskTracker,
    stop: CancellationToken,
}

/// What changes of the shard count go by.
struct Resharding {
    drivers: Drivers,
    /// For how long producers may use an old route.
    routing_lease: Millis,
    /// For how long what was in a retired shard is kept.
    keep_retired: Millis,
}

/// The times that changes of the shard count go by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReshardingTimes {
    pub(crate) routing_lease: Duration,
    pub(crate) keep_retired: Duration,
}

impl Engine {
    /// Starts the engine and its periodic work, which ends with [`Engine::stop`].
    pub(crate) fn start(deps: Deps, settings: Settings, times: ReshardingTimes) -> Self {
        let ms = |time: Duration| Millis::new(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        let watchtower = Watchtower::new(Arc::clone(&deps.store), &settings);
        let engine = Self(Arc::new(Inner {
            deps,
            settings,
            watchtower,
            registry: Registry::default(),
            due: DueIndex::default(),
            resharding: Resharding {
                drivers: Drivers::default(),
                routing_lease: ms(times.routing_lease),
                keep_retired: ms(times.keep_retired),
            },
            status: tick::StatusCell::default(),
            terminating: AtomicBool::new(false),
            begun: TaskTracker::new(),
            stop: CancellationToken::new(),
        }));
        tokio::spawn(tick::run(engine.clone()));
        tokio::spawn(sweep::run(engine.clone()));
        engine
    }

    /// The settings that every group lives by.
    pub(crate) fn settings(&self) -> &Settings {
        &self.0.settings
    }

    /// Whether the store, and the Redis of the streams, can do their work now.
    pub(crate) async fn check_ready(&self) -> Result<(), EngineError> {
        self.0.deps.store.check_ready().await?;
        if let Some(plane) = &self.0.deps.plane {
            plane.check_ready().await?;
        }
        Ok(())
    }

    /// From now on, changes that have not begun are refused.
    pub(crate) fn terminate(&self) {
        self.0.terminating.store(true, Ordering::SeqCst);
    }

    /// Whether changes are refused because the coordinator is about to end.
    pub(crate) fn is_terminating(&self) -> bool {
        self.0.terminating.load(Ordering::SeqCst)
    }

    /// Marks the begin of a change; it has begun until the token is dropped.
    fn begin_change(&self) -> Result<TaskTrackerToken, EngineError> {
        // The token comes first: whoever waits for what has begun must not miss a change that saw no termination.
        let token = self.0.begun.token();
        if self.is_terminating() {
            Err(EngineError::Terminating)
        } else {
            Ok(token)
        }
    }

    /// Waits until every change that had begun has ended. To be called after [`Engine::terminate`].
    pub(crate) async fn wait_for_changes(&self) {
        self.0.begun.close();
        self.0.begun.wait().await;
    }

    /// Ends the periodic work and everything that waits for news.
    pub(crate) fn stop(&self) {
        self.0.stop.cancel();
    }

    /// Resolves when the engine is stopped or about to be.
    pub(crate) async fn stopped(&self) {
        self.0.stop.cancelled().await;
    }

    fn store(&self) -> &dyn GroupStore {
        &*self.0.deps.store
    }
}

/// How long a task of a group that nobody asks for stays.
const GROUP_IDLE: Duration = Duration::from_secs(60);

/// A group whose changes are to be looked at.
fn describe(group: &GroupId) -> tracing::field::DisplayValue<&GroupId> {
    tracing::field::display(group)
}
