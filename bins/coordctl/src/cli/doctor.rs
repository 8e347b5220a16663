//! The command that looks everything over.

use clap::Args;

use super::HumanDuration;

#[derive(Debug, Args)]
pub(crate) struct DoctorArgs {
    /// After how long a change of the shard count that has not moved is said to stand still
    #[arg(long, default_value = "2min", value_name = "DURATION")]
    pub(crate) stuck_after: HumanDuration,

    /// For how long refused heartbeats are counted, where a coordinator has refused any since it began; a member that is out of its group tries again up to 30 s later [default: 35s]
    #[arg(long, value_name = "DURATION")]
    pub(crate) count_for: Option<HumanDuration>,
}
