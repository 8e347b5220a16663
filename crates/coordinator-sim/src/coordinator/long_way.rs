//! The long way: decide under the right to change the group, commit, and only then say it (rule H16).

use coordinator_core::Group;
use coordinator_core::step::{Effect, Reply};
use coordinator_core::time::Timestamp;
use coordinator_core::write::Write;
use store::{Commit, Snapshot};

use super::task::Said;
use super::{Ask, Cached, Stage};
use crate::record_store::Trouble;
use crate::world::World;

impl World {
    pub(super) fn decide(
        &mut self,
        coordinator: usize,
        group: usize,
        asks: Vec<Ask>,
        token: u64,
        now: Timestamp,
    ) {
        let Some(cached) = self.coordinators[coordinator].tasks[group].cached.clone() else {
            self.store.release(group, token, self.now);
            return self.give_up(coordinator, group, asks);
        };
        let clock = self.clock(coordinator, group, now);
        let mut decided = cached.group.clone();
        let (mut writes, mut said): (Vec<Write>, Said) = (Vec::new(), Vec::new());
        let mut doubt = None;
        for ask in asks {
            let reply =
                ask.input(&cached.snapshot)
                    .and_then(|input| match decided.decide(clock, &input) {
                        Ok(step) => {
                            decided.apply(&step.writes);
                            writes.extend(step.writes);
                            doubt = doubt.max(step.effects.iter().filter_map(doubted).max());
                            Some(step.reply)
                        }
                        Err(rejection) => {
                            self.note("rejected", || {
                                format!("coordinator {coordinator}, group {group}: {rejection}")
                            });
                            None
                        }
                    });
            said.push((ask, reply));
        }
        if writes.is_empty() {
            self.store.release(group, token, self.now);
            self.coordinators[coordinator].tasks[group].stage = Stage::Answer(said);
            return;
        }
        let only_leases = writes
            .iter()
            .all(|write| matches!(write, Write::LeaseSet { .. }));
        if only_leases
            && said
                .iter()
                .all(|(ask, _)| matches!(ask, Ask::Heartbeat { .. }))
        {
            // Somebody else made the change meanwhile: the short way does for what is left.
            self.store.release(group, token, self.now);
            return self.try_again(
                coordinator,
                group,
                said.into_iter().map(|(ask, _)| ask).collect(),
            );
        }
        if doubt.is_some_and(|at| !self.spread_doubt(coordinator, at)) {
            // Rule C8: the other groups could go on granting, and nobody would ever tell them.
            self.store.release(group, token, self.now);
            return self.give_up(coordinator, group, said.into_iter().map(|(ask, _)| ask));
        }
        self.coordinators[coordinator].tasks[group].stage = Stage::Commit {
            said,
            token,
            expected: Box::new(cached),
            group: Box::new(decided),
            writes,
        };
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "the parts of one stage, taken apart"
    )]
    pub(super) fn commit(
        &mut self,
        coordinator: usize,
        group: usize,
        said: Said,
        token: u64,
        expected: &Cached,
        decided: Group,
        writes: &[Write],
    ) {
        let commit = Commit {
            expected: &expected.snapshot,
            record: decided.record(),
            writes,
            progress: &[],
        };
        let (outcome, is_written) = self.store.commit(group, token, &commit, self.now);
        if is_written {
            self.note("committed", || {
                format!("coordinator {coordinator}, group {group}: {writes:?}")
            });
            self.saw_commit(group, &expected.group, &decided, writes);
        }
        match outcome {
            Ok(stamp) => {
                let snapshot = Snapshot {
                    record: decided.record().clone().into(),
                    stamp,
                    now: expected.snapshot.now,
                    doubted_at: None,
                };
                let cached = Cached {
                    snapshot,
                    group: decided,
                };
                self.keep(coordinator, group, cached);
                self.coordinators[coordinator].tasks[group].stage = Stage::Answer(said);
            }
            Err(Trouble::Conflict) => {
                let asks = said.into_iter().map(|(ask, _)| ask).collect();
                self.try_again(coordinator, group, asks);
            }
            Err(_) => {
                let asks: Vec<Ask> = said
                    .into_iter()
                    .map(|(ask, _): (Ask, Option<Reply>)| ask)
                    .collect();
                self.give_up(coordinator, group, asks);
            }
        }
    }
}

/// Rule C8: a loss of writes that the other groups are to hear of.
const fn doubted(effect: &Effect) -> Option<Timestamp> {
    match effect {
        Effect::DoubtWrites { at } => Some(*at),
        _ => None,
    }
}
