//! Calls of operators: log in, create, look up, delete.

use protocol::{
    CreateGroupRequest, CreateStreamRequest, DeleteGroupRequest, Group, LoginRequest,
    LoginResponse, StreamCreated,
};

use crate::client::CoordinatorClient;
use crate::error::ClientError;
use crate::path;
use crate::transport::Call;

impl CoordinatorClient {
    /// Trades a user name and its password for a token. The client's own credentials are not sent, and not changed:
    /// see [`Self::with_credentials`].
    ///
    /// # Errors
    /// [`ClientError::Api`] with 401 when the user or the password is wrong.
    pub async fn login(&self, request: &LoginRequest) -> Result<LoginResponse, ClientError> {
        self.ask(
            Call::post("/coord/v1/auth/login".to_owned(), request)
                .repeatable()
                .anonymous(),
        )
        .await
    }

    /// Creates a stream prefix, its shards, and the group named like it.
    ///
    /// ```no_run
    /// use protocol::CreateStreamRequest;
    ///
    /// # async fn example(client: coordinator_client::CoordinatorClient) -> Result<(), coordinator_client::ClientError> {
    /// let request =
    ///     CreateStreamRequest { initial_shard_count: Some(8), requested_by: "ops".to_owned(), reason: None };
    /// let created = client.create_stream("orders", &request).await?;
    /// assert_eq!(created.shard_count, 8);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ClientError::Api`] with `STREAM_PREFIX_ALREADY_EXISTS` when the prefix, or keys of its name, exist.
    pub async fn create_stream(
        &self,
        stream_prefix: &str,
        request: &CreateStreamRequest,
    ) -> Result<StreamCreated, ClientError> {
        self.ask(Call::post(path::stream(stream_prefix)?, request))
            .await
    }

    /// Creates a further group of a stream prefix.
    ///
    /// ```no_run
    /// use protocol::CreateGroupRequest;
    ///
    /// # async fn example(client: coordinator_client::CoordinatorClient) -> Result<(), coordinator_client::ClientError> {
    /// let request = CreateGroupRequest { initial_shard_count: None, requested_by: "ops".to_owned(), reason: None };
    /// let group = client.create_group("orders", "billing", &request).await?;
    /// println!("{:?}", group.state);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ClientError::Api`] with `GROUP_ALREADY_EXISTS`, or with 400 when another shard count than the prefix's is asked for.
    pub async fn create_group(
        &self,
        stream_prefix: &str,
        consumer_group: &str,
        request: &CreateGroupRequest,
    ) -> Result<Group, ClientError> {
        self.ask(Call::post(
            path::group(stream_prefix, consumer_group)?,
            request,
        ))
        .await
    }

    /// Looks a group up.
    ///
    /// ```no_run
    /// # async fn example(client: coordinator_client::CoordinatorClient) -> Result<(), coordinator_client::ClientError> {
    /// println!("{} shards", client.group("orders", "orders").await?.shard_count);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ClientError::Api`] with `GROUP_NOT_FOUND`.
    pub async fn group(
        &self,
        stream_prefix: &str,
        consumer_group: &str,
    ) -> Result<Group, ClientError> {
        self.ask(Call::get(path::group(stream_prefix, consumer_group)?))
            .await
    }

    /// Deletes a group, and answers it as it was.
    ///
    /// ```no_run
    /// use protocol::DeleteGroupRequest;
    ///
    /// # async fn example(client: coordinator_client::CoordinatorClient) -> Result<(), coordinator_client::ClientError> {
    /// let request =
    ///     DeleteGroupRequest { requested_by: "ops".to_owned(), reason: "retired".to_owned(), force: false };
    /// client.delete_group("orders", "billing", &request).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ClientError::Api`] with `GROUP_HAS_ACTIVE_MEMBERS` unless forced.
    pub async fn delete_group(
        &self,
        stream_prefix: &str,
        consumer_group: &str,
        request: &DeleteGroupRequest,
    ) -> Result<Group, ClientError> {
        self.ask(Call::delete(
            path::group(stream_prefix, consumer_group)?,
            request,
        ))
        .await
    }
}
