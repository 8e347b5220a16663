//! Publication that happens once although every third answer is lost and everything is repeated until an answer arrives. It shows,
//! too, how a connection of one's own is brought along.
//!
//! ```sh
//! cargo run -p stream-lifecycle --example add_once -- redis://127.0.0.1:6379/
//! ```

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use redis::aio::MultiplexedConnection;
use redis::{Cmd, Pipeline, RedisResult, Value};
use stream_lifecycle::{
    Base, Creation, Fields, Incarnation, LifecycleError, OnceKey, Published, RedisLink, ShardAdmin,
    ShardInspect, ShardProducer, ShardRef,
};

/// A connection that loses every third answer: the command ran, and nobody learns of it.
#[derive(Clone)]
struct Lossy {
    inner: MultiplexedConnection,
    sent: Arc<AtomicU64>,
}

impl RedisLink for Lossy {
    async fn send(&self, command: &Cmd) -> RedisResult<Value> {
        let answer = self.inner.send(command).await?;
        if self.sent.fetch_add(1, Ordering::Relaxed) % 3 == 2 {
            return Err(io::Error::from(io::ErrorKind::BrokenPipe).into());
        }
        Ok(answer)
    }

    async fn send_all(&self, commands: Pipeline) -> RedisResult<Vec<Value>> {
        self.inner.send_all(commands).await
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "redis://127.0.0.1:6379/".to_owned());
    let client = redis::Client::open(url.as_str())
        .map_err(|error| format!("{url:?} is no address of a Redis: {error}"))?;
    let inner = client.get_multiplexed_async_connection().await;
    let inner = inner.map_err(|error| format!("{url} can't be reached: {error}"))?;
    let incarnation = Incarnation::random();
    let base = Base::of_shard(&format!("example-{incarnation}"), 0)?;
    let handle = ShardRef::new(inner.clone(), base)
        .create(&Creation::new(incarnation))
        .await?;
    let lossy = handle.with_link(Lossy {
        inner,
        sent: Arc::default(),
    });

    let (mut lost, mut duplicates) = (0, 0);
    for number in 0..300 {
        let key = OnceKey::new(format!("payment-{number}"))?;
        let fields = Fields::new([("amount", number.to_string())])?;
        let published = loop {
            match lossy.add_once(&key, &fields).await {
                Ok(published) => break published,
                // It may have happened. Asking again is safe, and tells.
                Err(LifecycleError::Ambiguous(_)) => lost += 1,
                Err(error) if error.is_retryable() => {}
                Err(error) => return Err(error.into()),
            }
        };
        duplicates += usize::from(matches!(published, Published::Duplicate(_)));
    }
    let entries = handle.snapshot(1_000).await?.len();
    println!(
        "300 payments, {lost} answers lost, {duplicates} found to have happened: {entries} entries"
    );
    handle.destroy().await?;
    if entries != 300 {
        return Err(format!("{entries} entries instead of 300").into());
    }
    Ok(())
}
