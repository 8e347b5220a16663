//! A shard is drained, removed and made anew, twenty times, while producers go on publishing and a consumer goes on reading. Every entry
//! that was accepted is handled.
//!
//! ```sh
//! cargo run -p stream-lifecycle --example recreate_under_load -- redis://127.0.0.1:6379/
//! ```

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use redis::aio::MultiplexedConnection;
use stream_lifecycle::{
    Base, ConsumerName, Creation, Draining, Fields, Generation, GroupName, Handle, Incarnation,
    LifecycleError, Reading, ShardAdmin, ShardConsumer, ShardProducer, ShardRef, StreamId,
};

type Shard = ShardRef<MultiplexedConnection>;
/// Ids are unique within a generation only.
type Seen = BTreeSet<(Generation, StreamId)>;
type Failure = Box<dyn Error + Send + Sync>;

const GENERATIONS: u64 = 20;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let url = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "redis://127.0.0.1:6379/".to_owned());
    let client = redis::Client::open(url.as_str())
        .map_err(|error| format!("{url:?} is no address of a Redis: {error}"))?;
    let group = GroupName::new("readers")?;
    let creation = || Creation::new(Incarnation::random()).groups([group.clone()]);
    let name = format!("example-{}", Incarnation::random());
    let shard =
        |link| -> Result<Shard, Failure> { Ok(ShardRef::new(link, Base::of_shard(&name, 0)?)) };
    let link = client.get_multiplexed_async_connection().await;
    let link = link.map_err(|error| format!("{url} can't be reached: {error}"))?;
    let mine = shard(link)?;
    let mut handle = mine.create(&creation()).await?;

    let stop = Arc::new(AtomicBool::new(false));
    let mut producers = Vec::new();
    for number in 0..4 {
        let shard = shard(client.get_multiplexed_async_connection().await?)?;
        producers.push(tokio::spawn(produce(shard, number, Arc::clone(&stop))));
    }
    let mut handled = Seen::new();
    for _ in 0..GENERATIONS {
        drain(&handle, &group, &mut handled).await?;
        handle = mine.recreate(handle.generation(), &creation()).await?;
        println!("{}", handle.identity());
    }
    stop.store(true, Ordering::SeqCst);
    let mut accepted = Seen::new();
    for producer in producers {
        accepted.extend(producer.await??);
    }
    drain(&handle, &group, &mut handled).await?;
    println!(
        "{GENERATIONS} generations, {} entries accepted, {} handled",
        accepted.len(),
        handled.len()
    );
    if accepted != handled {
        return Err("accepted and handled entries differ".into());
    }
    Ok(())
}

/// Publishes to whatever generation there is, until told to stop; answers what was accepted.
async fn produce(shard: Shard, number: u32, stop: Arc<AtomicBool>) -> Result<Seen, Failure> {
    let mut accepted = Seen::new();
    let fields = Fields::new([("producer", number.to_string())])?;
    let mut handle: Option<Handle<MultiplexedConnection>> = None;
    while !stop.load(Ordering::SeqCst) {
        let current = match handle.take() {
            Some(handle) => Ok(handle),
            None => shard.open().await,
        };
        let published = match &current {
            Ok(current) => current.publish(&fields).await,
            Err(error) => Err(error.clone()),
        };
        match (published, current) {
            (Ok(id), Ok(current)) => {
                accepted.insert((current.generation(), id));
                handle = Some(current);
            }
            // The generation is over or sealed: look the shard up again, after a pause.
            (Err(error), _) if error.is_stale() || error.is_retryable() => pause().await,
            (Err(LifecycleError::Sealed { .. }), _) => pause().await,
            (Err(error), _) | (_, Err(error)) => return Err(error.into()),
        }
    }
    Ok(accepted)
}

async fn pause() {
    tokio::time::sleep(Duration::from_millis(5)).await;
}

/// Refuses further entries, reads what is there, and removes the generation once it is proven to be drained.
async fn drain(
    handle: &Handle<MultiplexedConnection>,
    group: &GroupName,
    handled: &mut Seen,
) -> Result<(), Failure> {
    let consumer = ConsumerName::new("reader-0")?;
    // Some load first.
    for round in 0.. {
        if round == 10 {
            handle.seal().await?;
        }
        let batch = handle.read(group, &consumer, &Reading::new(100)).await?;
        for record in batch.records {
            record.ack().await?;
            handled.insert((record.handle().generation(), record.entry().id));
        }
        match handle.destroy_if_drained(&Draining::new()).await {
            Err(LifecycleError::NotDrained { .. }) => {}
            outcome => return Ok(outcome.map(|_| ())?),
        }
    }
    Ok(())
}
