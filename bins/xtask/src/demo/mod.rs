//! The demo: two coordinators, producers and consumers as processes on a real Redis; members come, go and die, the stream is given more shards and
//! fewer, a coordinator is killed in the middle of each, and nothing is lost.

mod check;
mod consumer;
mod log;
mod producer;
mod scale;
mod scenario;
mod stage;
mod view;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

pub(crate) use consumer::Arguments as ConsumerArguments;
pub(crate) use producer::Arguments as ProducerArguments;

use crate::processes::{block_on, report};

/// The stream that the demo creates.
const STREAM: &str = "orders";
/// Its shards at the beginning.
const SHARDS: u32 = 8;
/// What it is scaled out to, and in to, while records flow.
const MOST_SHARDS: u32 = 12;
const FEWEST_SHARDS: u32 = 5;

/// What the demo can be told.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The redis-server to use [default: the one on the PATH, installed if it is missing]
    #[arg(long, value_name = "PATH")]
    redis_bin: Option<PathBuf>,
    /// How many records each of the two producers publishes
    #[arg(long, default_value_t = 12_000, value_name = "COUNT")]
    records: u64,
    /// Keep the logs of all processes in this folder
    #[arg(long, value_name = "FOLDER")]
    keep_logs: Option<PathBuf>,
}

/// Runs the demo: status 0 only if nothing was lost, no shard had two readers, every key kept its order in each shard, and every shard that was to go is
/// gone.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let server = match crate::redis_server::ensure(arguments.redis_bin.as_deref()) {
        Ok(server) => server,
        Err(error) => {
            eprintln!("demo: {error}");
            return ExitCode::FAILURE;
        }
    };
    report(
        "demo",
        block_on(scenario::run(arguments, &server)).map(|summary| {
            println!("{summary}");
            summary.is_good()
        }),
    )
}

/// Runs as one of the demo's producers.
pub(crate) fn run_producer(arguments: &ProducerArguments) -> ExitCode {
    report("demo", block_on(producer::run(arguments)).map(|()| true))
}

/// Runs as one of the demo's consumers.
pub(crate) fn run_consumer(arguments: &ConsumerArguments) -> ExitCode {
    report("demo", block_on(consumer::run(arguments)).map(|()| true))
}
