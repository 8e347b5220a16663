//! A connection that is made anew when it is of no more use, by whatever means the caller has: the way to Sentinel.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::{Cmd, Pipeline, RedisError, RedisFuture, RedisResult, Value};
use tokio::sync::Mutex;

type Connecting = Pin<Box<dyn Future<Output = RedisResult<MultiplexedConnection>> + Send>>;

struct Shared {
    connect: Box<dyn Fn() -> Connecting + Send + Sync>,
    current: Mutex<Current>,
}

#[derive(Default)]
struct Current {
    /// Which connection it is, so that only the one that failed is given up.
    number: u64,
    connection: Option<MultiplexedConnection>,
    failed: Option<(Instant, RedisError)>,
}

/// A connection to whatever server the given function finds, for example the master that a Sentinel names. It is given up when it
/// breaks, or when the server turns out to be a replica (case C05); the next operation makes a new one. It repeats nothing.
#[derive(Clone)]
pub struct Reconnecting(Arc<Shared>);

impl Reconnecting {
    /// Connects with this function, when a connection is needed.
    pub fn new<F, Fut>(connect: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = RedisResult<MultiplexedConnection>> + Send + 'static,
    {
        Self(Arc::new(Shared {
            connect: Box::new(move || Box::pin(connect())),
            current: Mutex::default(),
        }))
    }

    async fn get(&self) -> RedisResult<(u64, MultiplexedConnection)> {
        let asked = Instant::now();
        let mut current = self.0.current.lock().await;
        if let Some(connection) = &current.connection {
            return Ok((current.number, connection.clone()));
        }
        // Whoever waited for an attempt that failed does not make another one.
        if let Some((when, error)) = &current.failed
            && *when >= asked
        {
            return Err(error.clone());
        }
        match (self.0.connect)().await {
            Ok(connection) => {
                current.number += 1;
                current.connection = Some(connection.clone());
                current.failed = None;
                Ok((current.number, connection))
            }
            Err(error) => {
                // A failure to connect must not look like one after sending.
                let error = not_sent(error);
                current.failed = Some((Instant::now(), error.clone()));
                Err(error)
            }
        }
    }

    async fn look_at(&self, number: u64, error: &RedisError) {
        if !wants_new_connection(error) {
            return;
        }
        let mut current = self.0.current.lock().await;
        if current.number == number {
            current.connection = None;
        }
    }
}

fn not_sent(error: RedisError) -> RedisError {
    match error.code() {
        Some(_) => error,
        None => RedisError::from(std::io::Error::new(
            std::io::ErrorKind::ConnectionRefused,
            error.to_string(),
        )),
    }
}

fn wants_new_connection(error: &RedisError) -> bool {
    match error.code() {
        Some(code) => matches!(code, "READONLY" | "MASTERDOWN" | "UNBLOCKED" | "NOAUTH"),
        None => true,
    }
}

impl fmt::Debug for Reconnecting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reconnecting").finish_non_exhaustive()
    }
}

impl ConnectionLike for Reconnecting {
    fn req_packed_command<'a>(&'a mut self, cmd: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(async move {
            let (number, mut connection) = self.get().await?;
            let outcome = connection.req_packed_command(cmd).await;
            let error = match &outcome {
                Ok(Value::ServerError(error)) => Some(RedisError::from(error.clone())),
                Ok(_) => None,
                Err(error) => Some(error.clone()),
            };
            if let Some(error) = error {
                self.look_at(number, &error).await;
            }
            outcome
        })
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        Box::pin(async move {
            let (number, mut connection) = self.get().await?;
            let outcome = connection
                .req_packed_commands(pipeline, offset, count)
                .await;
            let errors: Vec<RedisError> = match &outcome {
                Ok(values) => values
                    .iter()
                    .filter_map(|value| match value {
                        Value::ServerError(error) => Some(RedisError::from(error.clone())),
                        _ => None,
                    })
                    .collect(),
                Err(error) => vec![error.clone()],
            };
            for error in errors {
                self.look_at(number, &error).await;
            }
            outcome
        })
    }

    fn get_db(&self) -> i64 {
        0
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn many_who_wait_for_one_failed_attempt_do_not_make_many() {
        let attempts = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&attempts);
        let link = Reconnecting::new(move || {
            counted.fetch_add(1, Ordering::SeqCst);
            async {
                // waits: as long as a server that does not accept
                tokio::time::sleep(Duration::from_millis(50)).await;
                Err(std::io::Error::from(std::io::ErrorKind::TimedOut).into())
            }
        });
        let tasks: Vec<_> = (0..50)
            .map(|_| {
                let link = link.clone();
                tokio::spawn(async move { link.get().await.err().unwrap() })
            })
            .collect();
        for task in tasks {
            let error = task.await.unwrap();
            assert!(error.is_connection_refusal(), "nothing was sent: {error}");
        }
        assert_eq!(attempts.load(Ordering::SeqCst), 1);
        assert!(link.get().await.is_err());
        assert_eq!(attempts.load(Ordering::SeqCst), 2);
    }
}
