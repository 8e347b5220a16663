//! The task of one member: it feeds the machine with facts and carries its actions out. All rules are in the machine.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use coordinator_client::CoordinatorClient;
use futures_util::FutureExt;
use protocol::{HeartbeatRequest, IsoTimestamp, ShardId, ShardProgress};
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};

use super::clock::{Clock, Lease};
use super::handler::Handler;
use super::metrics::Counters;
use super::outcome;
use super::redis_side::{Connector, ShardStream};
use super::worker::{Duty, Order, Progress, State, Worker, WorkerSettings};
use crate::machine::{Action, Event, GrantId, Health, MemberMachine, StopReason};

/// What all members of a client have in common.
pub(crate) struct Shared<H> {
    pub(crate) coordinator: CoordinatorClient,
    pub(crate) connector: Arc<Connector>,
    pub(crate) handler: Arc<H>,
    pub(crate) stream_prefix: Arc<str>,
    pub(crate) consumer_group: Arc<str>,
    pub(crate) request_timeout: Duration,
    pub(crate) worker: WorkerSettings,
    pub(crate) counters: Arc<Counters>,
}

/// A worker as its member sees it.
struct WorkerHandle {
    grant: GrantId,
    orders: watch::Sender<Order>,
    progress: watch::Receiver<Progress>,
}

/// See the module.
pub(crate) struct MemberTask<H> {
    shared: Arc<Shared<H>>,
    member_id: Arc<str>,
    machine: MemberMachine,
    clock: Clock,
    lease: Arc<Lease>,
    health: watch::Sender<Health>,
    hints: watch::Receiver<u64>,
    shutdown: watch::Receiver<bool>,
    sender: mpsc::UnboundedSender<Event>,
    events: mpsc::UnboundedReceiver<Event>,
    workers: HashMap<ShardId, WorkerHandle>,
    /// Workers and the request under way. They end with this task, however it ends.
    tasks: JoinSet<()>,
    request: Option<AbortHandle>,
    stopped: Option<StopReason>,
}

impl<H: Handler> MemberTask<H> {
    pub(crate) fn new(
        shared: Arc<Shared<H>>,
        member_id: &str,
        machine: MemberMachine,
        health: watch::Sender<Health>,
        hints: watch::Receiver<u64>,
        shutdown: watch::Receiver<bool>,
    ) -> Self {
        let clock = Clock::start();
        let (sender, events) = mpsc::unbounded_channel();
        Self {
            shared,
            member_id: member_id.into(),
            machine,
            clock,
            lease: Arc::new(Lease::new(clock)),
            health,
            hints,
            shutdown,
            sender,
            events,
            workers: HashMap::new(),
            tasks: JoinSet::new(),
            request: None,
            stopped: None,
        }
    }

    /// Runs until the machine is finished.
    pub(crate) async fn run(mut self) -> StopReason {
        self.feed(Event::Started);
        loop {
            if let Some(reason) = self.stopped.take() {
                tracing::info!(member_id = %self.member_id, %reason, "the member has ended");
                return reason;
            }
            let event = self.next_event().await;
            if event == Event::Tick {
                self.feed_progress();
            }
            self.feed(event);
        }
    }

    async fn next_event(&mut self) -> Event {
        let deadline = self
            .machine
            .next_deadline()
            .map(|moment| self.clock.instant(moment));
        let due = async {
            match deadline {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            Some(event) = self.events.recv() => event,
            () = due => Event::Tick,
            Ok(()) = self.hints.changed() => {
                Event::VersionChanged { metadata_version: *self.hints.borrow_and_update() }
            }
            Ok(()) = self.shutdown.changed() => Event::Shutdown,
            Some(_) = self.tasks.join_next() => Event::Tick,
        }
    }

    fn feed(&mut self, event: Event) {
        if let Event::WorkerStopped { shard, grant } = &event
            && self
                .workers
                .get(shard)
                .is_some_and(|worker| worker.grant == *grant)
        {
            self.workers.remove(shard);
        }
        let actions = self.machine.handle(self.clock.now(), event);
        // Before anything is started or stopped: workers go by it.
        self.lease.set(self.machine.lease_until());
        for action in actions {
            self.carry_out(action);
        }
    }

    fn feed_progress(&mut self) {
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |age| age.as_millis());
        let now = IsoTimestamp::from_millis(i64::try_from(now).unwrap_or(i64::MAX));
        let mut rows = Vec::new();
        for (shard, worker) in &mut self.workers {
            if worker.progress.has_changed().unwrap_or(false) {
                let progress = worker.progress.borrow_and_update().clone();
                let row = ShardProgress {
                    shard: *shard,
                    stream_key: protocol::stream_key(&self.shared.stream_prefix, shard.shard_index),
                    last_delivered_id: progress.last_delivered.as_deref().map(str::to_owned),
                    last_acked_id: progress.last_acked.as_deref().map(str::to_owned),
                    pending_count: progress.pending,
                    updated_at: Some(now),
                };
                rows.push(Event::Progress {
                    grant: worker.grant,
                    row,
                });
            }
        }
        rows.into_iter().for_each(|row| self.feed(row));
    }

    fn carry_out(&mut self, action: Action) {
        match action {
            Action::SendHeartbeat(request) => self.send(*request),
            Action::StartShard { shard, grant } => self.start(shard, grant),
            Action::StopShard { shard, .. } => self.order(shard, Order::Stop),
            Action::AbandonShards => {
                self.shared.counters.abandonments.increment();
                let shards: Vec<ShardId> = self.workers.keys().copied().collect();
                shards
                    .into_iter()
                    .for_each(|shard| self.order(shard, Order::Abandon));
            }
            Action::StopForGood(reason) => self.stopped = Some(reason),
            Action::Health(health) => {
                tracing::info!(member_id = %self.member_id, ?health, "the member's health has changed");
                self.health.send_replace(health);
            }
        }
    }

    fn order(&self, shard: ShardId, order: Order) {
        if let Some(worker) = self.workers.get(&shard) {
            worker.orders.send_if_modified(|current| {
                let is_more = *current < order;
                *current = order.max(*current);
                is_more
            });
        }
    }

    fn send(&mut self, request: HeartbeatRequest) {
        let (shared, sender) = (Arc::clone(&self.shared), self.sender.clone());
        shared.counters.heartbeats_sent.increment();
        let ask = async move {
            let (prefix, group) = (&shared.stream_prefix, &shared.consumer_group);
            let call = shared.coordinator.heartbeat(prefix, group, &request);
            let outcome = tokio::time::timeout(shared.request_timeout, call).await;
            let event = outcome::event(request, outcome, &shared.counters);
            // Nobody listens any more only when the member is gone.
            let _ = sender.send(event);
        };
        // The machine expects no answer to an earlier request any more.
        if let Some(earlier) = self.request.replace(self.tasks.spawn(ask)) {
            earlier.abort();
        }
    }

    fn start(&mut self, shard: ShardId, grant: GrantId) {
        let shared = &self.shared;
        shared.counters.shards_started.increment();
        let (orders, receiver) = watch::channel(Order::Work);
        let (progress_sender, progress) = watch::channel(Progress::default());
        let worker = Worker {
            shard,
            grant,
            stream: ShardStream {
                key: protocol::stream_key(&shared.stream_prefix, shard.shard_index).into(),
                group: Arc::clone(&shared.consumer_group),
                consumer: Arc::clone(&self.member_id),
            },
            connector: Arc::clone(&shared.connector),
            handler: Arc::clone(&shared.handler),
            settings: shared.worker,
            counters: Arc::clone(&shared.counters),
            duty: Duty::new(receiver, Arc::clone(&self.lease)),
            events: self.sender.clone(),
            progress: progress_sender,
            state: State::default(),
        };
        let (sender, counters) = (self.sender.clone(), Arc::clone(&shared.counters));
        self.tasks.spawn(async move {
            if AssertUnwindSafe(worker.run()).catch_unwind().await.is_err() {
                counters.handler_panics.increment();
                tracing::error!(%shard, "the handler panicked; the shard is started again");
            }
            let _ = sender.send(Event::WorkerStopped { shard, grant });
        });
        self.workers.insert(
            shard,
            WorkerHandle {
                grant,
                orders,
                progress,
            },
        );
    }
}
