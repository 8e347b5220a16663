//! Calls of operators and dashboards that only look.

use protocol::{Assignments, Compatibility, Group, GroupList, Health, MemberList, Session};

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
}
