//! When a heartbeat is sent and what it says. What its answer means is not known here.

use protocol::{
    HeartbeatRequest, LEAVE_EPOCH, PROTOCOL_VERSION, RevokeState, RevokingShard,
    RuntimeConsumerCapacity,
};

use super::planted::MachineFault;
use super::{Action, MemberMachine, MonotonicMillis, Outstanding, Phase};

impl MemberMachine {
    /// When the next heartbeat is due, if none is under way.
    pub(super) fn send_due(&self) -> Option<MonotonicMillis> {
        let speaks = matches!(self.phase, Phase::Joining | Phase::Member | Phase::Leaving);
        if !speaks || self.outstanding.is_some() {
            return None;
        }
        let at_once = self.urgent || self.hint.is_some() || self.phase == Phase::Joining;
        Some(if at_once {
            self.not_before
        } else {
            self.not_before.max(self.send_at)
        })
    }

    /// Sends a heartbeat if one is due.
    pub(super) fn send_if_due(&mut self, now: MonotonicMillis, actions: &mut Vec<Action>) {
        if self.send_due().is_some_and(|due| due <= now) {
            let request = self.next_request();
            self.outstanding = Some(Outstanding {
                request_id: request.request_id.clone(),
                sent_at: now,
                is_leave: request.is_leave(),
                owned: request.owned_shards.iter().copied().collect(),
                revoked: request
                    .revoking_shards
                    .iter()
                    .filter(|row| row.state == RevokeState::Revoked)
                    .map(|row| row.shard)
                    .collect(),
            });
            self.urgent = false;
            self.hint = None;
            self.send_at = now.plus(self.timing.heartbeat_interval_ms);
            actions.push(Action::SendHeartbeat(Box::new(request)));
        }
    }

    /// Rule O5b: what it is giving up, and how far that is.
    fn revoking(&self) -> Vec<RevokingShard> {
        let mut rows = self.shards.revoking();
        if self.settings.plants(MachineFault::GivesUpBeforeTheEnd) {
            for row in &mut rows {
                (row.state, row.in_flight) = (RevokeState::Revoked, 0);
            }
        }
        rows
    }

    /// The member's whole state. Every message has a sequence number and a request id of its own, also across rejoins.
    fn next_request(&mut self) -> HeartbeatRequest {
        self.sequence += 1;
        let settings = &self.settings;
        let running = u32::try_from(self.shards.running()).unwrap_or(u32::MAX);
        HeartbeatRequest {
            protocol_version: PROTOCOL_VERSION,
            request_id: format!(
                "{}:{}:{}",
                settings.member_id, settings.instance_id, self.sequence
            ),
            member_id: settings.member_id.clone(),
            member_name: settings.member_name.clone(),
            member_epoch: if self.phase == Phase::Leaving {
                LEAVE_EPOCH
            } else {
                self.epoch
            },
            metadata_version: self.metadata_version,
            runtime_consumer_capacity: RuntimeConsumerCapacity {
                runtime_max_concurrency: settings.max_concurrency,
                available_concurrency: settings.max_concurrency.saturating_sub(running),
            },
            owned_shards: self.shards.owned(),
            revoking_shards: self.revoking(),
            shard_progress: self.shards.progress_rows(),
            instance_id: Some(settings.instance_id.clone()),
            sequence: Some(self.sequence),
            rack: settings.rack.clone(),
        }
    }
}
