//! Commands about the metadata as a file.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::Asker;

/// Save the metadata of all groups to a file, look into one, put it back.
#[derive(Debug, Subcommand)]
pub(crate) enum SnapshotCommand {
    /// Save the metadata of all groups to a file; needs the role ADMIN
    ///
    /// The file has the records of groups: streams, shard counts, versions, members, changes of the shard count. It has no leases, no secrets and nothing of what is
    /// in the shard streams. A file that is there is replaced only by one that lacks nothing: where the record of a group can't be read, or where a group of the file is not there
    /// any more, it stays as it is, and the command ends with 1. What there is, is then in FILE.partial; where there is no group at all, nothing is written.
    Save(SaveArgs),
    /// Check a file and show what is in it; asks nobody
    Inspect(FileArgs),
    /// Put the metadata of a file back; shows the plan unless told --execute; needs the role ADMIN
    ///
    /// Into a store without groups; with --force also in the place of groups that are there. Groups that are not in the file stay. Members may run: they are
    /// brought up to date as after a failover that lost writes, and for one member lease nothing new is granted.
    Restore(RestoreArgs),
}

#[derive(Debug, Args)]
pub(crate) struct FileArgs {
    /// The file
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
}

#[derive(Debug, Args)]
pub(crate) struct SaveArgs {
    #[command(flatten)]
    pub(crate) of: FileArgs,

    /// Replace the file also where groups of it are not there any more: they were deleted on purpose
    #[arg(long)]
    pub(crate) replace: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RestoreArgs {
    #[command(flatten)]
    pub(crate) of: FileArgs,

    /// Only this stream of the file, or only this group of it; may be repeated
    #[arg(long, value_name = "STREAM[/GROUP]")]
    pub(crate) only: Vec<String>,

    /// Replace groups that are there
    #[arg(long)]
    pub(crate) force: bool,

    /// Show what would happen, and change nothing; this is the default
    #[arg(long, conflicts_with = "execute")]
    pub(crate) plan: bool,

    /// Do it
    #[arg(long)]
    pub(crate) execute: bool,

    /// Why, for the audit
    #[arg(long, value_name = "TEXT")]
    pub(crate) reason: Option<String>,

    #[command(flatten)]
    pub(crate) asker: Asker,
}
