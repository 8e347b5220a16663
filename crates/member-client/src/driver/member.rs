//! The task of one member: it feeds the machine with facts and carries its actions out. All rules are in the machine.

use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use coordinator_client::CoordinatorClient;
use futures_util::FutureExt;
use protocol::{
    AssignedStream, HeartbeatRequest, HeartbeatResponse, HeartbeatStatus, IsoTimestamp, ShardId,
    ShardProgress,
};
use tokio::sync::{mpsc, watch};
use tokio::task::{AbortHandle, JoinSet};

use super::clock::{Clock, Lease};
use super::handler::AnyHandler;
use super::metrics::Counters;
use super::outcome;
use super::redis_side::{Connector, Life, ShardStream};
use super::settings::WorkerSettings;
use super::troubles::{Troubles, TroublesOfShard};
use super::worker::{Duty, End, Order, Progress, State, Worker};
use crate::machine::{Action, Event, GrantId, Health, MemberMachine, StopReason};

/// What all members of a client have in common.
pub(crate) struct Shared {
    pub(crate) coordinator: CoordinatorClient,
    pub(crate) connector: Arc<Connector>,
    pub(crate) handler: Arc<AnyHandler>,
    pub(crate) stream_prefix: Arc<str>,
    pub(crate) consumer_group: Arc<str>,
    pub(crate) request_timeout: Duration,
    pub(crate) worker: WorkerSettings,
    pub(crate) counters: Arc<Counters>,
    pub(crate) troubles: Arc<Troubles>,
}

/// A worker as its member sees it.
struct WorkerHandle {
    grant: GrantId,
    /// What was told when it was started.
    told: Option<AssignedStream>,
    orders: watch::Sender<Order>,
    progress: watch::Receiver<Progress>,
}

/// See the module.
pub(crate) struct MemberTask {
    shared: Arc<Shared>,
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
    /// Where the coordinator says that shards are read, of those whose lives are told apart.
    streams: HashMap<u32, AssignedStream>,
    /// Shards whose workers end because that has changed.
    moving: HashSet<ShardId>,
    /// Workers and the request under way. They end with this task, however it ends.
    tasks: JoinSet<()>,
    request: Option<AbortHandle>,
    stopped: Option<StopReason>,
}

impl MemberTask {
    pub(crate) fn new(
        shared: Arc<Shared>,
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
            streams: HashMap::new(),
            moving: HashSet::new(),
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
        let mut asks = false;
        match &event {
            Event::WorkerStopped { shard, grant } => {
                let current = |worker: &WorkerHandle| worker.grant == *grant;
                if self.workers.get(shard).is_some_and(current) {
                    self.workers.remove(shard);
                    asks = self.moving.remove(shard);
                }
            }
            Event::AnswerReceived { response, .. } => self.take_streams(response),
            _ => {}
        }
        self.feed_machine(event);
        if asks {
            // The shard starts anew with the next answer.
            self.feed_machine(ask_again());
        }
    }

    fn feed_machine(&mut self, event: Event) {
        let is_answer = matches!(event, Event::AnswerReceived { .. });
        let actions = self.machine.handle(self.clock.now(), event);
        // Before anything is started or stopped: workers go by it.
        self.lease.set(self.machine.lease_until());
        for action in actions {
            self.carry_out(action);
        }
        if is_answer {
            let owned = self.machine.owned_shards();
            self.shared.troubles.keep(&self.member_id, &owned);
        }
    }

    /// Takes over where shards are read. A worker that reads elsewhere, or an earlier life, ends; the shard is started anew
    /// with the next answer, and what it has in hand is refused or accepted by its own life.
    fn take_streams(&mut self, response: &HeartbeatResponse) {
        let accepts = matches!(
            response.status,
            HeartbeatStatus::Ok | HeartbeatStatus::SyncMetadata | HeartbeatStatus::RevokePending
        );
        if !accepts {
            return;
        }
        let told = &response.assignment.shard_streams;
        let mut moved = Vec::new();
        for shard in &response.assignment.assigned_shards {
            let stream = told.iter().find(|row| row.shard_index == shard.shard_index);
            match stream {
                Some(stream) => self.streams.insert(shard.shard_index, stream.clone()),
                None if response.status == HeartbeatStatus::Ok => {
                    self.streams.remove(&shard.shard_index)
                }
                // Such answers start nothing, so they need not say it.
                None => continue,
            };
            let current = self.workers.get(shard);
            if current.is_some_and(|worker| worker.told.as_ref() != stream) {
                moved.push(*shard);
            }
        }
        for shard in moved {
            self.moving.insert(shard);
            self.order(shard, Order::Stop);
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
                    stream_key: worker.told.as_ref().map_or_else(
                        || protocol::stream_key(&self.shared.stream_prefix, shard.shard_index),
                        |told| told.stream_key.clone(),
                    ),
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
        let told = self.streams.get(&shard.shard_index).cloned();
        let stream = self.stream(shard, grant, told.as_ref());
        let duty = Duty::new(receiver, Arc::clone(&self.lease));
        let worker = Worker {
            shard,
            grant,
            troubles: TroublesOfShard {
                all: Arc::clone(&shared.troubles),
                member: Arc::clone(&self.member_id),
                shard,
                stream_key: Arc::clone(&stream.key),
            },
            stream,
            connector: Arc::clone(&shared.connector),
            handler: Arc::clone(&shared.handler),
            settings: shared.worker,
            counters: Arc::clone(&shared.counters),
            duty: duty.clone(),
            events: self.sender.clone(),
            progress: progress_sender,
            state: State::default(),
        };
        let (sender, shared) = (self.sender.clone(), Arc::clone(shared));
        let member = Arc::clone(&self.member_id);
        self.tasks.spawn(async move {
            let end = AssertUnwindSafe(worker.run()).catch_unwind().await;
            if end.is_err() {
                shared.counters.handler_panics.increment();
                tracing::error!(%shard, "the handler panicked; the shard is started again");
            }
            let is_superseded = matches!(end, Ok(End::Superseded));
            // The first time the coordinator is asked at once, and then ever more rarely.
            let again = shared.troubles.superseded(&member, shard).saturating_sub(1);
            if is_superseded && again > 0 {
                tokio::select! {
                    () = tokio::time::sleep(shared.worker.redis_backoff.pause(again)) => {}
                    () = duty.until(Order::Stop) => {}
                }
            }
            let _ = sender.send(Event::WorkerStopped { shard, grant });
            if is_superseded {
                let _ = sender.send(ask_again());
            }
        });
        self.workers.insert(
            shard,
            WorkerHandle {
                grant,
                told,
                orders,
                progress,
            },
        );
    }

    fn stream(&self, shard: ShardId, grant: GrantId, told: Option<&AssignedStream>) -> ShardStream {
        let base: Arc<str> =
            protocol::stream_key(&self.shared.stream_prefix, shard.shard_index).into();
        ShardStream {
            key: told.map_or_else(|| Arc::clone(&base), |told| told.stream_key.as_str().into()),
            group: Arc::clone(&self.shared.consumer_group),
            consumer: Arc::clone(&self.member_id),
            life: told.map(|told| Life {
                base,
                generation: told.generation,
                epoch: grant.epoch,
            }),
        }
    }
}

/// Makes the member ask the coordinator at once: as if somebody had spoken of news.
const fn ask_again() -> Event {
    Event::VersionChanged {
        metadata_version: u64::MAX,
    }
}
