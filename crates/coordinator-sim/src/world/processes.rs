//! Members' processes at work: their clients are fed with facts and what these want is done, as the driver of the product does it.

use member_client::machine::{Action, Event, FailureKind, MemberMachine};
use member_client::protocol::{HeartbeatRequest, HeartbeatStatus, ShardId};

use super::World;
use crate::convert;
use crate::member::{Client, Life, Order, PlainClient, Process, Waiting, WorkerDid};

impl World {
    /// A member gets a process. Earlier ones are replaced, whether they live or not.
    pub(crate) fn start_process(&mut self, member: usize) {
        let Some(plan) = self.setup.members.get(member).cloned() else {
            return;
        };
        let earlier = || 0..self.processes.len();
        let of_member = |index: &usize| self.processes[*index].member == member;
        let earlier: Vec<usize> = earlier().filter(of_member).collect();
        if earlier.len() >= self.most_processes {
            return;
        }
        for index in earlier {
            self.processes[index].is_replaced = true;
        }
        let index = self.processes.len();
        let client = if plan.is_plain {
            Client::Plain(PlainClient::new(
                &plan.name,
                index,
                self.setup.lease_ms,
                self.setup.heartbeat_ms,
            ))
        } else {
            let machine = MemberMachine::new(self.setup.machine(&plan.name, index));
            Client::Machine(Box::new(
                machine.expect("the settings of a simulation can work"),
            ))
        };
        self.processes.push(Process {
            member,
            group: plan.group,
            name: plan.name,
            clock: self.setup.clock(index),
            client,
            life: Life::Running,
            lease_until: None,
            workers: std::collections::BTreeMap::new(),
            waiting: None,
            inbox: Vec::new(),
            is_replaced: false,
            has_lost_its_id: false,
            longest_drain_ms: 0,
        });
        self.note("process", || {
            format!("process {index} of member {member} starts")
        });
        self.feed(index, Event::Started);
    }

    /// A fact reaches a client; what it wants is done at once.
    pub(crate) fn feed(&mut self, index: usize, event: Event) {
        let now = self.now;
        let Some(process) = self.processes.get_mut(index) else {
            return;
        };
        match process.life {
            Life::Over => return,
            Life::PausedUntil(_) => return process.inbox.push(event),
            Life::Running => {}
        }
        self.judge_refusal(index, &event);
        let process = &mut self.processes[index];
        let local = process.clock.show(now);
        let actions = process.client.handle(local, event);
        // Before anything is started or stopped: workers go by it.
        process.lease_until = process.client.lease_until();
        for action in actions {
            self.do_for(index, action);
        }
    }

    fn do_for(&mut self, index: usize, action: Action) {
        let now = self.now;
        match action {
            Action::SendHeartbeat(request) => self.send(index, *request),
            Action::StartShard { shard, grant } => {
                self.note("worker", || format!("process {index} starts shard {shard}"));
                self.processes[index].start_worker(shard.shard_index, grant);
                self.check_readers(index, shard.shard_index);
            }
            Action::StopShard { shard, .. } => {
                self.note("worker", || format!("process {index} stops shard {shard}"));
                if let Some(worker) = self.processes[index].workers.get_mut(&shard.shard_index) {
                    worker.tell(Order::Stop, now);
                }
            }
            Action::AbandonShards => {
                self.note("worker", || format!("process {index} abandons its shards"));
                let workers = self.processes[index].workers.values_mut();
                workers.for_each(|worker| worker.tell(Order::Abandon, now));
            }
            Action::StopForGood(reason) => {
                self.note("process", || format!("process {index} is over: {reason}"));
                self.processes[index].end();
            }
            Action::Health(_) => {}
        }
    }

    fn send(&mut self, index: usize, request: HeartbeatRequest) {
        let timeout_ms = self.setup.heartbeat_ms;
        let process = &mut self.processes[index];
        let waiting = Waiting {
            request_id: request.request_id.clone(),
            epoch: request.member_epoch,
            gives_up_at: process.clock.show(self.now) + timeout_ms,
        };
        process.waiting = Some(waiting);
        self.note("sent", || {
            format!(
                "process {index}: {} epoch {} version {} owned {:?} revoking {:?}",
                request.request_id,
                request.member_epoch,
                request.metadata_version,
                indices(&request.owned_shards),
                request
                    .revoking_shards
                    .iter()
                    .map(|row| (row.shard.shard_index, row.state))
                    .collect::<Vec<_>>()
            )
        });
        self.network.send(index, convert::request(request));
    }

    /// An answer, or the news that there is none, reaches a process.
    pub(crate) fn hear(&mut self, index: usize, event: Event) {
        let Some(process) = self
            .processes
            .get_mut(index)
            .filter(|process| !process.is_over())
        else {
            return;
        };
        if process.is_paused() {
            return process.inbox.push(event);
        }
        let (Event::AnswerReceived { request_id: of, .. }
        | Event::RequestFailed { request_id: of, .. }) = &event
        else {
            return;
        };
        // The driver drops what answers an earlier request.
        if process
            .waiting
            .take_if(|waiting| waiting.request_id == *of)
            .is_none()
        {
            return;
        }
        self.feed(index, event);
    }

    /// It is woken: what was waited for in vain has failed, and time has passed.
    pub(crate) fn wake(&mut self, index: usize) {
        let now = self.now;
        let Some(process) = self
            .processes
            .get_mut(index)
            .filter(|process| !process.is_over())
        else {
            return;
        };
        if let Life::PausedUntil(until) = process.life {
            if now < until {
                return;
            }
            process.life = Life::Running;
            let missed = std::mem::take(&mut process.inbox);
            for event in missed {
                match event {
                    Event::AnswerReceived { .. } | Event::RequestFailed { .. } => {
                        self.hear(index, event)
                    }
                    other => self.feed(index, other),
                }
            }
        }
        let process = &mut self.processes[index];
        let local = process.clock.show(now);
        if let Some(waiting) = process
            .waiting
            .take_if(|waiting| waiting.gives_up_at <= local)
        {
            let failed = Event::RequestFailed {
                request_id: waiting.request_id,
                kind: FailureKind::Unavailable,
            };
            self.feed(index, failed);
        }
        self.feed(index, Event::Tick);
    }

    /// One worker goes on by one step.
    pub(crate) fn work(&mut self, index: usize, shard: u32) {
        let now = self.now;
        let Some(process) = self
            .processes
            .get_mut(index)
            .filter(|process| process.life == Life::Running)
        else {
            return;
        };
        process.note_drains(now);
        let (has_lease, group) = (process.has_lease(now), process.group);
        let Some(worker) = process.workers.get_mut(&shard) else {
            return;
        };
        let (id, grant) = (ShardId::new(shard), worker.grant);
        let event = match worker.step(&mut self.streams, shard, group, has_lease) {
            WorkerDid::Started => Event::WorkerStarted { shard: id, grant },
            WorkerDid::SaidInFlight => Event::InFlight {
                shard: id,
                grant,
                records: 1,
            },
            WorkerDid::Something => return,
            WorkerDid::Ended => {
                process.workers.remove(&shard);
                self.note("worker", || {
                    format!("process {index} has ended shard {shard}")
                });
                Event::WorkerStopped { shard: id, grant }
            }
        };
        self.feed(index, event);
    }

    /// What invariant 9 looks at: a refusal that is heard while the lease runs.
    fn judge_refusal(&mut self, index: usize, event: &Event) {
        let Event::AnswerReceived { response, .. } = event else {
            return;
        };
        let is_refusal = matches!(
            response.status,
            HeartbeatStatus::FencedMemberEpoch | HeartbeatStatus::UnknownMemberId
        );
        if is_refusal && self.processes[index].has_lease(self.now) {
            self.saw_refusal(index, response.status);
        }
    }
}

fn indices(shards: &[ShardId]) -> Vec<u32> {
    shards.iter().map(|shard| shard.shard_index).collect()
}
