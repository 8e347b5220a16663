//! The client as the application sees it: built, started, asked, shut down. What members do is decided elsewhere.

use std::sync::Arc;

use tokio::sync::watch;
use tokio::task::{JoinHandle, JoinSet};

use super::builder::MemberClientBuilder;
use super::handler::{Handler, Outcome};
use super::member::{MemberTask, Shared};
use super::metrics::MetricsSnapshot;
use super::troubles::{ShardTrouble, Troubles};
use super::watcher;
use crate::machine::{Health, MachineSettings, MemberMachine, StopReason};

/// What the builder hands over.
pub(super) struct Parts {
    pub(super) shared: Arc<Shared>,
    pub(super) members: Vec<MachineSettings>,
    pub(super) watch: bool,
}

/// The members of one process in one group, ready to be started.
///
/// ```no_run
/// use coordinator_client::CoordinatorClient;
/// use member_client::{Handler, HandlerError, MemberClient, Record};
///
/// struct Print;
///
/// impl Handler for Print {
///     async fn handle(&self, record: Record) -> Result<(), HandlerError> {
///         println!("{}", record.id());
///         Ok(())
///     }
/// }
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let client = MemberClient::builder(Print)
///     .coordinator(CoordinatorClient::builder(["http://127.0.0.1:8080"]).build()?)
///     .redis_urls(["redis://127.0.0.1:6379/"])
///     .stream_prefix("orders")
///     .build()?;
/// let running = client.start();
/// // … until the process is asked to end:
/// running.shutdown().await;
/// # Ok(())
/// # }
/// ```
pub struct MemberClient {
    parts: Parts,
}

impl MemberClient {
    /// Settings for a client whose records go to `handler`.
    #[must_use]
    pub fn builder<H, T>(handler: H) -> MemberClientBuilder<H>
    where
        H: Handler<T>,
        T: Into<Outcome>,
    {
        MemberClientBuilder::new(handler)
    }

    pub(super) fn new(parts: Parts) -> Self {
        Self { parts }
    }

    /// Starts every member. Whether the coordinator and Redis can be reached is found out afterwards: see
    /// [`RunningClient::health`].
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    #[must_use]
    pub fn start(self) -> RunningClient {
        let Parts {
            shared,
            members,
            watch,
        } = self.parts;
        let (hint_sender, hints) = watch::channel(0);
        let (shutdown, _) = watch::channel(false);
        let mut tasks = JoinSet::new();
        let mut handles = Vec::new();
        for settings in members {
            let member_id = settings.member_id.clone();
            let machine =
                MemberMachine::new(settings).expect("the builder has checked these settings");
            let (health_sender, health) = watch::channel(Health::Starting);
            let task = MemberTask::new(
                Arc::clone(&shared),
                &member_id,
                machine,
                health_sender,
                hints.clone(),
                shutdown.subscribe(),
            );
            let id = member_id.clone();
            tasks.spawn(async move {
                StoppedMember {
                    member_id: id,
                    reason: task.run().await,
                }
            });
            handles.push((member_id, health));
        }
        let counters = Arc::clone(&shared.counters);
        let watcher = watch.then(|| {
            let prefix = Arc::clone(&shared.stream_prefix);
            let group = Arc::clone(&shared.consumer_group);
            let watching = watcher::watch_group(
                shared.coordinator.clone(),
                prefix,
                group,
                hint_sender,
                Arc::clone(&counters),
            );
            AbortOnDrop(tokio::spawn(watching))
        });
        let snapshot = Box::new(move || counters.snapshot());
        let troubles = Arc::clone(&shared.troubles);
        RunningClient {
            tasks,
            members: handles,
            shutdown,
            snapshot,
            troubles,
            _watcher: watcher,
        }
    }
}

/// A client whose members run. Dropping it ends everything at once, like a crash: use [`RunningClient::shutdown`].
pub struct RunningClient {
    tasks: JoinSet<StoppedMember>,
    members: Vec<(String, watch::Receiver<Health>)>,
    shutdown: watch::Sender<bool>,
    snapshot: Box<dyn Fn() -> MetricsSnapshot + Send + Sync>,
    troubles: Arc<Troubles>,
    _watcher: Option<AbortOnDrop>,
}

/// A member that has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoppedMember {
    /// Its id.
    pub member_id: String,
    /// Why.
    pub reason: StopReason,
}

impl RunningClient {
    /// The id and health of every member. A member that is in the group, but can't work on one of its shards, is
    /// [`Health::Degraded`]; [`Self::troubles`] tells which and why.
    #[must_use]
    pub fn health(&self) -> Vec<(String, Health)> {
        let of = |id: &String, health: Health| match health {
            Health::Healthy if self.troubles.concern(id) => Health::Degraded,
            other => other,
        };
        self.members
            .iter()
            .map(|(id, health)| (id.clone(), of(id, *health.borrow())))
            .collect()
    }

    /// The shards that are owned and not worked on, each with the reason and, if it is one entry that holds it up, its id
    /// (cases C04 and C21). The others are not disturbed.
    ///
    /// ```
    /// # fn example(running: &member_client::RunningClient) {
    /// for trouble in running.troubles() {
    ///     println!("{} ({:?}): {}", trouble.stream_key, trouble.kind, trouble.reason);
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn troubles(&self) -> Vec<ShardTrouble> {
        self.troubles.list()
    }

    /// What has been counted so far.
    #[must_use]
    pub fn metrics(&self) -> MetricsSnapshot {
        (self.snapshot)()
    }

    /// Lets go of every shard in order and leaves the group: reads end, records in hand are finished and acknowledged, the
    /// coordinator is told. Bounded by the shutdown timeout.
    pub async fn shutdown(self) -> Vec<StoppedMember> {
        self.shutdown.send_replace(true);
        self.join().await
    }

    /// Waits until every member has ended by itself, which they do only for the reasons of [`StopReason`].
    ///
    /// # Panics
    ///
    /// If a member's task panicked, which is a defect of this crate.
    pub async fn join(mut self) -> Vec<StoppedMember> {
        let mut stopped = Vec::new();
        while let Some(outcome) = self.tasks.join_next().await {
            stopped.push(
                outcome.expect(
                    "members' tasks are neither aborted while this waits nor do they panic",
                ),
            );
        }
        stopped.sort_by(|a, b| a.member_id.cmp(&b.member_id));
        stopped
    }
}

struct AbortOnDrop(JoinHandle<()>);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}
