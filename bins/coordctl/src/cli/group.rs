//! Commands about groups.

use clap::{Args, Subcommand};

use super::{Asker, Change, GroupArgs};

/// List, show, create and delete groups.
#[derive(Debug, Subcommand)]
pub(crate) enum GroupCommand {
    /// Every group, or those of one stream
    List(ListArgs),
    /// One group
    Show(GroupArgs),
    /// Create a further group of a stream
    Create(CreateGroupArgs),
    /// Delete a group; shows the plan unless told --execute
    Delete(DeleteGroupArgs),
}

#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// Only those of this stream
    #[arg(long, value_name = "STREAM")]
    pub(crate) stream: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct CreateGroupArgs {
    /// The stream
    pub(crate) stream: String,

    /// The group
    pub(crate) group: String,

    /// Make the stream, too, with so many shards, where it does not exist; refused where it is another number than the stream has
    #[arg(long, value_name = "COUNT")]
    pub(crate) shards: Option<u32>,

    /// Why, for the audit
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,

    #[command(flatten)]
    pub(crate) asker: Asker,
}

#[derive(Debug, Args)]
pub(crate) struct DeleteGroupArgs {
    /// The stream
    pub(crate) stream: String,

    /// The group
    pub(crate) group: String,

    /// Also from under members that are live
    #[arg(long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) change: Change,
}
