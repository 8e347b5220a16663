//! One consumer process of the demo: handles records and writes down when, until it is told to end.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use coordinator_client::CoordinatorClient;
use member_client::{Handler, HandlerError, MemberClient, Record};
use tokio::signal::unix::{SignalKind, signal};

use super::STREAM;
use super::log::{Entry, Handled, LogWriter, now};
use crate::processes::Failure;

/// How long a record takes to handle.
const WORK: Duration = Duration::from_micros(300);

/// What the demo tells a consumer process.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[arg(long, required = true)]
    coordinator: Vec<String>,
    #[arg(long)]
    redis: String,
    #[arg(long)]
    log: PathBuf,
    #[arg(long)]
    name: String,
    /// How many members the process is.
    #[arg(long)]
    members: u32,
}

struct WriteDown(Arc<LogWriter>);

impl Handler for WriteDown {
    async fn handle(&self, record: Record) -> Result<(), HandlerError> {
        let text = |name: &str| {
            record
                .field(name)
                .and_then(|value| std::str::from_utf8(value).ok())
        };
        let key = text("key").ok_or("a record without a key")?.to_owned();
        let sequence = text("sequence")
            .ok_or("a record without a sequence")?
            .parse()?;
        let start = now();
        tokio::time::sleep(WORK).await;
        let handled = Handled {
            shard: record.shard().shard_index,
            member: record.member_id().to_owned(),
            epoch: record.epoch(),
            start,
            end: now(),
            key,
            sequence,
        };
        self.0.write(&Entry::Handled(handled))?;
        Ok(())
    }
}

/// Runs until SIGTERM.
pub(crate) async fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut terminate = signal(SignalKind::terminate())?;
    let log = Arc::new(LogWriter::create(&arguments.log)?);
    let coordinator = CoordinatorClient::builder(&arguments.coordinator).build()?;
    let running = MemberClient::builder(WriteDown(log))
        .coordinator(coordinator)
        .redis_urls([&arguments.redis])
        .stream_prefix(STREAM)
        .member_base(&arguments.name)
        .concurrency(arguments.members)
        .build()?
        .start();
    terminate.recv().await;
    running.shutdown().await;
    Ok(())
}
