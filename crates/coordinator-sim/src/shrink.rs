//! A failing run made short: actions are left out for as long as the same invariant still fails. What an action means is not known here.

use crate::action::Action;
use crate::replay::Replay;
use crate::run::{Outcome, replay};

/// The most runs that are tried.
const TRIALS: usize = 3_000;

/// The shortest list found, by leaving out chunks and then single actions, that breaks the same invariant. The run as it is where it breaks none.
#[must_use]
pub fn shrink(run: &Replay) -> Replay {
    let Some(violation) = replay(run).violation else {
        return run.clone();
    };
    let mut trials = 0;
    let mut fails = |actions: &[Action]| {
        trials += 1;
        let trial = Replay {
            actions: actions.to_vec(),
            ..run.clone()
        };
        let outcome: Outcome = replay(&trial);
        let same = outcome
            .violation
            .is_some_and(|found| found.invariant == violation.invariant);
        (same, trials < TRIALS)
    };
    let mut actions = run.actions.clone();
    let in_run = violation.step < actions.len();
    if in_run {
        actions.truncate(violation.step + 1);
    }
    let mut chunk = (actions.len() / 2).max(1);
    loop {
        let mut position = 0;
        let mut got_shorter = false;
        while position < actions.len() {
            let end = (position + chunk).min(actions.len());
            let mut without = actions.clone();
            without.drain(position..end);
            let (same, goes_on) = fails(&without);
            if same {
                actions = without;
                got_shorter = true;
            } else {
                position = end;
            }
            if !goes_on {
                return Replay {
                    actions,
                    ..run.clone()
                };
            }
        }
        if chunk == 1 {
            got_shorter |= merge_pauses(&mut actions, &mut fails);
        }
        if chunk == 1 && !got_shorter {
            return Replay {
                actions,
                ..run.clone()
            };
        }
        chunk = (chunk / 2).max(1);
    }
}

/// Two stretches of time, one after the other, are tried as one. Says whether that did.
fn merge_pauses(
    actions: &mut Vec<Action>,
    fails: &mut impl FnMut(&[Action]) -> (bool, bool),
) -> bool {
    let mut position = 0;
    let mut merged = false;
    while position + 1 < actions.len() {
        if let [Action::Pass { ms: first }, Action::Pass { ms: second }] =
            actions[position..position + 2]
        {
            let mut shorter = actions.clone();
            shorter[position] = Action::Pass { ms: first + second };
            shorter.remove(position + 1);
            let (same, goes_on) = fails(&shorter);
            if same {
                *actions = shorter;
                merged = true;
                continue;
            }
            if !goes_on {
                break;
            }
        }
        position += 1;
    }
    merged
}
