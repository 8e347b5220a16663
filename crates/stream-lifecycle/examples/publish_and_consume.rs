//! Two processes: one publishes, the other consumes; then the shard is removed, with proof that nothing is left.
//!
//! ```sh
//! cargo run -p stream-lifecycle --example publish_and_consume -- redis://127.0.0.1:6379/
//! ```

use std::error::Error;
use std::process::{Command, ExitCode};
use std::time::Duration;

use redis::AsyncConnectionConfig;
use stream_lifecycle::{
    Base, ConsumerName, Creation, Draining, Fields, GroupName, Incarnation, MemberEpoch, Reading,
    Registration, ShardAdmin, ShardConsumer, ShardInspect, ShardProducer, ShardRef, Token,
};

type Outcome = Result<(), Box<dyn Error>>;

const MESSAGES: usize = 1_000;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let url = arguments
        .next()
        .unwrap_or_else(|| "redis://127.0.0.1:6379/".to_owned());
    let outcome = match arguments.next() {
        Some(base) => consume(&url, &base).await,
        None => publish(&url).await,
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

/// The first process: makes the shard, starts the second, publishes, and removes the shard.
async fn publish(url: &str) -> Outcome {
    let client = redis::Client::open(url)
        .map_err(|error| format!("{url:?} is no address of a Redis: {error}"))?;
    let link = client.get_multiplexed_async_connection().await;
    let link = link.map_err(|error| format!("{url} can't be reached: {error}"))?;
    let incarnation = Incarnation::random();
    let shard = ShardRef::new(link, Base::of_shard(&format!("example-{incarnation}"), 0)?);
    let creation = Creation::new(incarnation).groups([GroupName::new("readers")?]);
    let handle = shard.create(&creation).await?;
    let mut consumer = Command::new(std::env::current_exe()?)
        .arg(url)
        .arg(shard.base().as_str())
        .spawn()?;
    let entries: Result<Vec<Fields>, _> = (0..MESSAGES)
        .map(|number| Fields::new([("number", number.to_string())]))
        .collect();
    for batch in entries?.chunks(100) {
        for id in handle.publish_all(batch).await {
            id?;
        }
    }
    let ended = tokio::task::spawn_blocking(move || consumer.wait()).await??;
    handle.destroy_if_drained(&Draining::new()).await?;
    println!(
        "published {MESSAGES}; the consumer ended with {ended}; the shard is drained and gone"
    );
    Ok(())
}

/// The second process: registers, reads, acknowledges, and leaves.
async fn consume(url: &str, base: &str) -> Outcome {
    let client = redis::Client::open(url)?;
    let handle = ShardRef::new(
        client.get_multiplexed_async_connection().await?,
        Base::new(base)?,
    );
    let handle = handle.open().await?;
    // A read that waits needs a connection of its own, whose limit is above the wait.
    let patient = AsyncConnectionConfig::new().set_response_timeout(Some(Duration::from_secs(5)));
    let reader = client
        .get_multiplexed_async_connection_with_config(&patient)
        .await?;
    let reader = handle.with_link(reader);
    let (group, name) = (GroupName::new("readers")?, ConsumerName::new("reader-0")?);
    let (token, epoch) = (Token::new(1)?, MemberEpoch::new(1)?);
    let who = Registration::new(group.clone(), name.clone(), token, epoch).sole();
    handle.register(&who).await?;
    let mut handled = 0;
    while handled < MESSAGES {
        let reading = Reading::new(100).block(Duration::from_secs(1));
        let batch = reader.read(&group, &name, &reading).await?;
        let ids: Vec<_> = batch
            .records
            .iter()
            .map(|record| record.entry().id)
            .collect();
        if ids.is_empty() {
            handle.refresh(&who).await?;
            continue;
        }
        let acknowledged = handle.ack_as(&who, &ids).await?;
        handled += ids.len();
        println!(
            "handled {} of {MESSAGES}, {} unknown",
            handled, acknowledged.unknown
        );
    }
    handle.deregister(&who).await?;
    println!("{:?}", handle.drain_evidence().await?);
    Ok(())
}
