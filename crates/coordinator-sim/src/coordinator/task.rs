//! The work on one group, stage by stage: between any two of them anything may happen. Here, taking asks up and the short way (rule H17).

use coordinator_core::Group;
use coordinator_core::names::MemberId;
use coordinator_core::step::{HeartbeatReply, Reply};
use coordinator_core::time::Timestamp;
use coordinator_core::write::Write;
use store::Snapshot;

use super::{Ask, Cached};
use crate::convert;
use crate::record_store::{Renewed, Seen, Trouble};
use crate::world::World;

/// How often a change that lost a race is tried again.
const ATTEMPTS: u32 = 8;

/// What may be said, by whom it was asked, once the record is confirmed or committed.
pub(crate) type Said = Vec<(Ask, Option<Reply>)>;

/// How far the work is.
#[derive(Debug, Default)]
pub(crate) enum Stage {
    /// Nothing is in hand.
    #[default]
    Idle,
    /// Asks are to be judged by what is in memory.
    Judge(Vec<Ask>),
    /// Nothing but leases would change: the record is to be confirmed, and the leases renewed.
    Confirm {
        quiet: Vec<(Ask, Option<HeartbeatReply>)>,
        renews: Vec<MemberId>,
    },
    /// The right to change the group is to be taken.
    Begin(Vec<Ask>),
    /// The group was read under the right to change it.
    Decide {
        asks: Vec<Ask>,
        token: u64,
        now: Timestamp,
    },
    /// It was decided.
    Commit {
        said: Said,
        token: u64,
        expected: Box<Cached>,
        group: Box<Group>,
        writes: Vec<Write>,
    },
    /// It is recorded: now it may be said (rule H16).
    Answer(Said),
}

impl World {
    /// Goes on by one stage. Says whether there was anything to do.
    pub(crate) fn work_on_group(&mut self, coordinator: usize, group: usize) -> bool {
        let now = self.now;
        let Some(it) = self
            .coordinators
            .get_mut(coordinator)
            .filter(|it| it.is_awake(now))
        else {
            return false;
        };
        let Some(task) = it.tasks.get_mut(group).filter(|task| task.has_work()) else {
            return false;
        };
        match std::mem::take(&mut task.stage) {
            Stage::Idle => {
                let asks = task.queue.drain(..).collect();
                task.attempts = 0;
                task.stage = Stage::Judge(asks);
            }
            Stage::Judge(asks) => self.judge(coordinator, group, asks),
            Stage::Confirm { quiet, renews } => self.confirm(coordinator, group, quiet, &renews),
            Stage::Begin(asks) => self.begin(coordinator, group, asks),
            Stage::Decide { asks, token, now } => self.decide(coordinator, group, asks, token, now),
            Stage::Commit {
                said,
                token,
                expected,
                group: decided,
                writes,
            } => {
                self.commit(
                    coordinator,
                    group,
                    said,
                    token,
                    &expected,
                    *decided,
                    &writes,
                );
            }
            Stage::Answer(said) => self.answer(coordinator, group, said),
        }
        true
    }

    /// Takes over what was read.
    pub(super) fn see(&mut self, coordinator: usize, group: usize, seen: Seen) {
        self.coordinators[coordinator].tasks[group].cached = self.restore(group, seen);
    }

    /// A group as it was read; nothing where no decision could have led to it (rule C6).
    pub(super) fn restore(&mut self, group: usize, seen: Seen) -> Option<Cached> {
        let Seen {
            snapshot,
            doubted_at,
        } = seen;
        match Group::restore((*snapshot.record).clone(), self.setup.settings) {
            Ok(group) => Some(Cached {
                snapshot,
                group,
                doubted_at,
            }),
            Err(error) => {
                self.found_unreadable(group, &error);
                None
            }
        }
    }

    /// Asks that lost a race are judged anew, for so long as that has a point.
    pub(super) fn try_again(&mut self, coordinator: usize, group: usize, asks: Vec<Ask>) {
        let task = &mut self.coordinators[coordinator].tasks[group];
        task.attempts += 1;
        if task.attempts < ATTEMPTS {
            task.stage = Stage::Judge(asks);
            return;
        }
        for ask in asks {
            if let Ask::Heartbeat { process, heartbeat } = ask {
                let response = convert::retry(&self.setup.settings, &heartbeat);
                self.network.answer(process, response);
            }
        }
    }

    /// The store failed: nothing is assumed of what it has, and whoever waits is told.
    pub(super) fn give_up(
        &mut self,
        coordinator: usize,
        group: usize,
        asks: impl IntoIterator<Item = Ask>,
    ) {
        self.coordinators[coordinator].tasks[group].cached = None;
        for ask in asks {
            if let Ask::Heartbeat { process, heartbeat } = ask {
                self.network.fail(process, heartbeat.request.as_str());
            }
        }
    }

    fn judge(&mut self, coordinator: usize, group: usize, asks: Vec<Ask>) {
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
                    let Some(step) = cached.group.decide_steady(heartbeat, cached.doubted_at)
                    else {
                        break;
                    };
                    renews.extend(step.renews_lease.then(|| heartbeat.member.clone()));
                    quiet.push((ask.clone(), Some(step.reply)));
                }
                Ask::Tick => {
                    let clock = self.clock(coordinator, cached.snapshot.now, cached.doubted_at);
                    let step = ask
                        .input(&cached.group)
                        .and_then(|input| cached.group.decide(clock, &input).ok());
                    if step.is_none_or(|step| !step.writes.is_empty()) {
                        break;
                    }
                    quiet.push((ask.clone(), None));
                }
                Ask::Input(_) | Ask::Join { .. } => break,
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
    fn confirm(
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
        let (known, doubt): (&Snapshot, _) = (&cached.snapshot, cached.doubted_at);
        let lease = self.setup.settings.member_lease_ttl();
        match self
            .store
            .renew(group, known, doubt, renews, lease, self.now)
        {
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

    fn begin(&mut self, coordinator: usize, group: usize, asks: Vec<Ask>) {
        let (now, limit) = (self.now, self.setup.lock_ms);
        let begun = self.store.begin(group, now, limit);
        let task = &mut self.coordinators[coordinator].tasks[group];
        match begun {
            Ok(begun) => {
                task.waits_since = None;
                let stage = Stage::Decide {
                    asks,
                    token: begun.token,
                    now: begun.seen.snapshot.now,
                };
                self.see(coordinator, group, begun.seen);
                self.coordinators[coordinator].tasks[group].stage = stage;
            }
            Err(Trouble::Locked) if now < *task.waits_since.get_or_insert(now) + limit => {
                task.stage = Stage::Begin(asks);
            }
            Err(_) => {
                task.waits_since = None;
                self.give_up(coordinator, group, asks);
            }
        }
    }

    fn answer(&mut self, coordinator: usize, group: usize, said: Said) {
        for (ask, reply) in said {
            if let (Ask::Heartbeat { process, heartbeat }, Some(Reply::Heartbeat(reply))) =
                (ask, reply)
            {
                self.counts.heartbeats += 1;
                self.note("answered", || {
                    format!(
                        "coordinator {coordinator}, group {group}: process {process} {} (epoch {}, version {}, owned {:?}) -> {:?} epoch {} version {} assigned {:?} pending {:?}",
                        heartbeat.request.as_str(), heartbeat.epoch, heartbeat.version, heartbeat.owned, reply.status,
                        reply.member_epoch, reply.metadata_version, reply.assigned, reply.pending
                    )
                });
                let response = convert::response(&self.setup.settings, &heartbeat, &reply);
                self.network.answer(process, response);
            }
        }
    }
}
