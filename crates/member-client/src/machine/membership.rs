//! The ways out of a membership, and back in: the lease that ends, clearing, rejoining, leaving. What answers mean is decided
//! elsewhere.

use super::planted::MachineFault;
use super::{Action, MemberMachine, MonotonicMillis, Next, Outstanding, Phase, StopReason};

impl MemberMachine {
    /// Rule T2: when the client's own lease is over, it stops at once and comes back with nothing.
    pub(super) fn end_lease_if_over(&mut self, now: MonotonicMillis, actions: &mut Vec<Action>) {
        let reads_on = self.settings.plants(MachineFault::ReadsOnAfterLease);
        if self.lease_until.is_some_and(|until| until <= now) && !reads_on {
            let next = match self.phase {
                Phase::Leaving => Next::Stop(StopReason::Left),
                _ => Next::Rejoin,
            };
            self.begin_clearing(next, actions);
        }
    }

    /// Case C37: first everything stops, then comes what comes next; meanwhile nothing is sent.
    pub(super) fn begin_clearing(&mut self, next: Next, actions: &mut Vec<Action>) {
        self.phase = Phase::Clearing(next);
        self.epoch = protocol::JOIN_EPOCH;
        self.lease_until = None;
        self.may_start = false;
        self.outstanding = None;
        self.urgent = false;
        self.hint = None;
        if self.shards.abandon_all() {
            actions.push(Action::AbandonShards);
        }
    }

    /// Begins to leave, from wherever the member is.
    pub(super) fn begin_shutdown(&mut self, now: MonotonicMillis, actions: &mut Vec<Action>) {
        if self.shutdown_until.is_some() {
            return;
        }
        if self.phase == Phase::Joining {
            // There is nothing to finish, and nobody to tell but a coordinator that may have heard the join: one more try,
            // now and not after the pause before the next join.
            self.not_before = now;
            let interval = self.timing.heartbeat_interval_ms;
            self.shutdown_limit_ms = self.shutdown_limit_ms.min(interval);
        }
        self.shutdown_until = Some(now.plus(self.shutdown_limit_ms));
        match self.phase {
            Phase::New => self.stop(StopReason::Left, actions),
            Phase::Joining | Phase::Member => {
                self.phase = Phase::Leaving;
                self.may_start = false;
                self.urgent = true;
                let to_stop = self.shards.drain_all();
                actions.extend(
                    to_stop
                        .into_iter()
                        .map(|(shard, grant)| Action::StopShard { shard, grant }),
                );
            }
            Phase::Clearing(Next::Rejoin) => {
                self.phase = Phase::Clearing(Next::Stop(StopReason::Left))
            }
            Phase::Clearing(Next::Stop(_)) | Phase::Leaving | Phase::Stopped => {}
        }
    }

    /// A leave was accepted: the member is gone once it reported that it holds nothing.
    pub(super) fn finish_leaving(&mut self, request: &Outstanding, actions: &mut Vec<Action>) {
        if request.is_leave && self.shards.is_empty() {
            self.stop(StopReason::Left, actions);
        }
    }

    /// Whatever has become due or possible.
    pub(super) fn go_on(&mut self, now: MonotonicMillis, actions: &mut Vec<Action>) {
        if self.phase != Phase::Stopped && self.shutdown_until.is_some_and(|until| until <= now) {
            if !matches!(self.phase, Phase::Clearing(_)) && self.shards.abandon_all() {
                actions.push(Action::AbandonShards);
            }
            let timeout_ms = self.shutdown_limit_ms;
            return self.stop(StopReason::ShutdownTimedOut { timeout_ms }, actions);
        }
        if self.shards.is_empty()
            && let Phase::Clearing(next) = &self.phase
        {
            match next.clone() {
                Next::Rejoin => self.phase = Phase::Joining,
                Next::Stop(reason) => return self.stop(reason, actions),
            }
        }
        self.send_if_due(now, actions);
    }

    fn stop(&mut self, reason: StopReason, actions: &mut Vec<Action>) {
        self.phase = Phase::Stopped;
        self.epoch = protocol::JOIN_EPOCH;
        self.lease_until = None;
        self.outstanding = None;
        actions.push(Action::StopForGood(reason));
    }
}
