//! The command line: what may be said, and what it is called. What is done about it is in `run`.

mod connection;
mod context;
mod doctor;
mod duration;
mod group;
mod help;
mod local;
mod look;
mod migration;
mod mutation;
mod output;
mod snapshot;
mod stream;
mod watch;

use clap::{Parser, Subcommand};

pub(crate) use connection::{Connection, SaidOnCommandLine};
pub(crate) use context::ContextCommand;
pub(crate) use doctor::DoctorArgs;
pub(crate) use duration::HumanDuration;
pub(crate) use group::{CreateGroupArgs, DeleteGroupArgs, GroupCommand, ListArgs};
pub(crate) use local::{CompletionsArgs, HashPasswordArgs};
pub(crate) use look::{AuditArgs, GroupArgs, MessagesArgs};
pub(crate) use migration::{MigrationCommand, RollbackArgs, ShowMigrationArgs};
pub(crate) use mutation::{Asker, Change, Waiting};
pub(crate) use output::Format;
pub(crate) use snapshot::{FileArgs, RestoreArgs, SaveArgs, SnapshotCommand};
pub(crate) use stream::{CreateStreamArgs, DeleteStreamArgs, ScaleArgs, StreamCommand};
pub(crate) use watch::WatchArgs;

/// The operator's command line for the coordinator of sharded Redis Streams.
///
/// It asks a coordinator over HTTP and shows what it answers. Whatever removes or moves something (scale, delete, rollback, restore) only shows its plan
/// until it is told --execute.
#[derive(Debug, Parser)]
#[command(
    version,
    about,
    max_term_width = 100,
    after_long_help = help::EXIT_CODES,
    after_help = help::MORE
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) connection: Connection,

    /// How answers are shown; json is exactly what the coordinator sends
    #[arg(
        short,
        long,
        global = true,
        value_enum,
        env = "COORDCTL_OUTPUT",
        default_value = "table",
        value_name = "FORMAT",
        help_heading = "Output"
    )]
    pub(crate) output: Format,

    #[command(subcommand)]
    pub(crate) command: Command,
}

/// What is to be done.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    #[command(flatten)]
    Kept(KeptCommand),
    #[command(flatten)]
    Ask(AskCommand),
    #[command(flatten)]
    Local(LocalCommand),
}

/// What concerns the tokens that are kept.
#[derive(Debug, Subcommand)]
pub(crate) enum KeptCommand {
    /// Trade a user name and its password for a token, and keep it in a context
    ///
    /// The context is the one that --context names, which is made if it does not exist; else the current one; else `default`.
    Login,
    /// The coordinators and tokens that are kept
    #[command(subcommand)]
    Context(ContextCommand),
}

/// What asks a coordinator.
#[derive(Debug, Subcommand)]
pub(crate) enum AskCommand {
    /// Create streams, change their shard count, delete them
    #[command(subcommand)]
    Stream(StreamCommand),
    /// List, show, create and delete groups
    #[command(subcommand)]
    Group(GroupCommand),
    /// The members of a group
    Members(GroupArgs),
    /// Who should have which shard of a group, and who has
    Assignments(GroupArgs),
    /// The shards of a group: keys, lengths, owners
    Shards(GroupArgs),
    /// What is left to do in each shard of a group
    Lag(GroupArgs),
    /// Look at the records of a shard; nothing is delivered to anyone
    Messages(MessagesArgs),
    /// The changes of the shard count, newest first
    Migrations(GroupArgs),
    /// Show a change of the shard count, or take it back
    #[command(subcommand)]
    Migration(MigrationCommand),
    /// Show a group, or all, and keep showing what changes; Ctrl-C ends it
    Watch(WatchArgs),
    /// The latest mutations, refused ones too
    Audit(AuditArgs),
    /// Save the metadata of all groups to a file, look into one, put it back
    #[command(subcommand)]
    Snapshot(SnapshotCommand),
    /// Look the coordinators and all groups over, and say what is not as it should be; ends with 1 where something is an error
    ///
    /// It only reads, and only through the API. Each finding says how bad it is, where it is, what to do first, and which part of docs/operations.md says more.
    /// With the role ADMIN it also finds groups whose records can't be read. All coordinators that --server names are looked at.
    Doctor(DoctorArgs),
    /// How the coordinator fares; ends with 6 when it is DOWN
    Health,
}

/// What asks nobody.
#[derive(Debug, Subcommand)]
pub(crate) enum LocalCommand {
    /// Hash a password for the coordinator's list of users: argon2id, as PHC text
    HashPassword(HashPasswordArgs),
    /// Print completions for a shell
    Completions(CompletionsArgs),
}
