//! What the crate needs of a connection. Callers bring their own: standalone, Sentinel or Cluster.

use std::future::Future;

use redis::aio::ConnectionLike;
use redis::{Cmd, Pipeline, RedisResult, Value};

/// A connection that can be copied and shared. Every connection of the driver that can be copied is one: `MultiplexedConnection`,
/// `ConnectionManager`, `ClusterConnection`, and [`Reconnecting`](crate::Reconnecting) for Sentinel.
pub trait RedisLink: Clone + Send + Sync + 'static {
    /// Sends a command and waits for its answer.
    fn send(&self, command: &Cmd) -> impl Future<Output = RedisResult<Value>> + Send;

    /// Sends commands at once, without MULTI. Each answer is a value, or an error among the values.
    fn send_all(&self, commands: Pipeline) -> impl Future<Output = RedisResult<Vec<Value>>> + Send;
}

impl<C> RedisLink for C
where
    C: ConnectionLike + Clone + Send + Sync + 'static,
{
    async fn send(&self, command: &Cmd) -> RedisResult<Value> {
        let mut connection = self.clone();
        command.query_async(&mut connection).await
    }

    async fn send_all(&self, mut commands: Pipeline) -> RedisResult<Vec<Value>> {
        let mut connection = self.clone();
        commands.ignore_errors().query_async(&mut connection).await
    }
}
