//! A machine on the bench: it keeps what the machine wants done and answers for the coordinator and the workers. It asserts
//! only that the machine is used as its contract says.

use std::collections::BTreeMap;

use member_client::machine::{
    Action, Event, FailureKind, GrantId, Health, MachineSettings, MemberMachine, MonotonicMillis,
    StopReason,
};
use protocol::{Assignment, HeartbeatRequest, HeartbeatResponse, HeartbeatStatus, ShardId};

pub(crate) const INTERVAL: u64 = 3_000;
pub(crate) const LEASE: u64 = 15_000;
/// The lease minus 10 %.
pub(crate) const CLIENT_LEASE: u64 = 13_500;

pub(crate) struct Bench {
    pub(crate) machine: MemberMachine,
    pub(crate) now: u64,
    /// Workers that were started and have not been reported stopped.
    pub(crate) workers: BTreeMap<u32, GrantId>,
    /// The request under way.
    pub(crate) request: Option<HeartbeatRequest>,
    pub(crate) sent: usize,
    pub(crate) stopping: Vec<u32>,
    pub(crate) abandoned: usize,
    pub(crate) ended: Option<StopReason>,
    pub(crate) health: Vec<Health>,
    /// Of the last call.
    pub(crate) actions: Vec<Action>,
    pub(crate) version: u64,
}

pub(crate) fn shards(indexes: &[u32]) -> Vec<ShardId> {
    indexes.iter().copied().map(ShardId::new).collect()
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut MachineSettings)) -> Self {
        let mut settings = MachineSettings::new("m-1", "process-1");
        change(&mut settings);
        Self {
            machine: MemberMachine::new(settings).unwrap(),
            now: 1_000,
            workers: BTreeMap::new(),
            request: None,
            sent: 0,
            stopping: Vec::new(),
            abandoned: 0,
            ended: None,
            health: Vec::new(),
            actions: Vec::new(),
            version: 7,
        }
    }

    /// A member in epoch 4 that owns and reads these shards and has reported so; its last heartbeat was sent just now.
    pub(crate) fn member_with(indexes: &[u32]) -> Self {
        let mut bench = Self::new();
        bench.start();
        bench.ok(indexes);
        bench.all_started();
        if bench.request.is_some() {
            bench.ok(indexes);
        }
        bench
    }

    pub(crate) fn handle(&mut self, event: Event) {
        self.actions = self.machine.handle(MonotonicMillis::new(self.now), event);
        for action in &self.actions {
            match action {
                Action::SendHeartbeat(request) => {
                    self.request = Some((**request).clone());
                    self.sent += 1;
                }
                Action::StartShard { shard, grant } => {
                    let before = self.workers.insert(shard.shard_index, *grant);
                    assert_eq!(before, None, "shard {shard} has two workers");
                }
                Action::StopShard { shard, grant } => {
                    assert_eq!(
                        self.workers.get(&shard.shard_index),
                        Some(grant),
                        "a worker that does not run is stopped"
                    );
                    self.stopping.push(shard.shard_index);
                }
                Action::AbandonShards => self.abandoned += 1,
                Action::StopForGood(reason) => self.ended = Some(reason.clone()),
                Action::Health(health) => self.health.push(*health),
            }
        }
    }

    pub(crate) fn start(&mut self) {
        self.handle(Event::Started);
    }

    pub(crate) fn tick(&mut self) {
        self.handle(Event::Tick);
    }

    pub(crate) fn after(&mut self, millis: u64) -> &mut Self {
        self.now += millis;
        self
    }

    /// Lets time pass to the machine's own deadline.
    pub(crate) fn run_to_deadline(&mut self) {
        let deadline = self
            .machine
            .next_deadline()
            .expect("the machine waits for something")
            .as_millis();
        self.now = self.now.max(deadline);
        self.tick();
    }

    /// Lets time pass until a request is under way.
    pub(crate) fn next_request(&mut self) -> HeartbeatRequest {
        for _ in 0..20 {
            if let Some(request) = &self.request {
                return request.clone();
            }
            self.run_to_deadline();
        }
        panic!("no heartbeat after twenty deadlines");
    }

    pub(crate) fn response(&self, status: HeartbeatStatus, assigned: &[u32]) -> HeartbeatResponse {
        let request = self.request.as_ref().expect("a request is under way");
        let accepted = status.renews_lease();
        HeartbeatResponse {
            response_to: request.request_id.clone(),
            status,
            member_id: "m-1".into(),
            member_epoch: if accepted { 4 } else { 0 },
            heartbeat_interval_ms: INTERVAL,
            rebalance_timeout_ms: 60_000,
            group_epoch: 9,
            assignment_epoch: 9,
            metadata_version: self.version,
            assignment: Assignment {
                assigned_shards: shards(assigned),
                pending_shards: vec![],
                metadata_version: self.version,
                shard_streams: Vec::new(),
            },
            member_lease_ttl_ms: Some(LEASE),
        }
    }

    pub(crate) fn answer(&mut self, response: HeartbeatResponse) {
        let request_id = self
            .request
            .take()
            .expect("a request is under way")
            .request_id;
        self.handle(Event::AnswerReceived {
            request_id,
            response: Box::new(response),
        });
    }

    pub(crate) fn status(&mut self, status: HeartbeatStatus, assigned: &[u32]) {
        let response = self.response(status, assigned);
        self.answer(response);
    }

    pub(crate) fn ok(&mut self, assigned: &[u32]) {
        self.status(HeartbeatStatus::Ok, assigned);
    }

    pub(crate) fn fail(&mut self, kind: FailureKind) {
        let request_id = self
            .request
            .take()
            .expect("a request is under way")
            .request_id;
        self.handle(Event::RequestFailed { request_id, kind });
    }

    pub(crate) fn all_started(&mut self) {
        for (index, grant) in self.workers.clone() {
            self.handle(Event::WorkerStarted {
                shard: ShardId::new(index),
                grant,
            });
        }
    }

    /// The worker of the shard has ended.
    pub(crate) fn stopped(&mut self, index: u32) {
        let grant = self.workers.remove(&index).expect("the shard has a worker");
        self.handle(Event::WorkerStopped {
            shard: ShardId::new(index),
            grant,
        });
    }

    pub(crate) fn all_stopped(&mut self) {
        while let Some(index) = self.workers.keys().next().copied() {
            self.stopped(index);
        }
    }

    pub(crate) fn in_flight(&mut self, index: u32, records: u32) {
        let grant = self.workers[&index];
        self.handle(Event::InFlight {
            shard: ShardId::new(index),
            grant,
            records,
        });
    }

    pub(crate) fn reading(&self) -> Vec<u32> {
        self.workers.keys().copied().collect()
    }
}
