//! True time passes, and what is due by itself happens at its moment: clients wake, coordinators tick and go on with their work. Nothing here
//! is drawn at random.

use super::World;
use crate::coordinator::{Ask, Coordinator};
use crate::member::Process;

/// How long a stage of a coordinator's work takes by itself.
const STAGE_MS: u64 = 3;

impl World {
    /// Time passes; stops early at a violation.
    pub(crate) fn pass(&mut self, ms: u64) {
        let end = self.now + ms;
        while self.violation.is_none() {
            let next = self.next_moment().max(self.now + 1);
            if next > end {
                break;
            }
            self.now = next;
            self.wake_coordinators();
            self.wake_processes();
        }
        self.now = end;
    }

    fn next_moment(&self) -> u64 {
        let processes = self.processes.iter().filter_map(Process::wakes_at);
        let coordinators = self.coordinators.iter().filter_map(Coordinator::wakes_at);
        processes.chain(coordinators).min().unwrap_or(u64::MAX)
    }

    fn wake_processes(&mut self) {
        for index in 0..self.processes.len() {
            if self.processes[index]
                .wakes_at()
                .is_some_and(|at| at <= self.now)
            {
                self.wake(index);
            }
        }
    }

    fn wake_coordinators(&mut self) {
        for index in 0..self.coordinators.len() {
            if !self.coordinators[index].is_awake(self.now) {
                continue;
            }
            if self.coordinators[index].ticks_at <= self.now {
                self.tick(index);
            }
            for group in 0..self.setup.groups {
                let task = &self.coordinators[index].tasks[group];
                if task.ready_at <= self.now && self.work_on_group(index, group) {
                    self.coordinators[index].tasks[group].ready_at = self.now + STAGE_MS;
                }
            }
        }
    }

    /// The periodic work of a coordinator: the mark, groups that are due, and a stage of what a change of the shard count asks for.
    fn tick(&mut self, coordinator: usize) {
        self.coordinators[coordinator].ticks_at = self.now + self.setup.tick_ms;
        if self.refresh_mark(coordinator).is_none() {
            return;
        }
        for group in 0..self.setup.groups {
            if self.is_due(coordinator, group) {
                let queue = &mut self.coordinators[coordinator].tasks[group].queue;
                queue.push_back(Ask::Tick);
            }
        }
        if self.coordinators[coordinator].chore_ready_at <= self.now {
            self.work_on_chore(coordinator);
        }
    }

    fn is_due(&self, coordinator: usize, group: usize) -> bool {
        let task = &self.coordinators[coordinator].tasks[group];
        if task.has_tick() {
            return false;
        }
        let Some(cached) = &task.cached else {
            return true;
        };
        let record = cached.group.record();
        let lineage = &record.lineage;
        let now = self.store.now(self.now);
        // A migration and a correction go on with ticks as well.
        record.migration.is_some()
            || lineage.is_settling()
            || cached.group.next_deadline().is_some_and(|due| due <= now)
    }
}
