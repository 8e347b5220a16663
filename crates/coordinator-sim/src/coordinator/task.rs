//! The work on one group, stage by stage: between any two of them anything may happen. Here, taking asks up and the short way (rule H17).

use coordinator_core::Group;
use coordinator_core::names::MemberId;
use coordinator_core::step::{HeartbeatReply, Reply};
use coordinator_core::time::Timestamp;
use coordinator_core::write::Write;
use store::Snapshot;

use super::{Ask, Cached};
use crate::convert;
use crate::record_store::Trouble;
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
    pub(super) fn see(&mut self, coordinator: usize, group: usize, snapshot: Snapshot) {
        self.note_stamp(coordinator, group, &snapshot);
        let restored = self.restore(group, snapshot);
        let task = &mut self.coordinators[coordinator].tasks[group];
        task.cached = restored.map(|mut cached| {
            cached.group = cached.group.knowing(task.known_epoch);
            task.known_epoch = cached.group.known_epoch();
            cached
        });
    }

    /// Takes over what this coordinator committed itself.
    pub(super) fn keep(&mut self, coordinator: usize, group: usize, cached: Cached) {
        self.note_stamp(coordinator, group, &cached.snapshot);
        let task = &mut self.coordinators[coordinator].tasks[group];
        task.known_epoch = cached.group.known_epoch();
        task.cached = Some(cached);
    }

    /// Rule C8: a record that is older than one that is known to have been committed, or another one of its revision.
    fn note_stamp(&mut self, coordinator: usize, group: usize, snapshot: &Snapshot) {
        let is_hidden = self.options.store_faults.hidden_doubt;
        let task = &mut self.coordinators[coordinator].tasks[group];
        let found = &snapshot.stamp;
        let is_older = task.latest.as_ref().is_some_and(|latest| {
            found.revision < latest.revision
                || (found.revision == latest.revision && found.etag != latest.etag)
        });
        let is_news = snapshot.record.lineage.doubted_at < task.latest_at;
        if is_older && is_news && !is_hidden {
            task.went_back_at = snapshot.clone().doubted().doubted_at;
        }
        task.latest = Some(found.clone());
        task.latest_at = Some(snapshot.now);
    }

    /// A group as it was read; nothing where no decision could have led to it (rule C6).
    pub(super) fn restore(&mut self, group: usize, snapshot: Snapshot) -> Option<Cached> {
        match Group::restore((*snapshot.record).clone(), self.setup.settings) {
            Ok(group) => Some(Cached { snapshot, group }),
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
                    now: begun.snapshot.now,
                };
                self.see(coordinator, group, begun.snapshot);
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
                let response = convert::response(
                    &self.setup.settings,
                    heartbeat.request.as_str(),
                    &heartbeat.member,
                    &reply,
                );
                self.network.answer(process, response);
            }
        }
    }
}
