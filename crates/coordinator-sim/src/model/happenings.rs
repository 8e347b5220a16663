//! What happens to processes, messages, time and the store. What may happen in a state is listed elsewhere.

use std::sync::Arc;

use coordinator_core::names::MemberId;
use coordinator_core::time::Timestamp;
use member_client::protocol::HeartbeatRequest;
use stateright::Model;

use super::World;
use super::action::Action;
use super::bounds::spend;
use super::configuration::{LEASE_STEPS, STEP_MS};
use super::process::Process;
use super::seen::Reached;
use super::state::State;
use crate::convert;

/// How many rounds it takes at most until the members with which a search begins are at rest.
const SETTLING: usize = 20;

impl World {
    /// One step; none if it does not apply.
    pub(super) fn happen(&self, state: &mut State, action: Action) -> Option<()> {
        let now_ms = state.now_ms(STEP_MS);
        match action {
            Action::Serve {
                request,
                way,
                again,
            } => self.serve(state, request, way, again),
            Action::Tick => self.tick(state),
            Action::Commit { pending } => self.commit(state, pending),
            Action::Abort { pending } => self.abort(state, pending),
            Action::TimePasses => {
                spend(&mut state.left.time)?;
                self.pass(state, 1);
                Some(())
            }
            Action::NobodyWatches => {
                spend(&mut state.left.absences)?;
                self.pass(state, LEASE_STEPS);
                state.watched_since = state.now;
                Some(())
            }
            Action::LoseWrites { back } => self.lose_writes(state, back),
            Action::Scale => self.scale(state),
            Action::RollBack => self.roll_back(state),
            Action::CarryOut => self.carry_out(state, true),
            Action::CarryOutHalf => self.carry_out(state, false),
            Action::Observe => self.observe(state),
            Action::Publish { shard } => self.publish(state, shard),
            Action::Read { shard } => self.read(state, shard),
            Action::Acknowledge { shard } => self.acknowledge(state, shard),
            Action::LagLies { shard } => self.lie(state, shard),
            of_process => self.happen_to_process(state, of_process, now_ms),
        }
    }

    fn happen_to_process(&self, state: &mut State, action: Action, now_ms: u64) -> Option<()> {
        match action {
            Action::Start { process } => self.with(state, process, |it| it.start(now_ms)),
            Action::Hear { process, answer } => self.hear(state, process, answer),
            Action::GiveUp { process } => {
                spend(&mut state.left.given_up)?;
                self.with(state, process, |it| it.give_up(now_ms))
            }
            Action::WorkerEnds { process, worker } => {
                self.with(state, process, |it| it.end_worker(now_ms, worker.into()))
            }
            Action::News { process } => {
                let version = state.store.group.metadata_version().get();
                let it = state.processes[usize::from(process)].as_ref()?;
                let has_missed = it.knows().1 < version && it.waits_for.is_none();
                has_missed.then_some(())?;
                self.with(state, process, |it| it.learn(now_ms, version))
            }
            Action::ShutDown { process } => {
                spend(&mut state.left.shutdowns)?;
                self.with(state, process, |it| it.shut_down(now_ms))
            }
            Action::Crash { process } => {
                spend(&mut state.left.crashes)?;
                state.processes[usize::from(process)] = None;
                state.lose_late();
                Some(())
            }
            Action::Restart { process } => {
                spend(&mut state.left.restarts)?;
                let member = state.processes[usize::from(process)].take()?.member.clone();
                let born = self.bear_as(state, member);
                self.with(state, born, |it| it.start(now_ms))
            }
            Action::Twin { process } => {
                spend(&mut state.left.twins)?;
                let member = state.processes[usize::from(process)]
                    .as_ref()?
                    .member
                    .clone();
                let born = self.bear_as(state, member);
                self.with(state, born, |it| it.start(now_ms))
            }
            _ => None,
        }
    }

    /// An answer arrives.
    pub(super) fn hear(&self, state: &mut State, process: u8, answer: u8) -> Option<()> {
        let now_ms = state.now_ms(STEP_MS);
        self.with(state, process, |it| {
            it.hear(now_ms, answer.into(), &self.settings)
        })
    }

    /// Something happens to a process; what it sends then is on its way.
    fn with(
        &self,
        state: &mut State,
        index: u8,
        happens: impl FnOnce(&mut Process) -> Option<HeartbeatRequest>,
    ) -> Option<()> {
        let process = state.process_mut(index)?;
        let before = process.workers.len();
        let sent = happens(process);
        if process.workers.len() > before && process.member.as_str() != "m0" {
            // In the beginning the first member has everything.
            self.seen.note(Reached::Handoff);
        }
        if let Some(request) = sent {
            let mut heartbeat = convert::request(request);
            if self.configuration.is_plain {
                (heartbeat.instance, heartbeat.sequence) = (None, None);
            }
            state.send(index, heartbeat);
        }
        state.lose_late();
        Some(())
    }

    /// Time passes; every process that was started looks at its clock.
    fn pass(&self, state: &mut State, steps: u64) {
        state.now += steps;
        let now_ms = state.now_ms(STEP_MS);
        for index in (0_u8..)
            .zip(&state.processes)
            .map(|(index, _)| index)
            .collect::<Vec<_>>()
        {
            self.with(state, index, |process| process.tick(now_ms));
        }
    }

    /// A replica takes over that has not heard of the latest commits (rule C8).
    fn lose_writes(&self, state: &mut State, back: u8) -> Option<()> {
        spend(&mut state.left.losses)?;
        state.store = Arc::clone(state.earlier.get(usize::from(back))?);
        state.doubted_at = Some(Timestamp::from_ms(state.now_ms(STEP_MS)));
        if state.left.losses == 0 {
            state.earlier.clear();
        } else {
            state.earlier.drain(..=usize::from(back));
        }
        Some(())
    }

    /// A process of a member comes to be; it is not started yet.
    pub(super) fn bear(&self, state: &mut State, member: u8) {
        let member =
            MemberId::parse(&format!("m{member}")).expect("a letter and a digit are a name");
        self.bear_as(state, member);
    }

    fn bear_as(&self, state: &mut State, member: MemberId) -> u8 {
        let settings = self
            .configuration
            .machine_settings(member.as_str(), state.born);
        let is_slow = self.configuration.has_slow_clock && member.as_str() == "m0";
        let process = Process::new(member, settings, if is_slow { 9 } else { 10 });
        state.born += 1;
        state.processes.push(Some(Arc::new(process)));
        state.born - 1
    }

    /// The members with which the search begins join and come to rest.
    pub(super) fn settle(&self, state: &mut State) {
        let now_ms = state.now_ms(STEP_MS);
        for process in 0..self.configuration.settled {
            self.with(state, process, |it| it.start(now_ms));
            for _ in 0..SETTLING {
                let Some(next) = self.next_peacefully(state) else {
                    break;
                };
                *state = next;
            }
        }
    }

    /// The state after something that goes well; none if all is at rest.
    fn next_peacefully(&self, state: &State) -> Option<State> {
        let mut actions = Vec::new();
        self.list(state, &mut actions);
        let goes_well = |action: &Action| {
            matches!(
                action,
                Action::Serve { again: false, .. }
                    | Action::Commit { .. }
                    | Action::Hear { .. }
                    | Action::News { .. }
                    | Action::WorkerEnds { .. }
            )
        };
        let mut going = actions.into_iter().filter(goes_well);
        going.find_map(|action| self.next_state(state, action))
    }
}
