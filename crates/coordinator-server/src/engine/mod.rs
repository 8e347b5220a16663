//! The engine: the only place that orders effects. Begin, decide, commit, apply, publish, answer. Knows nothing of HTTP.

mod asked;
mod change;
mod create;
mod delete;
mod directory;
mod due;
mod entry_id;
mod epochs;
mod error;
mod events;
mod fitness;
mod group_task;
mod hub;
mod keep_running;
mod listing;
mod looks;
mod loop_status;
mod news;
mod of_stream;
mod outbox;
mod read;
mod recorded;
mod registry;
mod resharding;
mod rest;
mod sampler;
mod scale;
mod shards;
mod shared_reads;
mod snapshot;
mod steady;
mod strays;
mod sweep;
mod tick;
mod views;
mod watchtower;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use coordinator_core::names::GroupId;
use coordinator_core::settings::Settings;
use coordinator_core::time::{Millis, Timestamp};
use projection::Index;
use store::{AuditSink, ChangeFeed, GroupStore, ShardPlane};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;

pub(crate) use asked::Asked;
pub(crate) use create::Creation;
pub(crate) use error::EngineError;
pub(crate) use events::{GroupNews, Missed};
pub(crate) use fitness::{Concern, Evictions};
pub(crate) use group_task::HeartbeatOutcome;
pub(crate) use listing::{ListedGroup, ListingError};
pub(crate) use looks::{Reported, Standing, seen};
pub(crate) use sampler::Sample;
pub(crate) use scale::Scaled;
pub(crate) use shards::streams;
pub(crate) use shared_reads::Look;
pub(crate) use snapshot::{Before, RestoreError, WrittenDown};
pub(crate) use views::{Tally, View};

use crate::metrics;
use due::DueWork;
use keep_running::keep_running;
use listing::Listing;
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
    /// What makes it cheap to find groups among many. Without it, all of them are visited again and again.
    pub indexes: Option<Indexes>,
}

impl Deps {
    /// A store that tells its own news, and nothing else.
    pub fn new(store: Arc<impl GroupStore + ChangeFeed + 'static>) -> Self {
        Self {
            store: store.clone(),
            feed: store,
            plane: None,
            indexes: None,
        }
    }
}

/// Indexes in front of the records of groups: they may be lost at any time, and nothing is decided by them.
#[derive(Clone)]
pub struct Indexes {
    /// When each group wants to be looked at.
    pub due: Arc<dyn Index>,
    /// All groups, as they are listed.
    pub groups: Arc<dyn Index>,
}

/// The engine. Cheap to copy.
#[derive(Clone)]
pub(crate) struct Engine(Arc<Inner>);

struct Inner {
    deps: Deps,
    settings: Settings,
    watchtower: Watchtower,
    registry: Registry,
    due: DueWork,
    listing: Listing,
    looks: looks::Looks,
    views: views::Views,
    samples: sampler::Samples,
    strays: strays::Strays,
    resharding: Resharding,
    status: loop_status::StatusCell,
    /// The store's time at each tick.
    ticks: watch::Sender<Timestamp>,
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

/// The times that looking at groups goes by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WatchingTimes {
    /// For how long what was read for one is told to others.
    pub(crate) keep: Duration,
    /// How often the shard streams of all groups are looked at for the metrics; zero: not at all.
    pub(crate) sampling: Duration,
}

impl Engine {
    /// Starts the engine and its periodic work, which ends with [`Engine::stop`].
    pub(crate) fn start(
        deps: Deps,
        settings: Settings,
        times: ReshardingTimes,
        watching: WatchingTimes,
    ) -> Self {
        let ms = |time: Duration| Millis::new(u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        let watchtower = Watchtower::new(Arc::clone(&deps.store), &settings);
        let status = loop_status::StatusCell::new(tick::STILL);
        let indexes = deps.indexes.as_ref();
        let due = indexes.map(|indexes| Arc::clone(&indexes.due));
        let due = DueWork::new(Arc::clone(&deps.store), settings, due);
        let groups = indexes.map(|indexes| Arc::clone(&indexes.groups));
        let listing = Listing::new(Arc::clone(&deps.store), settings, groups);
        let engine = Self(Arc::new(Inner {
            deps,
            settings,
            watchtower,
            registry: Registry::default(),
            due,
            listing,
            looks: looks::Looks::new(watching.keep),
            views: views::Views::default(),
            samples: sampler::Samples::new(watching.sampling, watching.keep),
            strays: strays::Strays::default(),
            resharding: Resharding {
                drivers: Drivers::default(),
                routing_lease: ms(times.routing_lease),
                keep_retired: ms(times.keep_retired),
            },
            status,
            ticks: watch::Sender::new(Timestamp::default()),
            terminating: AtomicBool::new(false),
            begun: TaskTracker::new(),
            stop: CancellationToken::new(),
        }));
        keep_running(&engine, "the tick", tick::run);
        keep_running(&engine, "the search for due groups", tick::find);
        keep_running(&engine, "the visits to due groups", tick::visit);
        keep_running(&engine, "the index of due groups", tick::tell_due);
        keep_running(&engine, "the index of all groups", tick::tell_listing);
        keep_running(&engine, "the walk over all groups", sweep::run);
        keep_running(&engine, "the sampling of shards", sampler::run);
        keep_running(&engine, "the upkeep of metrics", |engine| async move {
            metrics::keep_up(engine.stopped()).await;
        });
        engine
    }

    /// The settings that every group lives by.
    pub(crate) fn settings(&self) -> &Settings {
        &self.0.settings
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

    /// What this coordinator last saw of each group, in the order of their names.
    pub(crate) fn views(&self) -> Vec<View> {
        self.0.views.all()
    }

    /// What became of the questions to each index.
    pub(crate) fn index_metrics(&self) -> Vec<(&'static str, projection::Metrics)> {
        let due = self.0.due.index_metrics().map(|metrics| ("due", metrics));
        let groups = ("groups", self.0.listing.index_metrics());
        due.into_iter().chain([groups]).collect()
    }

    /// Every group as news, and the number of the last event that it is as new as.
    pub(crate) fn present_groups(&self) -> (u64, Vec<GroupNews>) {
        self.0.views.present()
    }

    /// The event after the one of a number; none while there is none yet.
    ///
    /// # Errors
    /// [`Missed`]: it is not kept any more, or the number is none that was given.
    pub(crate) fn event_after(&self, number: u64) -> Result<Option<(u64, GroupNews)>, Missed> {
        self.0.views.events.after(number)
    }

    /// Resolves once there is an event after the one of a number.
    pub(crate) async fn wait_for_event(&self, number: u64) {
        self.0.views.events.wait_after(number).await;
    }

    /// What an event is called.
    pub(crate) fn event_id(&self, number: u64) -> String {
        self.0.views.events.id(number)
    }

    /// The number of an event of this process; none where it is another's, or no event's.
    pub(crate) fn event_number(&self, id: &str) -> Option<u64> {
        self.0.views.events.number(id)
    }

    /// The store's time, as far as one can tell without asking. None before it was ever asked.
    pub(crate) fn store_time(&self) -> Option<Timestamp> {
        self.0.watchtower.estimated_now()
    }

    /// Where events are kept, if the store does that.
    pub(crate) fn audit(&self) -> Option<Arc<dyn AuditSink>> {
        Arc::clone(&self.0.deps.store).audit()
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
