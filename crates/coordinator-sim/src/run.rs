//! One run: a world, its actions, and what came of it.

use crate::action::Action;
use crate::calm;
use crate::choices::mix;
use crate::counts::Counts;
use crate::options::Options;
use crate::replay::Replay;
use crate::schedule::Schedule;
use crate::violation::Violation;
use crate::world::World;

/// What came of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// The seed of it.
    pub seed: u64,
    /// What must never be, if it was seen.
    pub violation: Option<Violation>,
    /// What happened.
    pub counts: Counts,
    /// What was done, in order, up to the violation; the calm at the end left out.
    pub actions: Vec<Action>,
}

/// Runs a world with actions drawn at random. Same seed and same options: same run.
#[must_use]
pub fn simulate(seed: u64, options: &Options) -> Outcome {
    let (world, actions) = drawn(seed, options, false);
    outcome(world, actions)
}

/// Plays a list of actions in the world of its seed.
#[must_use]
pub fn replay(replay: &Replay) -> Outcome {
    outcome(played(replay, false), replay.actions.clone())
}

/// What happened in a run, as JSON lines: of the actions drawn from a seed, or of a list of them.
#[must_use]
pub fn events_of(seed: u64, options: &Options, actions: Option<&[Action]>) -> Vec<String> {
    let world = match actions {
        None => drawn(seed, options, true).0,
        Some(actions) => {
            let replay = Replay {
                seed,
                options: options.clone(),
                actions: actions.to_vec(),
            };
            played(&replay, true)
        }
    };
    world.journal.into_lines()
}

fn drawn(seed: u64, options: &Options, keeps_journal: bool) -> (World, Vec<Action>) {
    let mut world = World::new(seed, options, keeps_journal);
    let mut schedule = Schedule::new(mix(seed, 2), options);
    let mut actions = Vec::with_capacity(options.steps);
    while actions.len() < options.steps && world.violation.is_none() {
        let action = schedule.next(&world);
        world.apply(&action);
        actions.push(action);
    }
    (finished(world), actions)
}

fn played(replay: &Replay, keeps_journal: bool) -> World {
    let mut world = World::new(replay.seed, &replay.options, keeps_journal);
    for action in &replay.actions {
        if world.violation.is_some() {
            break;
        }
        world.apply(action);
    }
    finished(world)
}

fn finished(mut world: World) -> World {
    world.counts.steps = world.step as u64;
    if world.violation.is_none() && world.options.demands_rest {
        calm::demand_rest(&mut world);
    }
    world.counts.published = world.streams.published();
    world.counts.handled = world.streams.handled();
    world
}

fn outcome(world: World, actions: Vec<Action>) -> Outcome {
    Outcome {
        seed: world.setup.seed,
        violation: world.violation,
        counts: world.counts,
        actions,
    }
}
