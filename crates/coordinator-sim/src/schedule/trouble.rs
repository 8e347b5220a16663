//! What befalls processes, coordinators and the store, and what operators ask for, drawn at random.

use super::Schedule;
use crate::action::{Action, ShownLag};
use crate::setup::MOST_SHARDS;
use crate::world::{COORDINATORS, World};

impl Schedule {
    pub(super) fn pause(&mut self, world: &World) -> Option<Action> {
        let process = self.living(world)?;
        let lease = world.setup.lease_ms;
        let ms = if self.choices.chance(50) {
            self.choices.within(1, lease / 2)
        } else {
            self.choices.within(lease / 2, lease * 2)
        };
        Some(Action::PauseProcess { process, ms })
    }

    pub(super) fn process(&mut self, world: &World) -> Option<Action> {
        let member = self.choices.below(world.setup.members.len());
        Some(match self.choices.below(10) {
            0..=1 => Action::Crash {
                process: self.living(world)?,
            },
            2 => Action::ShutDown {
                process: self.living(world)?,
            },
            3..=4 => Action::Start {
                member,
                beside: true,
            },
            _ => Action::Start {
                member,
                beside: false,
            },
        })
    }

    pub(super) fn coordinator_trouble(&mut self, world: &World) -> Action {
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

    pub(super) fn store_trouble(&mut self, world: &World) -> Action {
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

    pub(super) fn admin(&mut self) -> Action {
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

    pub(super) fn chore(&mut self) -> Action {
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

    pub(super) fn lag(&mut self, world: &World) -> Action {
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
