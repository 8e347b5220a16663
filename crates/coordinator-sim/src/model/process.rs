//! One process of a member: the real machine and a driver that does at once what the real one does soon. When a worker that was told to stop has
//! ended is left to the search.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use coordinator_core::names::MemberId;
use coordinator_core::settings::Settings;
use coordinator_core::step::HeartbeatReply;
use member_client::machine::{
    Action, Event, FailureKind, GrantId, MachineSettings, MemberMachine, MonotonicMillis,
};
use member_client::protocol::{HeartbeatRequest, ShardId};

use crate::convert;

/// A worker of one shard.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Worker {
    pub(super) shard: u32,
    grant: GrantId,
    /// Told to stop, and not yet at its end: it still handles what it has read.
    pub(super) is_stopping: bool,
}

/// A process.
#[derive(Clone, Debug)]
pub(super) struct Process {
    pub(super) member: MemberId,
    machine: MemberMachine,
    pub(super) workers: Vec<Worker>,
    /// The request that it waits for an answer to.
    pub(super) waits_for: Option<Arc<str>>,
    /// The answers to it that are under way.
    pub(super) answers: Vec<Arc<HeartbeatReply>>,
    /// How fast its clock goes, in tenths of the true speed.
    rate: u64,
    /// Whether it was told to leave.
    pub(super) is_leaving: bool,
    /// Whether it has come to its end.
    pub(super) is_over: bool,
    is_started: bool,
}

impl PartialEq for Process {
    fn eq(&self, other: &Self) -> bool {
        (&self.member, &self.machine, &self.workers, &self.answers)
            == (
                &other.member,
                &other.machine,
                &other.workers,
                &other.answers,
            )
            && (self.is_leaving, self.is_over) == (other.is_leaving, other.is_over)
    }
}

impl Hash for Process {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (&self.member, &self.machine, &self.workers).hash(state);
        (self.is_leaving, self.is_over, self.answers.len()).hash(state);
        for answer in &self.answers {
            (answer.status, answer.member_epoch, answer.metadata_version).hash(state);
            (&answer.assigned, &answer.pending).hash(state);
        }
    }
}

impl Process {
    /// A process that has not been started. `rate` is in tenths of the true speed.
    pub(super) fn new(member: MemberId, settings: MachineSettings, rate: u64) -> Self {
        Self {
            member,
            machine: MemberMachine::new(settings)
                .expect("the settings of the model are those of the core, which were checked"),
            workers: Vec::new(),
            waits_for: None,
            answers: Vec::new(),
            rate,
            is_leaving: false,
            is_over: false,
            is_started: false,
        }
    }

    fn local(&self, now_ms: u64) -> MonotonicMillis {
        MonotonicMillis::new(now_ms * self.rate / 10)
    }

    /// Whether it was started.
    pub(super) const fn is_started(&self) -> bool {
        self.is_started
    }

    /// Whether its own lease runs (rule T2).
    pub(super) fn has_lease(&self, now_ms: u64) -> bool {
        self.machine
            .lease_until()
            .is_some_and(|until| until > self.local(now_ms))
    }

    /// Whether it may be reading or handling entries of a shard.
    pub(super) fn reads(&self, shard: u32, now_ms: u64) -> bool {
        self.workers.iter().any(|worker| worker.shard == shard) && self.has_lease(now_ms)
    }

    /// The epoch and the version that it acts on.
    pub(super) fn knows(&self) -> (i64, u64) {
        (self.machine.member_epoch(), self.machine.metadata_version())
    }

    /// It begins to exist.
    pub(super) fn start(&mut self, now_ms: u64) -> Option<HeartbeatRequest> {
        self.is_started = true;
        self.handle(now_ms, Event::Started)
    }

    /// Time has passed.
    pub(super) fn tick(&mut self, now_ms: u64) -> Option<HeartbeatRequest> {
        self.handle(now_ms, Event::Tick)
    }

    /// It is told to leave.
    pub(super) fn shut_down(&mut self, now_ms: u64) -> Option<HeartbeatRequest> {
        self.is_leaving = true;
        self.handle(now_ms, Event::Shutdown)
    }

    /// It is told of a version. None if that is none that it would ask about.
    pub(super) fn learn(&mut self, now_ms: u64, version: u64) -> Option<HeartbeatRequest> {
        let event = Event::VersionChanged {
            metadata_version: version,
        };
        self.handle(now_ms, event)
    }

    /// It waits no longer for the answer.
    pub(super) fn give_up(&mut self, now_ms: u64) -> Option<HeartbeatRequest> {
        let request_id = self.waits_for.take()?.to_string();
        self.answers.clear();
        self.handle(
            now_ms,
            Event::RequestFailed {
                request_id,
                kind: FailureKind::Unavailable,
            },
        )
    }

    /// One of the answers under way arrives; the others come too late.
    pub(super) fn hear(
        &mut self,
        now_ms: u64,
        answer: usize,
        settings: &Settings,
    ) -> Option<HeartbeatRequest> {
        let request_id = self.waits_for.take()?.to_string();
        let reply = Arc::clone(self.answers.get(answer)?);
        self.answers.clear();
        let response = Box::new(convert::response(
            settings,
            &request_id,
            &self.member,
            &reply,
        ));
        self.handle(
            now_ms,
            Event::AnswerReceived {
                request_id,
                response,
            },
        )
    }

    /// A worker that was told to stop has ended.
    pub(super) fn end_worker(&mut self, now_ms: u64, worker: usize) -> Option<HeartbeatRequest> {
        let Worker { shard, grant, .. } = self.workers.remove(worker);
        self.handle(
            now_ms,
            Event::WorkerStopped {
                shard: ShardId::new(shard),
                grant,
            },
        )
    }

    /// The machine takes a fact in, and what it wants done is done. The request that it sends, if it does.
    fn handle(&mut self, now_ms: u64, event: Event) -> Option<HeartbeatRequest> {
        let now = self.local(now_ms);
        let mut sent = None;
        let mut events = vec![event];
        while let Some(event) = events.pop() {
            for action in self.machine.handle(now, event) {
                self.carry_out(action, &mut events, &mut sent);
            }
        }
        sent
    }

    fn carry_out(
        &mut self,
        action: Action,
        events: &mut Vec<Event>,
        sent: &mut Option<HeartbeatRequest>,
    ) {
        match action {
            Action::SendHeartbeat(request) => {
                self.waits_for = Some(request.request_id.as_str().into());
                self.answers.clear();
                *sent = Some(*request);
            }
            Action::StartShard { shard, grant } => {
                self.workers.push(Worker {
                    shard: shard.shard_index,
                    grant,
                    is_stopping: false,
                });
                events.push(Event::WorkerStarted { shard, grant });
            }
            Action::StopShard { grant, .. } => {
                let mut workers = self.workers.iter_mut();
                if let Some(worker) = workers.find(|worker| worker.grant == grant) {
                    worker.is_stopping = true;
                }
            }
            Action::AbandonShards => {
                let ended = self.workers.drain(..).map(|worker| Event::WorkerStopped {
                    shard: ShardId::new(worker.shard),
                    grant: worker.grant,
                });
                events.extend(ended);
            }
            Action::StopForGood(_) => {
                self.is_over = true;
                self.workers.clear();
                self.waits_for = None;
                self.answers.clear();
            }
            Action::Health(_) => {}
        }
    }
}
