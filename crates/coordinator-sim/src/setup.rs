//! What a world is made of, from its seed: groups, members, times, clocks. Nothing changes here later.

use coordinator_core::assign::Sticky;
use coordinator_core::evidence::DrainProof;
use coordinator_core::settings::{Settings, Timing};
use coordinator_core::time::Millis;
use member_client::machine::MachineSettings;

use crate::choices::{Choices, mix};
use crate::options::Options;

/// The most shards there ever are.
pub(crate) const MOST_SHARDS: u32 = 6;
/// How often one member may have a new process. A coordinator remembers only so many (case C22).
pub(crate) const MOST_PROCESSES: usize = 7;

/// How a process names itself.
pub(crate) fn instance(process: usize) -> String {
    format!("process-{process}")
}

/// A member: which group it belongs to, and what kind of client it has.
#[derive(Clone, Debug)]
pub(crate) struct MemberPlan {
    pub(crate) name: String,
    pub(crate) group: usize,
    pub(crate) is_plain: bool,
}

/// What a world is made of.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) seed: u64,
    pub(crate) groups: usize,
    pub(crate) shards: u32,
    pub(crate) members: Vec<MemberPlan>,
    pub(crate) producers: usize,
    pub(crate) lease_ms: u64,
    pub(crate) heartbeat_ms: u64,
    pub(crate) rebalance_ms: u64,
    pub(crate) tick_ms: u64,
    pub(crate) gap_ms: u64,
    pub(crate) lock_ms: u64,
    pub(crate) settings: Settings,
    #[cfg(feature = "planted")]
    planted: Option<crate::planted::Planted>,
}

impl Setup {
    pub(crate) fn of(seed: u64, options: &Options) -> Self {
        let mut choices = Choices::new(mix(seed, 1));
        let groups = if options.two_groups && choices.chance(25) {
            2
        } else {
            1
        };
        let shards = u32::try_from(choices.within(1, u64::from(MOST_SHARDS) - 1)).unwrap_or(1);
        let mut members = Vec::new();
        for group in 0..groups {
            let count = choices.within(1, if groups == 2 { 3 } else { 4 });
            for index in 0..count {
                members.push(MemberPlan {
                    name: format!("g{group}m{index}"),
                    group,
                    is_plain: options.plain_members && choices.chance(15),
                });
            }
        }
        let lease_ms = choices.within(3, 7) * 1_000;
        let heartbeat_ms = lease_ms / choices.within(4, 5);
        let rebalance_ms = lease_ms * if choices.chance(20) { 1 } else { 4 };
        // As the engine chooses them.
        let tick_ms = (lease_ms / 40).clamp(20, 500);
        let timing = Timing {
            heartbeat_interval: Millis::new(heartbeat_ms),
            member_lease_ttl: Millis::new(lease_ms),
            rebalance_timeout: Millis::new(rebalance_ms),
            stale_member_retention: Millis::new(lease_ms * 6),
        };
        let proof = if choices.chance(25) {
            DrainProof::Entries
        } else {
            DrainProof::Lag
        };
        let settings = Settings::validated(timing, &Sticky)
            .expect("the lease is four heartbeats at least, and no time is 0")
            .with_drain_proof(proof);
        #[cfg(feature = "planted")]
        let settings = options
            .planted
            .map_or(settings, |planted| planted.in_group(settings));
        Self {
            seed,
            groups,
            shards,
            members,
            producers: 2,
            lease_ms,
            heartbeat_ms,
            rebalance_ms,
            tick_ms,
            gap_ms: (lease_ms / 10).max(tick_ms + tick_ms / 2),
            lock_ms: lease_ms * 2 / 3,
            settings,
            #[cfg(feature = "planted")]
            planted: options.planted,
        }
    }

    /// The settings of a process' machine.
    pub(crate) fn machine(&self, member: &str, process: usize) -> MachineSettings {
        let settings = MachineSettings {
            heartbeat_interval_ms: self.heartbeat_ms,
            member_lease_ttl_ms: self.lease_ms,
            shutdown_timeout_ms: self.lease_ms * 2,
            rejoin_backoff_max_ms: self.lease_ms,
            jitter_seed: mix(self.seed, 3_000 + process as u64),
            ..MachineSettings::new(member, instance(process))
        };
        #[cfg(feature = "planted")]
        let settings = match self.planted {
            Some(planted) => planted.in_machine(settings),
            None => settings,
        };
        settings
    }

    /// The clock of a process: its rate is within a tenth of the true one, and where it begins says nothing.
    pub(crate) fn clock(&self, process: usize) -> LocalClock {
        let drawn = mix(self.seed, 5_000 + process as u64);
        LocalClock {
            rate_permille: 901 + drawn % 198,
            zero_ms: (drawn >> 32) % 1_000_000,
        }
    }
}

/// A monotonic clock that runs too fast or too slow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LocalClock {
    rate_permille: u64,
    zero_ms: u64,
}

impl LocalClock {
    /// What it shows.
    pub(crate) const fn show(&self, true_ms: u64) -> u64 {
        self.zero_ms + true_ms * self.rate_permille / 1_000
    }

    /// The first true moment at which it shows at least this.
    pub(crate) const fn shows_at(&self, local_ms: u64) -> u64 {
        (local_ms.saturating_sub(self.zero_ms) * 1_000).div_ceil(self.rate_permille)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_shows_a_moment_at_the_moment_that_is_told_of_it() {
        for process in 0..50 {
            let clock = Setup::of(9, &Options::default()).clock(process);
            let local = clock.show(0) + 12_345;
            let moment = clock.shows_at(local);
            assert!(clock.show(moment) >= local && clock.show(moment - 1) < local);
        }
    }
}
