//! Commands about a stream as a whole.

use clap::{Args, Subcommand};

use super::{Asker, Change, Waiting};

/// Create streams, change their shard count, delete them.
#[derive(Debug, Subcommand)]
pub(crate) enum StreamCommand {
    /// Create a stream, its shards, and the group named like it
    Create(CreateStreamArgs),
    /// Change the number of shards, while records flow; shows the plan unless told --execute
    Scale(ScaleArgs),
    /// Delete every group of a stream; shows the plan unless told --execute
    Delete(DeleteStreamArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CreateStreamArgs {
    /// The stream
    pub(crate) stream: String,

    /// Shards to begin with [default: the coordinator's]
    #[arg(long, value_name = "COUNT")]
    pub(crate) shards: Option<u32>,

    /// Why, for the audit
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,

    #[command(flatten)]
    pub(crate) asker: Asker,
}

#[derive(Debug, Args)]
pub(crate) struct ScaleArgs {
    /// The stream
    pub(crate) stream: String,

    /// Shards to end with
    #[arg(value_name = "COUNT")]
    pub(crate) shards: u32,

    #[command(flatten)]
    pub(crate) change: Change,

    #[command(flatten)]
    pub(crate) waiting: Waiting,
}

#[derive(Debug, Args)]
pub(crate) struct DeleteStreamArgs {
    /// The stream
    pub(crate) stream: String,

    /// Also from under members that are live
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) change: Change,
}
