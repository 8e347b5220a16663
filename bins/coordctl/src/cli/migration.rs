//! Commands about one change of the shard count.

use clap::{Args, Subcommand};

use super::{Change, Waiting};

/// Show a change of the shard count, or take it back.
#[derive(Debug, Subcommand)]
pub(crate) enum MigrationCommand {
    /// One change: how far it is, and what it waits for
    Show(ShowMigrationArgs),
    /// Take a change back, for all groups of the stream; shows the plan unless told --execute
    Rollback(RollbackArgs),
}

/// One change.
#[derive(Debug, Args)]
pub(crate) struct ShowMigrationArgs {
    /// The stream
    pub(crate) stream: String,

    /// The change: reshard-… [default: the one under way]
    #[arg(value_name = "ID")]
    pub(crate) id: Option<String>,

    /// The group whose record is looked at [default: the one named like the stream]
    #[arg(long, value_name = "GROUP")]
    pub(crate) group: Option<String>,
}

impl ShowMigrationArgs {
    pub(crate) fn group(&self) -> &str {
        self.group.as_deref().unwrap_or(&self.stream)
    }
}

#[derive(Debug, Args)]
pub(crate) struct RollbackArgs {
    #[command(flatten)]
    pub(crate) of: ShowMigrationArgs,

    #[command(flatten)]
    pub(crate) change: Change,

    #[command(flatten)]
    pub(crate) waiting: Waiting,
}
