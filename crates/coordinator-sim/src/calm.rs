//! The end of a run: faults stop, messages arrive, workers work, and progress is demanded. Nothing here is drawn at random.

use crate::action::Action;
use crate::invariants::comes_to_rest;
use crate::violation::Invariant;
use crate::world::{COORDINATORS, World};

/// How long everything may take to come to rest, in leases: a lease until the coordinators are trusted to have watched, one in quarantine, one
/// in which nothing is granted, handoffs; and a member that was thrown out twice stands aside for several (case C22).
const LEASES: u64 = 40;

/// Faults stop; says so if rest is not reached in time.
pub(crate) fn demand_rest(world: &mut World) {
    let before = world.step;
    end_faults(world);
    let until = world.now + LEASES * world.setup.lease_ms;
    while world.violation.is_none() {
        if comes_to_rest::check(world).is_none() {
            break;
        }
        if world.now >= until {
            let missing = comes_to_rest::check(world).unwrap_or_default();
            world.found(Invariant::ComesToRest, missing);
            break;
        }
        round(world);
    }
    world.counts.steps = before as u64;
}

fn end_faults(world: &mut World) {
    world.note("calm", || "faults stop".to_owned());
    world.network.lose_everything();
    // No message of an earlier process is under way any more.
    world.most_processes = usize::MAX;
    world.store.away_until_ms = 0;
    world.store.lost_answer = None;
    world.streams.show_true_lags();
    for coordinator in 0..COORDINATORS {
        world.apply(&Action::StartCoordinator { coordinator });
        world.coordinators[coordinator].paused_until = 0;
    }
    for index in 0..world.processes.len() {
        if world.processes[index].is_replaced {
            world.crash_process(index);
        } else if world.processes[index].is_paused() {
            world.processes[index].life = crate::member::Life::PausedUntil(world.now);
            world.wake(index);
        }
    }
    for producer in 0..world.producers.len() {
        world.refresh(producer);
    }
}

/// Everything under way arrives, and everybody goes on with its work.
fn round(world: &mut World) {
    let ms = world.setup.heartbeat_ms / 4;
    world.apply(&Action::Pass { ms });
    for member in 0..world.setup.members.len() {
        world.apply(&Action::Start {
            member,
            beside: false,
        });
    }
    for process in 0..world.processes.len() {
        if world.violation.is_some() {
            return;
        }
        if world.processes[process].is_over() {
            continue;
        }
        let coordinator = (process + world.step) % COORDINATORS;
        while world.network.under_way(process).0 > 0 && world.violation.is_none() {
            world.apply(&Action::Exchange {
                process,
                coordinator,
            });
        }
        while world.network.under_way(process).1 > 0 {
            world.apply(&Action::Answer {
                process,
                nth: 0,
                copy: false,
            });
        }
        world.apply(&Action::Work { process, steps: 8 });
    }
}
