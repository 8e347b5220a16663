//! Calls of operators and dashboards that only look.

use protocol::{
    Assignments, Compatibility, Group, GroupList, GroupsQuery, Health, MemberList, MessagePage,
    MessageQuery, Offsets, Session,
};

use crate::client::CoordinatorClient;
use crate::error::ClientError;
use crate::path;
use crate::transport::Call;

/// ```no_run
/// # async fn example(client: coordinator_client::CoordinatorClient) -> Result<(), coordinator_client::ClientError> {
/// println!("{:?}", client.health().await?.status);
/// println!("version {}", client.compatibility().await?.current_coordination_version);
/// println!("{:?}", client.session().await?.username);
/// for group in client.groups().await?.groups {
///     let (prefix, name) = (&group.stream_prefix, &group.consumer_group);
///     println!("{:?}", client.monitored_group(prefix, name).await?.state);
///     println!("{} members", client.members(prefix, name).await?.members.len());
///     println!("{:?}", client.assignments(prefix, name).await?.invariant_violations);
/// }
/// # Ok(())
/// # }
/// ```
impl CoordinatorClient {
    /// How the coordinator fares.
    ///
    /// # Errors
    /// As of any call.
    pub async fn health(&self) -> Result<Health, ClientError> {
        self.ask(Call::get("/coord/v1/monitoring/health".to_owned()))
            .await
    }

    /// Who the coordinator takes this client for.
    ///
    /// # Errors
    /// As of any call.
    pub async fn session(&self) -> Result<Session, ClientError> {
        self.ask(Call::get("/coord/v1/monitoring/session".to_owned()))
            .await
    }

    /// Which versions of the coordination protocol the coordinator understands.
    ///
    /// # Errors
    /// As of any call.
    pub async fn compatibility(&self) -> Result<Compatibility, ClientError> {
        self.ask(Call::get("/coord/v1/monitoring/compatibility".to_owned()))
            .await
    }

    /// Every group.
    ///
    /// # Errors
    /// As of any call.
    pub async fn groups(&self) -> Result<GroupList, ClientError> {
        self.ask(Call::get("/coord/v1/monitoring/groups".to_owned()))
            .await
    }

    /// A page of the groups: `limit` at most, from `cursor` on, those of a stream or in a state if the query names one. Where fleets are large, a list that
    /// is shown again and again costs the coordinator less so.
    ///
    /// ```no_run
    /// # async fn example(client: coordinator_client::CoordinatorClient) -> Result<(), coordinator_client::ClientError> {
    /// use protocol::GroupsQuery;
    ///
    /// let mut query = GroupsQuery { limit: Some(100), ..GroupsQuery::default() };
    /// loop {
    ///     let page = client.groups_page(&query).await?;
    ///     for group in &page.groups {
    ///         println!("{} {}", group.stream_prefix, group.consumer_group);
    ///     }
    ///     query.cursor = page.next_cursor;
    ///     if query.cursor.is_none() {
    ///         break;
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As of any call; `INVALID_REQUEST` if limit or cursor are none.
    pub async fn groups_page(&self, query: &GroupsQuery) -> Result<GroupList, ClientError> {
        self.ask(Call::get(path::groups(query)?)).await
    }

    /// One group.
    ///
    /// # Errors
    /// [`ClientError::Api`] with `GROUP_NOT_FOUND`.
    pub async fn monitored_group(
        &self,
        stream_prefix: &str,
        consumer_group: &str,
    ) -> Result<Group, ClientError> {
        self.ask(Call::get(path::monitored_group(
            stream_prefix,
            consumer_group,
        )?))
        .await
    }

    /// The members of a group.
    ///
    /// # Errors
    /// [`ClientError::Api`] with `GROUP_NOT_FOUND`.
    pub async fn members(
        &self,
        stream_prefix: &str,
        consumer_group: &str,
    ) -> Result<MemberList, ClientError> {
        let group = path::monitored_group(stream_prefix, consumer_group)?;
        self.ask(Call::get(format!("{group}/members"))).await
    }

    /// Who should have which shard of a group, and who has.
    ///
    /// # Errors
    /// [`ClientError::Api`] with `GROUP_NOT_FOUND`.
    pub async fn assignments(
        &self,
        stream_prefix: &str,
        consumer_group: &str,
    ) -> Result<Assignments, ClientError> {
        let group = path::monitored_group(stream_prefix, consumer_group)?;
        self.ask(Call::get(format!("{group}/assignments"))).await
    }

    /// Where each shard's stream stands, as Redis tells it now. What is not known is `None`, never 0.
    ///
    /// ```no_run
    /// # async fn example(client: coordinator_client::CoordinatorClient) -> Result<(), coordinator_client::ClientError> {
    /// for shard in client.offsets("orders", "billing").await?.shards {
    ///     println!("{}: {:?} left to do, {:?} in the stream", shard.stream_key, shard.backlog, shard.stream_length);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ClientError::Api`] with `GROUP_NOT_FOUND`; with `REDIS_NOT_CONFIGURED` where the coordinator has no Redis of shard streams.
    pub async fn offsets(
        &self,
        stream_prefix: &str,
        consumer_group: &str,
    ) -> Result<Offsets, ClientError> {
        let group = path::monitored_group(stream_prefix, consumer_group)?;
        self.ask(Call::get(format!("{group}/offsets"))).await
    }

    /// A page of what is in a shard's stream. Looking delivers nothing to anyone. The `next_cursor` of a page is the `cursor` of the one after it.
    ///
    /// ```no_run
    /// use protocol::{MessageQuery, PageDirection};
    ///
    /// # async fn example(client: coordinator_client::CoordinatorClient) -> Result<(), coordinator_client::ClientError> {
    /// let mut query = MessageQuery { direction: PageDirection::Forward, cursor: None, limit: 100 };
    /// loop {
    ///     let page = client.messages("orders", "billing", 3, &query).await?;
    ///     for record in page.records {
    ///         println!("{}: {} fields", record.record_id, record.fields.len());
    ///     }
    ///     query.cursor = page.next_cursor;
    ///     if query.cursor.is_none() {
    ///         break;
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ClientError::Api`] with `GROUP_NOT_FOUND`; with `NOT_FOUND` for a shard that the stream does not have; with `INVALID_REQUEST` for a limit that is
    /// not 1 to [`protocol::MESSAGE_LIMIT_MAX`]; with `REDIS_NOT_CONFIGURED` where the coordinator has no Redis of shard streams.
    pub async fn messages(
        &self,
        stream_prefix: &str,
        consumer_group: &str,
        shard_index: u32,
        query: &MessageQuery,
    ) -> Result<MessagePage, ClientError> {
        let path = path::messages(stream_prefix, consumer_group, shard_index, query)?;
        self.ask(Call::get(path)).await
    }
}
