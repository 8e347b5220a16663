//! Calls of operators that change the shard count of a stream, follow the change and take it back.

use protocol::{Migration, Migrations, RollbackRequest, ScaleRequest, StreamScaled};

use crate::client::CoordinatorClient;
use crate::error::ClientError;
use crate::path;
use crate::transport::Call;

impl CoordinatorClient {
    /// Changes the shard count of a stream, for all its groups. The answer comes once the new streams are made; how the change goes on is told by
    /// [`Self::migration`]. A target that the stream has already changes nothing: its `resharding_id` is [`protocol::NOOP_RESHARDING_ID`] (rule G9).
    ///
    /// ```no_run
    /// use protocol::ScaleRequest;
    ///
    /// # async fn example(client: coordinator_client::CoordinatorClient) -> Result<(), coordinator_client::ClientError> {
    /// let request = ScaleRequest {
    ///     target_shard_count: 12,
    ///     requested_by: "ops".to_owned(),
    ///     reason: "more traffic".to_owned(),
    ///     deprecated_after: None,
    /// };
    /// let scaled = client.scale_stream("orders", &request).await?;
    /// for (group, change) in scaled.affected_consumer_groups.iter().zip(&scaled.migrations) {
    ///     println!("{group}: {} is {:?}", change.resharding_id, change.state);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ClientError::Api`] with `STREAM_NOT_FOUND`; with `ACTIVE_MIGRATION_EXISTS` while another change is under way; with
    /// `REDIS_STREAM_PROVISIONING_FAILED` when streams could not be made: if the change was recorded, repeating the call goes on with it (rule G9). Coordinators
    /// try again by themselves: when one was faster, the repetition is told `noop` or `ACTIVE_MIGRATION_EXISTS`.
    pub async fn scale_stream(
        &self,
        stream_prefix: &str,
        request: &ScaleRequest,
    ) -> Result<StreamScaled, ClientError> {
        let stream = path::stream(stream_prefix)?;
        self.ask(Call::post(format!("{stream}/scale"), request))
            .await
    }

    /// Like [`Self::scale_stream`], also for all groups of the stream: they share one count (rule G10). The answer is this group's.
    ///
    /// ```no_run
    /// use protocol::{NOOP_RESHARDING_ID, ScaleRequest};
    ///
    /// # async fn example(client: coordinator_client::CoordinatorClient) -> Result<(), coordinator_client::ClientError> {
    /// let request = ScaleRequest {
    ///     target_shard_count: 5,
    ///     requested_by: "ops".to_owned(),
    ///     reason: "less traffic".to_owned(),
    ///     deprecated_after: None,
    /// };
    /// let change = client.scale_group("orders", "billing", &request).await?;
    /// if change.resharding_id == NOOP_RESHARDING_ID {
    ///     println!("there are {} shards already", change.to_shard_count);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As of [`Self::scale_stream`], but `GROUP_NOT_FOUND` where the group does not exist.
    pub async fn scale_group(
        &self,
        stream_prefix: &str,
        consumer_group: &str,
        request: &ScaleRequest,
    ) -> Result<Migration, ClientError> {
        let group = path::group(stream_prefix, consumer_group)?;
        self.ask(Call::post(format!("{group}/scale"), request))
            .await
    }

    /// The changes of a group, newest first, and which is under way.
    ///
    /// ```no_run
    /// # async fn example(client: coordinator_client::CoordinatorClient) -> Result<(), coordinator_client::ClientError> {
    /// let known = client.migrations("orders", "billing").await?;
    /// println!("{} changes, under way: {:?}", known.migrations.len(), known.active_resharding_id);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ClientError::Api`] with `GROUP_NOT_FOUND`.
    pub async fn migrations(
        &self,
        stream_prefix: &str,
        consumer_group: &str,
    ) -> Result<Migrations, ClientError> {
        let group = path::monitored_group(stream_prefix, consumer_group)?;
        self.ask(Call::get(format!("{group}/migrations"))).await
    }

    /// One change of a group: how far it is and, while shards are drained, what stands against each (rule G4).
    ///
    /// ```no_run
    /// # async fn example(client: coordinator_client::CoordinatorClient) -> Result<(), coordinator_client::ClientError> {
    /// let change = client.migration("orders", "billing", "reshard-0b9f6a52-7f0e-4a8e-9a55-8f6ad1c3a001").await?;
    /// for shard in change.shards.unwrap_or_default() {
    ///     println!("shard {} is {:?}: {:?}", shard.shard_index, shard.phase, shard.open);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ClientError::Api`] with `GROUP_NOT_FOUND` or `MIGRATION_NOT_FOUND`.
    pub async fn migration(
        &self,
        stream_prefix: &str,
        consumer_group: &str,
        resharding_id: &str,
    ) -> Result<Migration, ClientError> {
        self.ask(Call::get(path::migration(
            stream_prefix,
            consumer_group,
            resharding_id,
        )?))
        .await
    }

    /// Takes a change back, for all groups of the stream (rule G8): while it is `PREPARING` or `ACTIVE`. Shards that it had added are read to their end
    /// before they go. Repeating the call does no harm.
    ///
    /// ```no_run
    /// use protocol::RollbackRequest;
    ///
    /// # async fn example(client: coordinator_client::CoordinatorClient) -> Result<(), coordinator_client::ClientError> {
    /// let request = RollbackRequest { requested_by: "ops".to_owned(), reason: "too early".to_owned() };
    /// let id = "reshard-0b9f6a52-7f0e-4a8e-9a55-8f6ad1c3a001";
    /// let change = client.roll_back("orders", "billing", id, &request).await?;
    /// println!("back to {} shards: {:?}", change.from_shard_count, change.state);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ClientError::Api`] with `GROUP_NOT_FOUND` or `MIGRATION_NOT_FOUND`; with `ROLLBACK_NOT_ALLOWED` when the change has gone too far.
    pub async fn roll_back(
        &self,
        stream_prefix: &str,
        consumer_group: &str,
        resharding_id: &str,
        request: &RollbackRequest,
    ) -> Result<Migration, ClientError> {
        let change = path::migration(stream_prefix, consumer_group, resharding_id)?;
        self.ask(Call::post(format!("{change}/rollback"), request).repeatable())
            .await
    }
}
