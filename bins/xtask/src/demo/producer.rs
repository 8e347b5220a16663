//! One producer process of the demo: publishes by key, in order, until it has published its share.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use coordinator_client::{CoordinatorClient, Credentials};
use producer_client::{Producer, PublishError, Record};

use super::STREAM;
use super::log::{Entry, LogWriter};
use crate::processes::Failure;

/// How often the producer sends.
const BEAT: Duration = Duration::from_millis(20);

/// What the demo tells a producer process.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    #[arg(long, required = true)]
    coordinator: Vec<String>,
    #[arg(long)]
    redis: String,
    #[arg(long)]
    log: PathBuf,
    /// Prefix of its keys, so that no two producers share one.
    #[arg(long)]
    name: String,
    /// How many records to publish.
    #[arg(long)]
    records: u64,
    /// How many different keys.
    #[arg(long)]
    keys: u64,
    /// How many records a second.
    #[arg(long)]
    rate: u64,
}

/// Runs until everything is published.
pub(crate) async fn run(arguments: &Arguments) -> Result<(), Failure> {
    let log = LogWriter::create(&arguments.log)?;
    let coordinator = CoordinatorClient::builder(&arguments.coordinator)
        .credentials(Credentials::basic("admin", "admin"))
        .build()?;
    let producer = Producer::builder(coordinator, STREAM, [&arguments.redis])
        .refresh_interval(Duration::from_millis(500))
        .build()?;
    let mut beats = tokio::time::interval(BEAT);
    let per_beat = (arguments.rate * 20).div_ceil(1_000).max(1);
    let mut sent = 0;
    while sent < arguments.records {
        beats.tick().await;
        let batch: Vec<(String, u64)> = (sent..arguments.records.min(sent + per_beat))
            .map(|index| record(arguments, index))
            .collect();
        sent += batch.len() as u64;
        publish_in_order(&producer, &log, batch).await?;
    }
    producer.close().await;
    Ok(())
}

/// The key and the position within it of the record at `index`.
fn record(arguments: &Arguments, index: u64) -> (String, u64) {
    (
        format!("{}-{}", arguments.name, index % arguments.keys),
        index / arguments.keys + 1,
    )
}

/// Publishes a batch; what was not published is tried again, in order, before anything later is sent.
async fn publish_in_order(
    producer: &Producer,
    log: &LogWriter,
    mut batch: Vec<(String, u64)>,
) -> Result<(), Failure> {
    while !batch.is_empty() {
        let records: Vec<Record> = batch
            .iter()
            .map(|(key, sequence)| {
                Record::new(key)
                    .field("key", key)
                    .field("sequence", sequence.to_string())
            })
            .collect();
        let outcomes = producer.publish_batch(&records).await;
        let mut left = Vec::new();
        for ((key, sequence), outcome) in batch.into_iter().zip(outcomes) {
            match outcome {
                Ok(_) => log.write(&Entry::Published { key, sequence })?,
                Err(error) if error.is_retryable() => {
                    if !matches!(error, PublishError::NotAttempted) {
                        eprintln!("producer: {key} #{sequence}: {error}; trying again");
                    }
                    left.push((key, sequence));
                }
                Err(error) => return Err(error.into()),
            }
        }
        if !left.is_empty() {
            tokio::time::sleep(BEAT).await;
        }
        batch = left;
    }
    Ok(())
}
