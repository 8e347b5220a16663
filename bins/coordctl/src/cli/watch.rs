//! The command that keeps looking.

use clap::Args;

use super::HumanDuration;

#[derive(Debug, Args)]
pub(crate) struct WatchArgs {
    /// The stream [default: all groups]
    pub(crate) stream: Option<String>,

    /// The group [default: the one named like the stream]
    pub(crate) group: Option<String>,

    /// How often to look; most changes of a single group are told by the coordinator at once
    #[arg(long, default_value = "1s", value_name = "DURATION")]
    pub(crate) interval: HumanDuration,
}
