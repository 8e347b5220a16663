//! Actions, carried out. One that does not apply changes nothing.

use super::World;
use crate::action::Action;
use crate::coordinator::{Ask, Coordinator};
use crate::member::Life;
use crate::record_store::LostAnswer;

/// More stages than any work has.
const ALL_STAGES: usize = 40;

impl World {
    /// Carries an action out; what must hold after every one is checked then.
    pub(crate) fn apply(&mut self, action: &Action) {
        self.note("action", || format!("{action:?}"));
        self.carry(action);
        self.check_all_readers();
        self.step += 1;
    }

    fn carry(&mut self, action: &Action) {
        match *action {
            Action::Pass { ms } => self.pass(ms),
            Action::Exchange {
                process,
                coordinator,
            } => self.exchange(process, coordinator),
            Action::Arrive {
                process,
                nth,
                coordinator,
                copy,
                stages,
                hold_ms,
            } => {
                if let Some(group) = self.arrive(process, nth, coordinator, copy) {
                    self.stages(coordinator, group, stages, hold_ms);
                }
            }
            Action::Stages {
                coordinator,
                group,
                stages,
                hold_ms,
            } => {
                self.stages(coordinator, group, stages, hold_ms);
            }
            Action::Answer { process, nth, copy } => {
                if let Some(answer) = self.network.take_answer(process, nth, copy) {
                    self.hear(process, answer);
                }
            }
            Action::LoseRequest {
                process,
                nth,
                is_noticed,
            } => {
                let lost = self.network.take_request(process, nth, false);
                if let Some(request) = lost.filter(|_| is_noticed) {
                    self.network.fail(process, request.request.as_str());
                }
            }
            Action::LoseAnswer { process, nth } => {
                self.network.take_answer(process, nth, false);
            }
            Action::Hint { process } => self.hint(process),
            Action::Work { process, steps } => self.work_all(process, steps),
            Action::WorkOne { process, shard } => self.work(process, shard),
            Action::Publish { producer, key } => self.publish(producer, key),
            Action::Refresh { producer } => self.refresh(producer),
            Action::PauseProcess { process, ms } => self.pause_process(process, ms),
            Action::Crash { process } => self.crash_process(process),
            Action::ShutDown { process } => {
                self.feed(process, member_client::machine::Event::Shutdown);
            }
            Action::Start { member, beside } => self.start(member, beside),
            Action::Chore {
                coordinator,
                stages,
                hold_ms,
            } => {
                self.chore(coordinator, stages, hold_ms);
            }
            Action::Scale {
                coordinator,
                target,
            } => self.scale(coordinator, target),
            Action::RollBack { coordinator } => self.roll_back(coordinator),
            _ => self.carry_trouble(action),
        }
    }

    /// What befalls coordinators and the store.
    fn carry_trouble(&mut self, action: &Action) {
        let now = self.now;
        match *action {
            Action::CrashCoordinator { coordinator } => {
                if let Some(it) = self.coordinators.get_mut(coordinator) {
                    *it = Coordinator {
                        is_up: false,
                        ..Coordinator::new(self.setup.groups, now)
                    };
                }
            }
            Action::StartCoordinator { coordinator } => {
                if let Some(it) = self
                    .coordinators
                    .get_mut(coordinator)
                    .filter(|it| !it.is_up)
                {
                    *it = Coordinator::new(self.setup.groups, now);
                }
            }
            Action::PauseCoordinator { coordinator, ms } => {
                if let Some(it) = self.coordinators.get_mut(coordinator) {
                    it.paused_until = it.paused_until.max(now + ms);
                }
            }
            Action::StoreAway { ms } => self.store.away_until_ms = now + ms,
            Action::LoseCommitAnswer {
                is_applied,
                is_read_back,
            } => {
                self.store.lost_answer = Some(LostAnswer {
                    is_applied,
                    is_read_back,
                });
            }
            Action::FailOver { behind } => {
                self.store.fail_over(behind);
                self.saw_fail_over();
            }
            Action::JumpClock { ms } => {
                self.store.jump(ms);
                self.watch.has_jumped = true;
            }
            Action::BendLag { shard, group, lag } => self.streams.show_lag(shard, group, lag),
            _ => {}
        }
    }

    fn arrive(
        &mut self,
        process: usize,
        nth: usize,
        coordinator: usize,
        copy: bool,
    ) -> Option<usize> {
        let now = self.now;
        let group = self.processes.get(process)?.group;
        let request = self.network.take_request(process, nth, copy)?;
        let it = self.coordinators.get_mut(coordinator)?;
        if !it.is_up {
            self.network.fail(process, request.request.as_str());
            return None;
        }
        it.tasks[group].queue.push_back(Ask::Heartbeat {
            process,
            heartbeat: Box::new(request),
        });
        it.is_awake(now).then_some(group)
    }

    pub(crate) fn stages(&mut self, coordinator: usize, group: usize, stages: usize, hold_ms: u64) {
        for _ in 0..stages {
            if !self.work_on_group(coordinator, group) {
                break;
            }
        }
        let until = self.now + hold_ms;
        let task = self
            .coordinators
            .get_mut(coordinator)
            .and_then(|it| it.tasks.get_mut(group));
        if let Some(task) = task {
            task.ready_at = until;
        }
    }

    fn exchange(&mut self, process: usize, coordinator: usize) {
        if let Some(group) = self.arrive(process, 0, coordinator, false) {
            self.stages(coordinator, group, ALL_STAGES, 0);
        }
        let (_, answers) = self.network.under_way(process);
        if let Some(answer) = answers
            .checked_sub(1)
            .and_then(|last| self.network.take_answer(process, last, false))
        {
            self.hear(process, answer);
        }
    }

    fn hint(&mut self, process: usize) {
        let Some(group) = self.processes.get(process).map(|process| process.group) else {
            return;
        };
        let metadata_version = self.store.record(group).metadata_version.get();
        self.feed(
            process,
            member_client::machine::Event::VersionChanged { metadata_version },
        );
    }

    pub(crate) fn work_all(&mut self, process: usize, steps: usize) {
        for _ in 0..steps {
            let shards = self
                .processes
                .get(process)
                .map(|it| it.workers.keys().copied().collect::<Vec<_>>());
            for shard in shards.unwrap_or_default() {
                self.work(process, shard);
            }
        }
    }

    fn pause_process(&mut self, process: usize, ms: u64) {
        let until = self.now + ms;
        if let Some(process) = self
            .processes
            .get_mut(process)
            .filter(|process| process.life == Life::Running)
        {
            process.life = Life::PausedUntil(until);
        }
    }

    pub(crate) fn crash_process(&mut self, index: usize) {
        if let Some(process) = self.processes.get_mut(index) {
            process.end();
        }
    }

    fn start(&mut self, member: usize, beside: bool) {
        let mut of_member = self
            .processes
            .iter()
            .filter(|process| process.member == member);
        if beside || of_member.all(crate::member::Process::is_over) {
            self.start_process(member);
        }
    }

    pub(crate) fn chore(&mut self, coordinator: usize, stages: usize, hold_ms: u64) {
        for _ in 0..stages {
            self.work_on_chore(coordinator);
        }
        let until = self.now + hold_ms;
        if let Some(it) = self.coordinators.get_mut(coordinator) {
            it.chore_ready_at = until;
        }
    }
}
