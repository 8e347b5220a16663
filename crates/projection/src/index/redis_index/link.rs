//! What the index needs of a connection. Callers bring their own: standalone, Sentinel or Cluster.

use std::future::Future;

use redis::aio::ConnectionLike;
use redis::{Cmd, RedisResult, Value};

/// A connection that can be copied and shared. Every connection of the driver that can be copied is one: `MultiplexedConnection`,
/// `ConnectionManager`, `ClusterConnection`.
pub trait ConnectionLink: Clone + Send + Sync + 'static {
    /// Sends a command and waits for its answer.
    fn send(&self, command: &Cmd) -> impl Future<Output = RedisResult<Value>> + Send;
}

impl<C> ConnectionLink for C
where
    C: ConnectionLike + Clone + Send + Sync + 'static,
{
    async fn send(&self, command: &Cmd) -> RedisResult<Value> {
        let mut connection = self.clone();
        command.query_async(&mut connection).await
    }
}
