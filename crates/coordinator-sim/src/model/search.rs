//! Runs the search of one world and says what came of it, a counterexample in words that can be read.

use std::collections::BTreeSet;
use std::fmt;

use stateright::{Checker, HasDiscoveries, Model};

use super::configuration::{Configuration, STEP_MS};
use super::seen::Reached;
use super::state::State;
use super::{Action, World};

/// What came of a search.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The world.
    pub name: &'static str,
    /// How many states were made, the same one counted as often as it was reached.
    pub states: usize,
    /// How many different states there are.
    pub unique: usize,
    /// The number of steps to the state that is furthest away.
    pub depth: usize,
    /// What is wrong, if anything is.
    pub counterexample: Option<Counterexample>,
    /// What was reached.
    pub reached: BTreeSet<Reached>,
    /// What should have been and was not.
    pub missed: Vec<Reached>,
}

/// The way to a state in which an invariant does not hold.
#[derive(Clone, Debug)]
pub struct Counterexample {
    /// The number of the invariant, or the id of the rule.
    pub invariant: &'static str,
    /// What is wrong.
    pub what: String,
    /// The steps.
    pub steps: Vec<String>,
}

impl fmt::Display for Checked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "model {}: {} states, {} unique, depth {}",
            self.name, self.states, self.unique, self.depth
        )?;
        if let Some(wrong) = &self.counterexample {
            write!(f, "\n{wrong}")?;
        }
        for missed in &self.missed {
            write!(f, "\nnever reached: {missed}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "broken: {}: {}", self.invariant, self.what)?;
        for (number, step) in self.steps.iter().enumerate() {
            write!(f, "\n{:>3}  {step}", number + 1)?;
        }
        Ok(())
    }
}

/// Visits every state of a world, or as many as it takes to find something wrong.
#[must_use]
pub fn check(configuration: Configuration) -> Checked {
    let (name, reaches) = (configuration.name, configuration.reaches);
    let checker = World::new(configuration)
        .checker()
        .finish_when(HasDiscoveries::AnyFailures)
        .spawn_bfs()
        .join();
    let reached = checker.model().seen.all();
    let found = checker.discoveries().into_values().next();
    Checked {
        name,
        states: checker.state_count(),
        unique: checker.unique_state_count(),
        depth: checker.max_depth(),
        counterexample: found.map(|path| tell(&path.into_vec())),
        missed: reaches
            .iter()
            .copied()
            .filter(|reach| !reached.contains(reach))
            .collect(),
        reached,
    }
}

fn tell(path: &[(State, Option<Action>)]) -> Counterexample {
    let last = path.last().and_then(|(state, _)| state.wrong.clone());
    let (invariant, what) = last.map_or(("", String::new()), |wrong| {
        (wrong.invariant, wrong.what.to_string())
    });
    let steps = path.windows(2).filter_map(|pair| {
        let action = pair[0].1?;
        Some(format!(
            "{} → {}",
            words(&pair[0].0, action),
            summary(&pair[1].0)
        ))
    });
    Counterexample {
        invariant,
        what,
        steps: steps.collect(),
    }
}

/// An action, with what it speaks of.
fn words(before: &State, action: Action) -> String {
    match action {
        Action::Serve { request, .. } => {
            let sent = &before.requests[usize::from(request)].heartbeat;
            format!(
                "{action}: {} epoch {} v{} owned {:?} revoking {:?}",
                sent.request.as_str(),
                sent.epoch,
                sent.version,
                sent.owned.as_slice(),
                sent.revoking
            )
        }
        Action::Hear { process, answer } => {
            let heard = before.processes[usize::from(process)]
                .as_ref()
                .and_then(|process| process.answers.get(usize::from(answer)));
            let heard = heard.map(|reply| {
                format!(
                    "{:?} epoch {} v{} assigned {:?} pending {:?}",
                    reply.status,
                    reply.member_epoch,
                    reply.metadata_version,
                    reply.assigned.as_slice(),
                    reply.pending.as_slice()
                )
            });
            format!("{action}: {}", heard.unwrap_or_default())
        }
        other => other.to_string(),
    }
}

/// The state in short: the group, then each process.
fn summary(state: &State) -> String {
    let record = state.store.group.record();
    let now_ms = state.now_ms(STEP_MS);
    let mut text = format!(
        "t{} v{} epoch {}",
        state.now, record.metadata_version, record.group_epoch
    );
    for (id, member) in &record.members {
        let holds: Vec<u32> = member.holdings.iter().map(|it| it.shard.get()).collect();
        text += &format!("; {id} {:?} holds {holds:?}", member.state);
    }
    for quarantine in &record.quarantines {
        let holds: Vec<u32> = quarantine
            .holdings
            .iter()
            .map(|it| it.shard.get())
            .collect();
        text += &format!("; quarantine of {} {holds:?}", quarantine.member);
    }
    for (index, process) in state.living() {
        let reads: Vec<u32> = process
            .workers
            .iter()
            .map(|worker| worker.shard)
            .filter(|shard| process.reads(*shard, now_ms))
            .collect();
        let (epoch, version) = process.knows();
        text += &format!(
            "; p{index}/{} epoch {epoch} v{version} reads {reads:?}",
            process.member
        );
    }
    text
}
