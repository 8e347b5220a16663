//! Measurements on real processes. Each prints what it did, what it measured and beside what; absolute times say something about the machine only.

mod idle;
mod members;
mod rebalance;
mod reshard;
mod stage;
mod steady;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};

/// What is measured.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The redis-server to use [default: the one on the PATH, installed if it is missing]
    #[arg(long, value_name = "PATH", global = true)]
    redis_bin: Option<PathBuf>,
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// Many members heartbeat through two coordinators: nobody is fenced, and nothing but leases is written
    Steady(steady::Arguments),
    /// One member joins others: how long until every shard is where it should be, with the watch and without
    Rebalance(rebalance::Arguments),
    /// Many groups that wait for nothing: what it costs that they are there
    Idle(idle::Arguments),
    /// A busy stream is given more shards: what becomes of the throughput of those that don't move
    Reshard(reshard::Arguments),
}

/// Measures, and fails where what must hold did not.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let server = match crate::redis_server::ensure(arguments.redis_bin.as_deref()) {
        Ok(server) => server,
        Err(error) => {
            eprintln!("bench: {error}");
            return ExitCode::FAILURE;
        }
    };
    crate::processes::report(
        "bench",
        crate::processes::block_on(async {
            match &arguments.what {
                What::Steady(arguments) => steady::run(arguments, &server).await,
                What::Rebalance(arguments) => rebalance::run(arguments, &server).await,
                What::Idle(arguments) => idle::run(arguments, &server).await,
                What::Reshard(arguments) => reshard::run(arguments, &server).await,
            }
        }),
    )
}
