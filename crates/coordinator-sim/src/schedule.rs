//! Which action comes next, drawn at random from what makes sense in the world as it is. It changes nothing.

use crate::action::{Action, ShownLag};
use crate::choices::Choices;
use crate::options::Options;
use crate::setup::MOST_SHARDS;
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
        }
    }

    /// The next action.
    pub(crate) fn next(&mut self, world: &World) -> Action {
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
        self.process_with(world, |index| world.network.under_way(index).1 > 0)
    }

    fn living(&mut self, world: &World) -> Option<usize> {
        self.process_with(world, |index| !world.processes[index].is_over())
    }

    fn exchange(&mut self, world: &World) -> Option<Action> {
        let process = self.sender(world)?;
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

    fn pause(&mut self, world: &World) -> Option<Action> {
        let process = self.living(world)?;
        let lease = world.setup.lease_ms;
        let ms = if self.choices.chance(50) {
            self.choices.within(1, lease / 2)
        } else {
            self.choices.within(lease / 2, lease * 2)
        };
        Some(Action::PauseProcess { process, ms })
    }

    fn process(&mut self, world: &World) -> Option<Action> {
        let member = self.choices.below(world.setup.members.len());
        Some(match self.choices.below(10) {
            0..=1 => Action::Crash {
                process: self.living(world)?,
            },
            2 => Action::ShutDown {
                process: self.living(world)?,
            },
            3 => Action::Start {
                member,
                beside: true,
            },
            _ => Action::Start {
                member,
                beside: false,
            },
        })
    }

    fn coordinator_trouble(&mut self, world: &World) -> Action {
        let coordinator = self.coordinator();
        let up = world.coordinators.iter().filter(|it| it.is_up).count();
        if !world.coordinators[coordinator].is_up {
            return Action::StartCoordinator { coordinator };
        }
        let lease = world.setup.lease_ms;
        match self.choices.below(6) {
            0..=1 if up == COORDINATORS || self.choices.chance(30) => {
                Action::CrashCoordinator { coordinator }
            }
            2 => Action::PauseCoordinator {
                coordinator,
                ms: self.choices.within(lease / 2, lease * 2),
            },
            _ => Action::PauseCoordinator {
                coordinator,
                ms: self.choices.within(1, lease / 2),
            },
        }
    }

    fn store_trouble(&mut self, world: &World) -> Action {
        let lease = world.setup.lease_ms;
        match self.choices.below(10) {
            0..=1 => Action::StoreAway {
                ms: self.choices.within(1, lease / 3),
            },
            2 => Action::StoreAway {
                ms: self.choices.within(1, lease * 3 / 2),
            },
            3..=4 if self.loses_writes => Action::FailOver {
                behind: self.choices.below(6),
            },
            5 if self.jumps => {
                let by = i64::try_from(self.choices.within(world.setup.gap_ms * 2, lease * 4))
                    .unwrap_or(0);
                Action::JumpClock {
                    ms: if self.choices.chance(50) { by } else { -by },
                }
            }
            _ => Action::LoseCommitAnswer {
                is_applied: self.choices.chance(60),
                is_read_back: self.choices.chance(50),
            },
        }
    }

    fn admin(&mut self) -> Action {
        let coordinator = self.coordinator();
        if self.choices.chance(30) {
            return Action::RollBack { coordinator };
        }
        let target = match self.choices.below(8) {
            0 => 0,
            _ => u32::try_from(self.choices.below(MOST_SHARDS as usize)).unwrap_or(0) + 1,
        };
        Action::Scale {
            coordinator,
            target,
        }
    }

    fn chore(&mut self) -> Action {
        Action::Chore {
            coordinator: self.coordinator(),
            stages: self.choices.below(6) + 1,
            hold_ms: if self.choices.chance(70) {
                0
            } else {
                self.choices.within(1, 4_000)
            },
        }
    }

    fn lag(&mut self, world: &World) -> Action {
        let lags = [
            ShownLag::True,
            ShownLag::Unknown,
            ShownLag::Zero,
            ShownLag::TooHigh,
        ];
        Action::BendLag {
            shard: u32::try_from(self.choices.below(MOST_SHARDS as usize)).unwrap_or(0),
            group: self.choices.below(world.setup.groups),
            lag: lags[self.choices.below(lags.len())],
        }
    }
}
