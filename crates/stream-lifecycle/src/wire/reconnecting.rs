//! A connection that is made anew when it is of no more use, by whatever means the caller has: the way to Sentinel.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use redis::aio::{ConnectionLike, MultiplexedConnection};
use redis::{Cmd, Pipeline, RedisError, RedisFuture, RedisResult, Value};
use tokio::sync::Mutex;

type Connecting = Pin<Box<dyn Future<Output = RedisResult<MultiplexedConnection>> + Send>>;

struct Shared {
    connect: Box<dyn Fn() -> Connecting + Send + Sync>,
    current: Mutex<(u64, Option<MultiplexedConnection>)>,
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
            current: Mutex::new((0, None)),
        }))
    }

    async fn get(&self) -> RedisResult<(u64, MultiplexedConnection)> {
        let mut current = self.0.current.lock().await;
        if let (number, Some(connection)) = &*current {
            return Ok((*number, connection.clone()));
        }
        // A failure to connect must not look like one after sending.
        let connection = (self.0.connect)().await.map_err(not_sent)?;
        *current = (current.0 + 1, Some(connection.clone()));
        Ok((current.0, connection))
    }

    async fn look_at(&self, number: u64, error: &RedisError) {
        if !wants_new_connection(error) {
            return;
        }
        let mut current = self.0.current.lock().await;
        if current.0 == number {
            current.1 = None;
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
