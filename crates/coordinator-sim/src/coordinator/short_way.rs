//! The short way: what changes nothing but leases takes no right to change the group, and writes no record. Rule H17.

use coordinator_core::names::MemberId;
use coordinator_core::step::{HeartbeatReply, Reply};

use super::{Ask, Stage};
use crate::record_store::Renewed;
use crate::world::World;

impl World {
    pub(super) fn judge(&mut self, coordinator: usize, group: usize, asks: Vec<Ask>) {
        let wants_leases = asks.iter().any(|ask| matches!(ask, Ask::Tick));
        if wants_leases || self.coordinators[coordinator].tasks[group].cached.is_none() {
            match self.store.load(group, self.now) {
                Ok(seen) => self.see(coordinator, group, seen),
                Err(_) => return self.give_up(coordinator, group, asks),
            }
        }
        let Some(cached) = self.coordinators[coordinator].tasks[group].cached.clone() else {
            return self.give_up(coordinator, group, asks);
        };
        let mut quiet = Vec::new();
        let mut renews = Vec::new();
        for ask in &asks {
            match ask {
                Ask::Heartbeat { heartbeat, .. } => {
                    let Some(step) = cached
                        .group
                        .decide_steady(heartbeat, self.doubted_at(coordinator, group))
                    else {
                        break;
                    };
                    renews.extend(step.renews_lease.then(|| heartbeat.member.clone()));
                    quiet.push((ask.clone(), Some(step.reply)));
                }
                Ask::Tick => {
                    let clock = self.clock(coordinator, group, cached.snapshot.now);
                    let step = ask
                        .input(&cached.snapshot)
                        .and_then(|input| cached.group.decide(clock, &input).ok());
                    if step.is_none_or(|step| !step.writes.is_empty()) {
                        break;
                    }
                    quiet.push((ask.clone(), None));
                }
                Ask::Input(_) | Ask::Admin { .. } => break,
            }
        }
        let task = &mut self.coordinators[coordinator].tasks[group];
        task.stage = if quiet.len() < asks.len() {
            Stage::Begin(asks)
        } else if quiet.iter().all(|(_, reply)| reply.is_none()) {
            Stage::Idle
        } else {
            Stage::Confirm { quiet, renews }
        };
    }

    /// One step of the store: the record is the known one, and the leases are renewed.
    pub(super) fn confirm(
        &mut self,
        coordinator: usize,
        group: usize,
        quiet: Vec<(Ask, Option<HeartbeatReply>)>,
        renews: &[MemberId],
    ) {
        let Some(cached) = &self.coordinators[coordinator].tasks[group].cached else {
            return self.try_again(
                coordinator,
                group,
                quiet.into_iter().map(|(ask, _)| ask).collect(),
            );
        };
        let known = &cached.snapshot;
        let lease = self.setup.settings.member_lease_ttl();
        match self.store.renew(group, known, renews, lease, self.now) {
            Ok(Renewed::Done) => {
                self.counts.renewals += 1;
                let said = quiet
                    .into_iter()
                    .map(|(ask, reply)| (ask, reply.map(Reply::Heartbeat)));
                self.coordinators[coordinator].tasks[group].stage = Stage::Answer(said.collect());
            }
            Ok(Renewed::Stale(seen)) => {
                self.see(coordinator, group, seen);
                self.try_again(
                    coordinator,
                    group,
                    quiet.into_iter().map(|(ask, _)| ask).collect(),
                );
            }
            Err(_) => self.give_up(coordinator, group, quiet.into_iter().map(|(ask, _)| ask)),
        }
    }
}
