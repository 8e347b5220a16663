//! Which rule of the core or of the machine is broken on purpose in a run. Only with the feature `planted`; the store's faults are options of their own.

pub use coordinator_core::planted::Fault;
use coordinator_core::settings::Settings;
pub use member_client::machine::MachineFault;
use member_client::machine::MachineSettings;

/// A rule that is broken on purpose.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planted {
    /// One of the core.
    Core(Fault),
    /// One of the member machine.
    Machine(MachineFault),
}

impl Planted {
    /// The settings of a group, with the fault if it is one of the core.
    #[must_use]
    pub const fn in_group(self, settings: Settings) -> Settings {
        match self {
            Self::Core(fault) => settings.with_planted(fault),
            Self::Machine(_) => settings,
        }
    }

    /// The settings of a process, with the fault if it is one of the machine.
    #[must_use]
    pub fn in_machine(self, settings: MachineSettings) -> MachineSettings {
        match self {
            Self::Core(_) => settings,
            Self::Machine(fault) => MachineSettings {
                planted: Some(fault),
                ..settings
            },
        }
    }
}
