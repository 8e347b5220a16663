//! A client that obeys (rules T2, T3, O5b) and says as little of itself as protocol version 1 allows: it does not number its messages, and every second one does
//! not name its process either.

use std::collections::{BTreeMap, BTreeSet};

use member_client::machine::{Action, Event, GrantId, MonotonicMillis, StopReason};
use member_client::protocol::{
    HeartbeatRequest, HeartbeatResponse, HeartbeatStatus, JOIN_EPOCH, LEAVE_EPOCH,
    PROTOCOL_VERSION, RevokeState, RevokingShard, RuntimeConsumerCapacity, ShardId,
};

/// A shard that has a worker.
#[derive(Clone, Copy, Debug)]
struct Work {
    grant: GrantId,
    is_stopping: bool,
}

#[derive(Clone, Debug)]
struct Sent {
    request_id: String,
    at: MonotonicMillis,
    lets_go: bool,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct PlainClient {
    member_id: String,
    process: usize,
    instance: Option<String>,
    messages: u64,
    grants: u64,
    epoch: i64,
    version: u64,
    lease_ms: u64,
    heartbeat_ms: u64,
    lease_until: Option<MonotonicMillis>,
    send_at: MonotonicMillis,
    sent: Option<Sent>,
    work: BTreeMap<ShardId, Work>,
    /// Out of the membership; no message before the last worker has ended.
    is_clearing: bool,
    is_leaving: bool,
    is_over: bool,
}

impl PlainClient {
    pub(crate) fn new(member_id: &str, process: usize, lease_ms: u64, heartbeat_ms: u64) -> Self {
        Self {
            member_id: member_id.to_owned(),
            process,
            instance: (process % 2 == 1).then(|| format!("plain-{process}")),
            messages: 0,
            grants: 0,
            epoch: JOIN_EPOCH,
            version: 0,
            lease_ms,
            heartbeat_ms,
            lease_until: None,
            send_at: MonotonicMillis::default(),
            sent: None,
            work: BTreeMap::new(),
            is_clearing: false,
            is_leaving: false,
            is_over: false,
        }
    }

    pub(crate) const fn lease_until(&self) -> Option<MonotonicMillis> {
        self.lease_until
    }

    pub(crate) fn next_deadline(&self) -> Option<MonotonicMillis> {
        let may_send = !self.is_over && !self.is_clearing && self.sent.is_none();
        let send_at = may_send.then_some(self.send_at);
        [self.lease_until, send_at].into_iter().flatten().min()
    }

    pub(crate) fn handle(&mut self, now: MonotonicMillis, event: Event) -> Vec<Action> {
        let mut actions = Vec::new();
        self.end_lease_if_over(now, &mut actions);
        match event {
            Event::AnswerReceived {
                request_id,
                response,
            } => {
                if let Some(sent) = self.sent.take_if(|sent| sent.request_id == request_id) {
                    self.hear(now, &sent, &response, &mut actions);
                }
            }
            Event::RequestFailed { request_id, .. } if self.waits_for(&request_id) => {
                self.sent = None;
                self.send_at = now.plus(self.heartbeat_ms / 2);
            }
            Event::WorkerStopped { shard, grant } => {
                let is_it = self
                    .work
                    .get(&shard)
                    .is_some_and(|work| work.grant == grant);
                if is_it {
                    self.work.remove(&shard);
                    self.send_at = now;
                }
            }
            Event::Shutdown if !self.is_leaving => {
                self.is_leaving = true;
                self.send_at = now;
                self.stop_all_but(&BTreeSet::new(), &mut actions);
            }
            _ => {}
        }
        self.go_on(now, &mut actions);
        actions
    }

    fn waits_for(&self, request_id: &str) -> bool {
        let sent = self.sent.as_ref();
        sent.is_some_and(|sent| sent.request_id == request_id)
    }

    fn end_lease_if_over(&mut self, now: MonotonicMillis, actions: &mut Vec<Action>) {
        if self.lease_until.is_some_and(|until| until <= now) {
            self.forget(actions);
        }
    }

    /// It is no member any more, and begins anew once nothing of it runs.
    fn forget(&mut self, actions: &mut Vec<Action>) {
        self.epoch = JOIN_EPOCH;
        self.lease_until = None;
        self.sent = None;
        self.is_clearing = true;
        if !self.work.is_empty() {
            actions.push(Action::AbandonShards);
        }
    }

    fn go_on(&mut self, now: MonotonicMillis, actions: &mut Vec<Action>) {
        if self.is_over || (self.is_clearing && !self.work.is_empty()) {
            return;
        }
        if self.is_clearing {
            self.is_clearing = false;
            self.send_at = now.plus(self.heartbeat_ms / 2);
        }
        if self.is_leaving && self.epoch == JOIN_EPOCH {
            self.is_over = true;
            actions.push(Action::StopForGood(StopReason::Left));
        } else if self.sent.is_none() && self.send_at <= now {
            self.send(now, actions);
        }
    }

    fn send(&mut self, now: MonotonicMillis, actions: &mut Vec<Action>) {
        self.messages += 1;
        self.send_at = now.plus(self.heartbeat_ms);
        let stopping = |wanted: bool| {
            let rows = self
                .work
                .iter()
                .filter(move |(_, work)| work.is_stopping == wanted);
            rows.map(|(shard, _)| *shard)
        };
        let row = |shard| RevokingShard {
            shard,
            state: RevokeState::Draining,
            in_flight: 1,
            acked_at: None,
        };
        let request = HeartbeatRequest {
            protocol_version: PROTOCOL_VERSION,
            request_id: format!("{} {} {}", self.member_id, self.process, self.messages),
            member_id: self.member_id.clone(),
            member_name: None,
            member_epoch: if self.is_leaving {
                LEAVE_EPOCH
            } else {
                self.epoch
            },
            metadata_version: if self.epoch == JOIN_EPOCH {
                0
            } else {
                self.version
            },
            runtime_consumer_capacity: RuntimeConsumerCapacity {
                runtime_max_concurrency: 1,
                available_concurrency: 1,
            },
            owned_shards: stopping(false).collect(),
            revoking_shards: stopping(true).map(row).collect(),
            shard_progress: Vec::new(),
            instance_id: self.instance.clone(),
            sequence: None,
            rack: None,
        };
        self.sent = Some(Sent {
            request_id: request.request_id.clone(),
            at: now,
            lets_go: self.is_leaving && self.work.is_empty(),
        });
        actions.push(Action::SendHeartbeat(Box::new(request)));
    }

    fn hear(
        &mut self,
        now: MonotonicMillis,
        sent: &Sent,
        answer: &HeartbeatResponse,
        actions: &mut Vec<Action>,
    ) {
        match answer.status {
            HeartbeatStatus::Ok
            | HeartbeatStatus::SyncMetadata
            | HeartbeatStatus::RevokePending => {}
            HeartbeatStatus::Retry => return self.send_at = now.plus(self.heartbeat_ms / 2),
            _ => return self.forget(actions),
        }
        let until = sent.at.plus(self.lease_ms - self.lease_ms / 10);
        if until <= now || sent.lets_go {
            return self.forget(actions);
        }
        self.lease_until = Some(until);
        self.version = answer.metadata_version;
        self.epoch = answer.member_epoch;
        if self.is_leaving {
            return;
        }
        let assigned: BTreeSet<_> = answer.assignment.assigned_shards.iter().copied().collect();
        self.stop_all_but(&assigned, actions);
        if answer.status == HeartbeatStatus::Ok {
            self.start(&assigned, actions);
        }
    }

    fn stop_all_but(&mut self, assigned: &BTreeSet<ShardId>, actions: &mut Vec<Action>) {
        for (shard, work) in &mut self.work {
            if !assigned.contains(shard) && !work.is_stopping {
                work.is_stopping = true;
                actions.push(Action::StopShard {
                    shard: *shard,
                    grant: work.grant,
                });
            }
        }
    }

    /// A shard that is still on its way out is not started again before its worker has ended.
    fn start(&mut self, assigned: &BTreeSet<ShardId>, actions: &mut Vec<Action>) {
        for shard in assigned {
            if self.work.contains_key(shard) {
                continue;
            }
            self.grants += 1;
            let grant = GrantId {
                epoch: self.epoch,
                counter: self.grants,
            };
            let work = Work {
                grant,
                is_stopping: false,
            };
            self.work.insert(*shard, work);
            self.send_at = MonotonicMillis::default();
            actions.push(Action::StartShard {
                shard: *shard,
                grant,
            });
        }
    }
}
