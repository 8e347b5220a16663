//! The shared connection, as the lifecycle of shards and the indexes want it. It repeats nothing by itself.

use std::sync::Arc;

use projection::ConnectionLink;
use redis::{Cmd, ErrorKind, Pipeline, RedisError, RedisResult, Value};
use store::StoreError;
use stream_lifecycle::RedisLink;

use super::Connector;

#[derive(Clone)]
pub(crate) struct SharedLink(pub(crate) Arc<Connector>);

impl RedisLink for SharedLink {
    async fn send(&self, command: &Cmd) -> RedisResult<Value> {
        self.ask(command).await
    }

    async fn send_all(&self, mut commands: Pipeline) -> RedisResult<Vec<Value>> {
        let (number, mut link) = self.0.link().await.map_err(|error| not_sent(&error))?;
        let outcome = commands.ignore_errors().query_async(&mut link).await;
        self.look_at(number, &outcome).await;
        outcome
    }
}

impl ConnectionLink for SharedLink {
    async fn send(&self, command: &Cmd) -> RedisResult<Value> {
        self.ask(command).await
    }
}

impl SharedLink {
    async fn ask(&self, command: &Cmd) -> RedisResult<Value> {
        let (number, mut link) = self.0.link().await.map_err(|error| not_sent(&error))?;
        let outcome = command.query_async(&mut link).await;
        self.look_at(number, &outcome).await;
        outcome
    }

    async fn look_at<T>(&self, number: u64, outcome: &RedisResult<T>) {
        if let Err(error) = outcome {
            self.0.note_error(number, error).await;
        }
    }
}

/// A failure to connect must not look like one after sending, nor a refusal for good like one that passes.
fn not_sent(error: &StoreError) -> RedisError {
    if let StoreError::Refused { reason, .. } = error {
        return RedisError::from((ErrorKind::Client, "no connection", reason.clone()));
    }
    RedisError::from(std::io::Error::new(
        std::io::ErrorKind::ConnectionRefused,
        error.to_string(),
    ))
}
