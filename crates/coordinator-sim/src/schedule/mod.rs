//! Which action comes next, drawn at random from what makes sense in the world as it is. It changes nothing.

mod trouble;

use crate::action::Action;
use crate::choices::Choices;
use crate::options::Options;
use crate::world::{COORDINATORS, World};

/// More stages than any work has.
const TO_THE_END: usize = 40;

/// Draws actions.
#[derive(Debug)]
pub(crate) struct Schedule {
    choices: Choices,
    weights: [u32; 15],
    loses_writes: bool,
    jumps: bool,
    /// A process that hears nothing, and for how many more actions.
    deaf: Option<(usize, usize)>,
}

impl Schedule {
    pub(crate) fn new(seed: u64, options: &Options) -> Self {
        let it = &options.weights;
        Self {
            choices: Choices::new(seed),
            weights: [
                it.time,
                it.exchanges,
                it.arrivals,
                it.answers,
                it.stages,
                it.losses,
                it.work,
                it.publishing,
                it.pauses,
                it.processes,
                it.coordinators,
                it.store,
                it.admins,
                it.chores,
                it.lag,
            ],
            loses_writes: options.lost_writes,
            jumps: options.clock_jumps,
            deaf: None,
        }
    }

    /// The next action.
    pub(crate) fn next(&mut self, world: &World) -> Action {
        self.choose_deaf(world);
        let drawn = match self.choices.weighted(&self.weights) {
            0 => None,
            1 => self.exchange(world),
            2 => self.arrival(world),
            3 => self.answer(world),
            4 => Some(self.stages(world)),
            5 => self.loss(world),
            6 => self.work(world),
            7 => Some(self.producer(world)),
            8 => self.pause(world),
            9 => self.process(world),
            10 => Some(self.coordinator_trouble(world)),
            11 => Some(self.store_trouble(world)),
            12 => Some(self.admin()),
            13 => Some(self.chore()),
            _ => Some(self.lag(world)),
        };
        drawn.unwrap_or_else(|| self.time(world))
    }

    /// Now and then a process is cut off for longer than chance alone would do it; what it says still arrives.
    fn choose_deaf(&mut self, world: &World) {
        self.deaf = match self.deaf {
            Some((process, left)) if left > 0 => Some((process, left - 1)),
            _ if self.choices.chance(2) => {
                let left = self.choices.below(60) + 10;
                self.living(world).map(|process| (process, left))
            }
            _ => None,
        };
    }

    fn hears(&self, index: usize) -> bool {
        self.deaf.is_none_or(|(deaf, _)| deaf != index)
    }

    fn coordinator(&mut self) -> usize {
        self.choices.below(COORDINATORS)
    }

    fn time(&mut self, world: &World) -> Action {
        let heartbeat = world.setup.heartbeat_ms;
        let ms = match self.choices.below(20) {
            0..=7 => self.choices.within(1, 20),
            8..=14 => self.choices.within(20, heartbeat / 3),
            15..=18 => self.choices.within(heartbeat / 3, heartbeat),
            _ => self.choices.within(heartbeat, world.setup.lease_ms * 5 / 4),
        };
        Action::Pass { ms }
    }

    /// A process for which something holds; none if there is none.
    fn process_with(&mut self, world: &World, holds: impl Fn(usize) -> bool) -> Option<usize> {
        let fitting: Vec<usize> = (0..world.processes.len())
            .filter(|index| holds(*index))
            .collect();
        (!fitting.is_empty()).then(|| fitting[self.choices.below(fitting.len())])
    }

    fn sender(&mut self, world: &World) -> Option<usize> {
        self.process_with(world, |index| world.network.under_way(index).0 > 0)
    }

    fn hearer(&mut self, world: &World) -> Option<usize> {
        let deaf = self.deaf.map(|(deaf, _)| deaf);
        self.process_with(world, |index| {
            deaf != Some(index) && world.network.under_way(index).1 > 0
        })
    }

    fn living(&mut self, world: &World) -> Option<usize> {
        self.process_with(world, |index| !world.processes[index].is_over())
    }

    fn exchange(&mut self, world: &World) -> Option<Action> {
        let process = self.sender(world).filter(|process| self.hears(*process))?;
        let coordinator = self.coordinator();
        Some(Action::Exchange {
            process,
            coordinator,
        })
    }

    fn hold(&mut self, world: &World) -> u64 {
        match self.choices.below(10) {
            0..=5 => 0,
            6..=8 => self.choices.within(1, world.setup.heartbeat_ms),
            _ => self.choices.within(1, world.setup.lease_ms * 3 / 2),
        }
    }

    fn how_many_stages(&mut self) -> usize {
        if self.choices.chance(50) {
            TO_THE_END
        } else {
            self.choices.below(6)
        }
    }

    fn arrival(&mut self, world: &World) -> Option<Action> {
        let process = self.sender(world)?;
        let (requests, _) = world.network.under_way(process);
        Some(Action::Arrive {
            process,
            nth: self.choices.below(requests),
            coordinator: self.coordinator(),
            copy: self.choices.chance(25),
            stages: self.how_many_stages(),
            hold_ms: self.hold(world),
        })
    }

    fn answer(&mut self, world: &World) -> Option<Action> {
        let process = self.hearer(world)?;
        let (_, answers) = world.network.under_way(process);
        Some(Action::Answer {
            process,
            nth: self.choices.below(answers),
            copy: self.choices.chance(15),
        })
    }

    fn stages(&mut self, world: &World) -> Action {
        Action::Stages {
            coordinator: self.coordinator(),
            group: self.choices.below(world.setup.groups),
            stages: self.choices.below(5) + 1,
            hold_ms: self.hold(world),
        }
    }

    fn loss(&mut self, world: &World) -> Option<Action> {
        if self.choices.chance(50) {
            let process = self.sender(world)?;
            let nth = self.choices.below(world.network.under_way(process).0);
            let is_noticed = self.choices.chance(30);
            Some(Action::LoseRequest {
                process,
                nth,
                is_noticed,
            })
        } else {
            let process = self.hearer(world)?;
            let nth = self.choices.below(world.network.under_way(process).1);
            Some(Action::LoseAnswer { process, nth })
        }
    }

    fn work(&mut self, world: &World) -> Option<Action> {
        let process = self.process_with(world, |index| !world.processes[index].workers.is_empty());
        let Some(process) = process else {
            return Some(Action::Hint {
                process: self.living(world)?,
            });
        };
        let workers = &world.processes[process].workers;
        Some(match self.choices.below(10) {
            0 => Action::Hint { process },
            1..=4 => {
                let nth = self.choices.below(workers.len());
                let shard = workers.keys().nth(nth).copied().unwrap_or(0);
                Action::WorkOne { process, shard }
            }
            _ => Action::Work {
                process,
                steps: self.choices.below(6) + 1,
            },
        })
    }

    fn producer(&mut self, world: &World) -> Action {
        let producer = self.choices.below(world.producers.len());
        if self.choices.chance(8) {
            return Action::Refresh { producer };
        }
        // The least common multiple of all counts, so that every shard is as likely.
        let key = u32::try_from(self.choices.below(60)).unwrap_or(0);
        Action::Publish { producer, key }
    }
}
