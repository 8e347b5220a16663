//! What an answer, or the lack of one, means for the member. How heartbeats are made is not known here.

use std::collections::BTreeSet;

use protocol::{HeartbeatResponse, HeartbeatStatus, PROTOCOL_VERSION};

use super::planted::MachineFault;
use super::{
    Action, FailureKind, MemberMachine, MonotonicMillis, Next, Outstanding, Phase, StopReason,
    Timing,
};

/// The least pause between two regular heartbeats, whatever the coordinator says.
const LEAST_INTERVAL_MS: u64 = 10;
/// The first wait after a failed request; it doubles up to the heartbeat interval.
const RETRY_BACKOFF_MS: u64 = 100;
/// Thrown out this often in a row, soon after joining and for no reason of its own, a member concludes that another process
/// has its id.
pub(super) const TAKEOVERS: u32 = 2;
/// The longest it leaves the id to that process before it looks whether it is still there.
const STAND_ASIDE_MOST_MS: u64 = 600_000;

impl MemberMachine {
    pub(super) fn take_answer(
        &mut self,
        now: MonotonicMillis,
        request: &Outstanding,
        response: &HeartbeatResponse,
        actions: &mut Vec<Action>,
    ) {
        if response.response_to != request.request_id
            || response.member_id != self.settings.member_id
        {
            return self.take_failure(now, FailureKind::Unavailable, actions);
        }
        match response.status {
            HeartbeatStatus::Ok
            | HeartbeatStatus::SyncMetadata
            | HeartbeatStatus::RevokePending => {
                self.take_acceptance(now, request, response, actions);
            }
            HeartbeatStatus::Retry => self.wait_and_retry(now, 0),
            HeartbeatStatus::UnknownMemberId | HeartbeatStatus::FencedMemberEpoch => {
                self.take_rejection(now, response.status, actions);
            }
            HeartbeatStatus::UnsupportedProtocol => {
                let reason = StopReason::UnsupportedProtocol {
                    version: PROTOCOL_VERSION,
                };
                self.begin_clearing(Next::Stop(reason), actions);
            }
            HeartbeatStatus::InvalidRequest => {
                let reason = StopReason::InvalidRequest {
                    message: String::new(),
                };
                self.begin_clearing(Next::Stop(reason), actions);
            }
        }
    }

    /// Rule T3: nothing here touches the lease.
    pub(super) fn take_failure(
        &mut self,
        now: MonotonicMillis,
        kind: FailureKind,
        actions: &mut Vec<Action>,
    ) {
        match kind {
            FailureKind::Unavailable | FailureKind::Denied => self.wait_and_retry(now, 0),
            FailureKind::Throttled { retry_after_ms } => self.wait_and_retry(now, retry_after_ms),
            FailureKind::Invalid { message } => {
                self.begin_clearing(Next::Stop(StopReason::InvalidRequest { message }), actions);
            }
        }
    }

    /// Tries again after a while that grows, but never later than the next regular heartbeat would have been.
    fn wait_and_retry(&mut self, now: MonotonicMillis, at_least_ms: u64) {
        self.failures = self.failures.saturating_add(1);
        let most = self.timing.heartbeat_interval_ms;
        let wait = self
            .jitter
            .wait_ms(self.failures, RETRY_BACKOFF_MS, most)
            .max(at_least_ms)
            .min(most);
        self.not_before = now.plus(wait);
        self.urgent = true;
    }

    fn take_acceptance(
        &mut self,
        now: MonotonicMillis,
        request: &Outstanding,
        response: &HeartbeatResponse,
        actions: &mut Vec<Action>,
    ) {
        self.take_timing(response);
        self.send_at = request.sent_at.plus(self.timing.heartbeat_interval_ms);
        // Rule T2: the lease counts from the sending of what was answered.
        let from_receiving = self.settings.plants(MachineFault::LeaseFromReceiving);
        let begins = if from_receiving { now } else { request.sent_at };
        let lease_until = begins.plus(self.client_lease_ms());
        if lease_until <= now {
            self.wait_and_retry(now, 0);
            return self.begin_clearing(Next::Rejoin, actions);
        }
        self.lease_until = Some(lease_until);
        (self.failures, self.rejections) = (0, 0);
        self.not_before = now;
        self.metadata_version = response.metadata_version;
        self.hint = self
            .hint
            .filter(|version| *version > response.metadata_version);
        let assigned: BTreeSet<_> = response
            .assignment
            .assigned_shards
            .iter()
            .copied()
            .collect();
        self.shards.confirm_released(&request.revoked, &assigned);
        match self.phase {
            Phase::Leaving => self.finish_leaving(request, actions),
            _ => {
                if self.phase == Phase::Joining {
                    self.phase = Phase::Member;
                    self.joined_at = now;
                }
                self.epoch = response.member_epoch;
                self.take_assignment(response.status == HeartbeatStatus::Ok, &assigned, actions);
                let owned = self.shards.owned();
                // What is newly owned is reported at once; what is newly free says so itself.
                self.urgent |= owned.iter().any(|shard| !request.owned.contains(shard));
            }
        }
    }

    fn take_assignment(
        &mut self,
        ok: bool,
        assigned: &BTreeSet<protocol::ShardId>,
        actions: &mut Vec<Action>,
    ) {
        self.may_start = ok;
        let to_stop = self.shards.assign(assigned, ok);
        actions.extend(
            to_stop
                .into_iter()
                .map(|(shard, grant)| Action::StopShard { shard, grant }),
        );
        self.start_waiting(actions);
    }

    fn take_timing(&mut self, response: &HeartbeatResponse) {
        self.timing = Timing {
            heartbeat_interval_ms: response.heartbeat_interval_ms.max(LEAST_INTERVAL_MS),
            member_lease_ttl_ms: response
                .member_lease_ttl_ms
                .filter(|ttl| *ttl > 0)
                .unwrap_or(self.settings.member_lease_ttl_ms),
            rebalance_timeout_ms: response.rebalance_timeout_ms,
        };
    }

    /// The coordinator does not, or no longer, count this process as the member.
    fn take_rejection(
        &mut self,
        now: MonotonicMillis,
        status: HeartbeatStatus,
        actions: &mut Vec<Action>,
    ) {
        self.failures = self.failures.saturating_add(1);
        self.rejections = self.rejections.saturating_add(1);
        if self.phase == Phase::Leaving {
            return self.begin_clearing(Next::Stop(StopReason::Left), actions);
        }
        let (first, most) = (
            self.settings.rejoin_backoff_ms,
            self.settings.rejoin_backoff_max_ms,
        );
        let mut wait = self.jitter.wait_ms(self.rejections, first, most);
        if status == HeartbeatStatus::FencedMemberEpoch && self.phase == Phase::Member {
            self.count_takeover(now);
            wait = wait.max(self.stand_aside_ms());
        }
        self.not_before = now.plus(wait);
        self.begin_clearing(Next::Rejoin, actions);
    }

    /// Case C22: of two processes with one id the older stands aside. The answer does not say why it refuses, so this
    /// goes by what can be seen: thrown out without a fault of one's own, joined again, and thrown out again within two
    /// leases. The older one gets there first. A single refusal may come from a store that lost writes.
    fn count_takeover(&mut self, now: MonotonicMillis) {
        let settled = self
            .joined_at
            .plus(self.timing.member_lease_ttl_ms.saturating_mul(2))
            <= now;
        let before = if settled { 0 } else { self.takeovers };
        self.takeovers = if self.fault_is_ours(now) {
            0
        } else {
            before.saturating_add(1)
        };
    }

    /// How long to leave the id to the other process: two leases, and twice as long each time that was not enough.
    fn stand_aside_ms(&self) -> u64 {
        match self.takeovers.checked_sub(TAKEOVERS) {
            None => 0,
            Some(more) => {
                let leases = 2_u64 << more.min(16);
                let wait = self.timing.member_lease_ttl_ms.saturating_mul(leases);
                wait.min(STAND_ASIDE_MOST_MS)
            }
        }
    }

    /// Whether being thrown out can be explained by what this member did: it kept a shard for too long (rule H20).
    fn fault_is_ours(&self, now: MonotonicMillis) -> bool {
        self.draining_since
            .is_some_and(|since| since.plus(self.timing.rebalance_timeout_ms) <= now)
    }

    /// Rule T2: the lease minus the margin.
    fn client_lease_ms(&self) -> u64 {
        let ttl = self.timing.member_lease_ttl_ms;
        ttl - ttl / 100 * u64::from(self.settings.lease_margin_percent)
            - ttl % 100 * u64::from(self.settings.lease_margin_percent) / 100
    }
}
