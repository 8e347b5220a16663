//! What each command does. One file per command or pair of opposites; how answers look is in `show`.

mod audit;
mod completions;
mod context;
mod delete;
mod doctor;
mod group;
mod hash_password;
mod health;
mod login;
mod look;
mod migration;
mod scale;
mod session;
mod snapshot;
mod stream;
mod watch;

pub(crate) use session::Session;
pub(crate) use snapshot::RestorePlan;

use crate::cli::{
    AskCommand, Cli, Command, Connection, GroupCommand, KeptCommand, LocalCommand,
    MigrationCommand, SaidOnCommandLine, SnapshotCommand, StreamCommand,
};
use crate::connect::{About, Settings};
use crate::failure::{Ended, Failure};
use crate::output::Output;

/// Does what was said.
pub(crate) async fn run(cli: Cli, said: SaidOnCommandLine) -> Result<(), Ended> {
    let output = Output::new(cli.output);
    match cli.command {
        Command::Kept(KeptCommand::Login) => login::run(&cli.connection, said, output).await,
        Command::Kept(KeptCommand::Context(command)) => {
            Ok(context::run(&cli.connection, &command, output)?)
        }
        Command::Local(LocalCommand::HashPassword(args)) => {
            // Both flags say the same.
            let from_stdin = args.stdin || cli.connection.password_stdin;
            Ok(hash_password::run(from_stdin, output)?)
        }
        Command::Local(LocalCommand::Completions(args)) => Ok(completions::run(&args, output)?),
        Command::Ask(command) => ask_somebody(&cli.connection, said, command, output).await,
    }
}

async fn ask_somebody(
    connection: &Connection,
    said: SaidOnCommandLine,
    command: AskCommand,
    output: Output,
) -> Result<(), Ended> {
    if let AskCommand::Snapshot(SnapshotCommand::Inspect(args)) = &command {
        // Nobody is asked for this.
        return Ok(snapshot::inspect(args, output)?);
    }
    let settings = Settings::load(connection, said)?;
    if let AskCommand::Doctor(args) = &command {
        // It asks each coordinator by itself, and an absent one is a finding.
        return doctor::run(&settings, args, output).await;
    }
    let (client, mut target) = settings.client_as_somebody()?;
    target.about = about(&command);
    let session = Session { client, output };
    ask(&session, command).await.map_err(|failure| Ended {
        failure,
        target: Some(target),
    })
}

async fn ask(session: &Session, command: AskCommand) -> Result<(), Failure> {
    match command {
        AskCommand::Stream(command) => match command {
            StreamCommand::Create(args) => stream::create(session, args).await,
            StreamCommand::Scale(args) => scale::run(session, args).await,
            StreamCommand::Delete(args) => delete::stream(session, args).await,
        },
        AskCommand::Group(command) => match command {
            GroupCommand::List(args) => group::list(session, &args).await,
            GroupCommand::Show(args) => group::show(session, &args).await,
            GroupCommand::Create(args) => group::create(session, args).await,
            GroupCommand::Delete(args) => delete::group(session, args).await,
        },
        AskCommand::Members(args) => look::members(session, &args).await,
        AskCommand::Assignments(args) => look::assignments(session, &args).await,
        AskCommand::Shards(args) => look::shards(session, &args).await,
        AskCommand::Lag(args) => look::lag(session, &args).await,
        AskCommand::Messages(args) => look::messages(session, args).await,
        AskCommand::Migrations(args) => migration::list(session, &args).await,
        AskCommand::Migration(command) => match command {
            MigrationCommand::Show(args) => migration::show(session, &args).await,
            MigrationCommand::Rollback(args) => migration::roll_back(session, args).await,
        },
        AskCommand::Watch(args) => watch::run(session, &args).await,
        AskCommand::Audit(args) => audit::run(session, args).await,
        AskCommand::Snapshot(command) => match command {
            SnapshotCommand::Save(args) => snapshot::save(session, &args).await,
            SnapshotCommand::Inspect(args) => snapshot::inspect(&args, session.output),
            SnapshotCommand::Restore(args) => snapshot::restore(session, &args).await,
        },
        // It was done before.
        AskCommand::Doctor(_) => Ok(()),
        AskCommand::Health => health::run(session).await,
    }
}

/// What a command is about, for advice when it fails.
fn about(command: &AskCommand) -> Option<About> {
    let (stream, group) = match command {
        AskCommand::Stream(StreamCommand::Create(args)) => (&args.stream, None),
        AskCommand::Stream(StreamCommand::Scale(args)) => (&args.stream, None),
        AskCommand::Stream(StreamCommand::Delete(args)) => (&args.stream, None),
        AskCommand::Group(GroupCommand::List(_))
        | AskCommand::Audit(_)
        | AskCommand::Snapshot(_)
        | AskCommand::Doctor(_)
        | AskCommand::Health => {
            return None;
        }
        AskCommand::Group(GroupCommand::Create(args)) => (&args.stream, Some(args.group.as_str())),
        AskCommand::Group(GroupCommand::Delete(args)) => (&args.stream, Some(args.group.as_str())),
        AskCommand::Group(GroupCommand::Show(args))
        | AskCommand::Members(args)
        | AskCommand::Assignments(args)
        | AskCommand::Shards(args)
        | AskCommand::Lag(args)
        | AskCommand::Migrations(args) => (&args.stream, Some(args.group())),
        AskCommand::Messages(args) => (&args.of.stream, Some(args.of.group())),
        AskCommand::Migration(MigrationCommand::Show(args)) => (&args.stream, Some(args.group())),
        AskCommand::Migration(MigrationCommand::Rollback(args)) => {
            (&args.of.stream, Some(args.of.group()))
        }
        AskCommand::Watch(args) => (args.stream.as_ref()?, args.group.as_deref()),
    };
    Some(About {
        stream: stream.clone(),
        group: group.map(str::to_owned),
    })
}
