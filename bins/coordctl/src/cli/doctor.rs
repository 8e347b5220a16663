//! The command that looks everything over.

use clap::Args;

use super::HumanDuration;

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// After how long a change of the shard count that has not moved is said to stand still
    #[arg(long, default_value = "2min", value_name = "DURATION")]
    pub(crate) stuck_after: HumanDuration,
}
