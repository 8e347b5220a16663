//! One group of a script with its clients: decides, applies, and checks after each command that nothing is wrong (rule M4).

use std::collections::BTreeMap;

use coordinator_core::Group;
use coordinator_core::input::{Heartbeat, Input};
use coordinator_core::step::{Effect, Rejection, Reply, Step};
use coordinator_core::time::Clock;
use coordinator_core::write::Write;

use super::client::Client;
use super::view::View;

/// A group and those who speak to it.
pub struct Play {
    pub group: Group,
    pub clients: BTreeMap<String, Client>,
    effects: Vec<Effect>,
    shown: View,
}

impl Play {
    pub fn new(group: Group) -> Self {
        Self {
            group,
            clients: BTreeMap::new(),
            effects: Vec::new(),
            shown: View::default(),
        }
    }

    /// Decides and applies. The error says which check failed.
    pub fn command(
        &mut self,
        clock: Clock,
        input: &Input,
    ) -> Result<Result<Step, Rejection>, String> {
        let step = match self.group.decide(clock, input) {
            Ok(step) => step,
            Err(rejection) => return Ok(Err(rejection)),
        };
        if let Input::HeartbeatReceived(heartbeat) = input {
            self.check_short_way(clock, heartbeat, &step)?;
        }
        let before = self.group.clone();
        self.group.apply(&step.writes);
        self.effects.clone_from(&step.effects);
        let mut violations = self.group.check_invariants();
        violations.extend(self.group.check_succession(&before));
        if let Some(violation) = violations.first() {
            return Err(format!("an invariant is broken: {violation}"));
        }
        let restored = Group::restore(self.group.record().clone(), *self.group.settings());
        match restored {
            Ok(_) => Ok(Ok(step)),
            Err(error) => Err(format!("the record could not be restored: {error}")),
        }
    }

    /// Rule H17: where nothing is due, the short way of quiet heartbeats decides the same.
    fn check_short_way(
        &self,
        clock: Clock,
        heartbeat: &Heartbeat,
        step: &Step,
    ) -> Result<(), String> {
        let is_due = |group: &Group| {
            let tick = group.decide(clock, &Input::TickDue);
            tick.is_ok_and(|tick| !tick.writes.is_empty())
        };
        let Some(steady) = self.group.decide_steady(heartbeat, clock.doubted_at) else {
            return Ok(());
        };
        if is_due(&self.group) {
            return Ok(());
        }
        // The short way does not know the moment: whether a longer promise still runs (rule M7) is noted by the long one only.
        let is_note = |write: &Write| matches!(write, Write::MemberReported { .. });
        let is_same = Reply::Heartbeat(steady.reply.clone()) == step.reply
            && steady.renews_lease == step.writes.iter().any(is_about_a_lease)
            && step
                .writes
                .iter()
                .all(|write| is_about_a_lease(write) || is_note(write));
        if is_same {
            return Ok(());
        }
        Err(format!(
            "the short way decides {steady:?}, the long one {step:?}"
        ))
    }

    /// The store gives back another record.
    pub fn replace(&mut self, group: Group) {
        self.group = group;
        self.effects.clear();
    }

    /// Everything is shown as if it were new.
    pub fn show_all(&mut self) {
        self.shown = View::default();
    }

    /// The lines that changed since they were last shown.
    pub fn changes(&mut self) -> Vec<String> {
        let view = View::of(&self.group, &self.effects);
        let lines = view.changes(&self.shown);
        self.shown = view;
        lines
    }
}

pub const fn is_about_a_lease(write: &Write) -> bool {
    matches!(write, Write::LeaseSet { .. })
}
