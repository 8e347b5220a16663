//! The demo: a coordinator, producers and consumers as processes on a real Redis; members come, go and die, and nothing is lost.

mod check;
mod consumer;
mod log;
mod processes;
mod producer;
mod scenario;
mod view;

use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};

use clap::Args;

pub(crate) use consumer::Arguments as ConsumerArguments;
pub(crate) use producer::Arguments as ProducerArguments;

/// The stream that the demo creates.
const STREAM: &str = "orders";
/// Its shards.
const SHARDS: u32 = 8;

/// What the demo can be told.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The redis-server to use [default: the one on the PATH, installed if it is missing]
    #[arg(long, value_name = "PATH")]
    redis_bin: Option<PathBuf>,
    /// How many records each of the two producers publishes
    #[arg(long, default_value_t = 10_500, value_name = "COUNT")]
    records: u64,
    /// Keep the logs of all processes in this folder
    #[arg(long, value_name = "FOLDER")]
    keep_logs: Option<PathBuf>,
}

/// Why the demo did not come to its end.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error("could not start {}", program.display())]
    Start {
        program: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("{name} ended early: {status}")]
    Ended { name: String, status: ExitStatus },
    #[error("{name} was told to end and did not end well")]
    DidNotEnd { name: String },
    #[error("{what} did not happen within {seconds} s")]
    TookTooLong { what: &'static str, seconds: u64 },
    #[error("cargo could not build coordinatord: {0}")]
    Build(ExitStatus),
    #[error("interrupted")]
    Interrupted,
    #[error(transparent)]
    Io(#[from] std::io::Error),
    #[error("the redis-server does not run")]
    RedisServer(#[from] testkit::StartError),
    #[error("Redis refused")]
    Redis(#[from] redis::RedisError),
    #[error("the coordinator refused")]
    Coordinator(#[from] coordinator_client::ClientError),
    #[error(transparent)]
    CoordinatorClient(#[from] coordinator_client::BuildError),
    #[error(transparent)]
    Producer(#[from] producer_client::BuildError),
    #[error("could not publish")]
    Publish(#[from] producer_client::PublishError),
    #[error(transparent)]
    Consumer(#[from] member_client::BuildError),
}

/// Runs the demo: status 0 only if nothing was lost, no shard had two readers and every key kept its order.
pub(crate) fn run(arguments: &Arguments) -> ExitCode {
    let server = match crate::redis_server::ensure(arguments.redis_bin.as_deref()) {
        Ok(server) => server,
        Err(error) => {
            eprintln!("demo: {error}");
            return ExitCode::FAILURE;
        }
    };
    finish(block_on(scenario::run(arguments, &server)).map(|summary| {
        println!("{summary}");
        summary.is_good()
    }))
}

/// Runs as one of the demo's producers.
pub(crate) fn run_producer(arguments: &ProducerArguments) -> ExitCode {
    finish(block_on(producer::run(arguments)).map(|()| true))
}

/// Runs as one of the demo's consumers.
pub(crate) fn run_consumer(arguments: &ConsumerArguments) -> ExitCode {
    finish(block_on(consumer::run(arguments)).map(|()| true))
}

fn block_on<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(work)
}

fn finish(outcome: Result<bool, Failure>) -> ExitCode {
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(failure) => {
            let mut message = failure.to_string();
            let mut source = std::error::Error::source(&failure);
            while let Some(cause) = source {
                message = format!("{message}: {cause}");
                source = cause.source();
            }
            eprintln!("demo: {message}");
            ExitCode::FAILURE
        }
    }
}
