//! What makes a world: how many members and shards, what may go wrong, and what must be reached for the result to mean anything.

use coordinator_core::assign::Sticky;
use coordinator_core::settings::{Settings, Timing};
use coordinator_core::time::Millis;
use member_client::machine::MachineSettings;

use super::bounds::Bounds;
use super::record_store::StoreFaults;
use super::seen::Reached;

/// One step of time: the heartbeat interval. A lease is two of them.
pub(super) const STEP_MS: u64 = 2_000;
/// A member lease in steps.
pub(super) const LEASE_STEPS: u64 = 2;

/// A world to be searched.
#[derive(Clone, Debug)]
pub struct Configuration {
    /// What it is called.
    pub name: &'static str,
    /// How many members there are. The first has all shards when the search begins.
    pub members: u8,
    /// How many of them are in the group when the search begins.
    pub settled: u8,
    /// How many shards there are.
    pub shards: u32,
    /// The number of shards that is asked for, where that may be.
    pub scale_to: u32,
    /// How much may happen.
    pub bounds: Bounds,
    /// Whether begin and commit are two steps, with two coordinators between which all else may happen.
    pub splits_commits: bool,
    /// Whether an answer is heard as soon as it is given, unless its process has given up waiting.
    pub hears_at_once: bool,
    /// Whether processes are told of newer versions between their heartbeats.
    pub has_news: bool,
    /// Whether invariant 9 is promised: nothing but messages goes wrong.
    pub promises_peace: bool,
    /// Whether the clock of the first member is slower than the true time by a tenth.
    pub has_slow_clock: bool,
    /// In steps.
    pub rebalance_timeout: u64,
    /// What must be reached.
    pub reaches: &'static [Reached],
    /// Whether requests carry neither the name of the process nor their position.
    pub is_plain: bool,
    /// What the store leaves out.
    pub store_faults: StoreFaults,
    /// The rule of the core or of the machine that is broken on purpose.
    #[cfg(feature = "planted")]
    pub planted: Option<crate::planted::Planted>,
}

impl Configuration {
    /// A world of two members, one of which is in, and two shards, in which nothing goes wrong.
    #[must_use]
    pub fn quiet(name: &'static str) -> Self {
        Self {
            name,
            members: 2,
            settled: 1,
            shards: 2,
            scale_to: 0,
            bounds: Bounds::default(),
            splits_commits: false,
            hears_at_once: true,
            has_news: false,
            promises_peace: false,
            has_slow_clock: false,
            rebalance_timeout: 1_000,
            reaches: &[],
            is_plain: false,
            store_faults: StoreFaults::default(),
            #[cfg(feature = "planted")]
            planted: None,
        }
    }

    /// The settings of the group.
    #[must_use]
    pub fn settings(&self) -> Settings {
        let timing = Timing {
            heartbeat_interval: Millis::new(STEP_MS),
            member_lease_ttl: Millis::new(LEASE_STEPS * STEP_MS),
            rebalance_timeout: Millis::new(self.rebalance_timeout * STEP_MS),
            stale_member_retention: Millis::new(1_000 * STEP_MS),
        };
        let settings =
            Settings::validated(timing, &Sticky).expect("a lease of two intervals can work");
        #[cfg(feature = "planted")]
        let settings = self
            .planted
            .map_or(settings, |planted| planted.in_group(settings));
        settings
    }

    /// The settings of a process of a member.
    pub(super) fn machine_settings(&self, member: &str, process: u8) -> MachineSettings {
        let settings = MachineSettings {
            heartbeat_interval_ms: STEP_MS,
            member_lease_ttl_ms: LEASE_STEPS * STEP_MS,
            rejoin_backoff_ms: 1,
            rejoin_backoff_max_ms: 1,
            ..MachineSettings::new(member, format!("p{process}"))
        };
        #[cfg(feature = "planted")]
        let settings = match self.planted {
            Some(planted) => planted.in_machine(settings),
            None => settings,
        };
        settings
    }
}
