//! The call of producers: where the shards are written.

use protocol::Routing;

use crate::client::CoordinatorClient;
use crate::error::ClientError;
use crate::path;
use crate::transport::Call;

impl CoordinatorClient {
    /// Asks where the shards of a group are written.
    ///
    /// ```no_run
    /// # async fn example(client: coordinator_client::CoordinatorClient) -> Result<(), coordinator_client::ClientError> {
    /// for shard in client.producer_routing("orders", "orders").await?.shards {
    ///     println!("{} is {}", shard.shard_index, shard.stream_key);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ClientError::Api`] with `GROUP_NOT_FOUND`.
    pub async fn producer_routing(
        &self,
        stream_prefix: &str,
        consumer_group: &str,
    ) -> Result<Routing, ClientError> {
        let group = path::group(stream_prefix, consumer_group)?;
        self.ask(Call::get(format!("{group}/producer-routing")))
            .await
    }
}
