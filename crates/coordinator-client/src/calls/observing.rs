//! Calls of those who look on: what members report, and what was asked of coordinators.

use protocol::{AuditEvents, AuditQuery, Consumption};

use crate::client::CoordinatorClient;
use crate::error::ClientError;
use crate::path;
use crate::transport::Call;

/// ```no_run
/// use protocol::AuditQuery;
///
/// # async fn example(client: coordinator_client::CoordinatorClient) -> Result<(), coordinator_client::ClientError> {
/// for row in client.consumption("orders", "billing").await?.progress {
///     println!("{} acknowledged {:?} in {}", row.member_id, row.progress.last_acked_id, row.progress.stream_key);
/// }
/// let latest = AuditQuery { stream_prefix: Some("orders".to_owned()), limit: Some(10), ..AuditQuery::default() };
/// for event in client.audit_events(&latest).await?.events {
///     println!("{} {:?} {:?}", event.timestamp, event.action, event.outcome);
/// }
/// # Ok(())
/// # }
/// ```
impl CoordinatorClient {
    /// How far the members of a group have come, as they say themselves; `age_ms` says how old that is.
    ///
    /// # Errors
    /// [`ClientError::Api`] with `GROUP_NOT_FOUND`.
    pub async fn consumption(
        &self,
        stream_prefix: &str,
        consumer_group: &str,
    ) -> Result<Consumption, ClientError> {
        let group = path::monitored_group(stream_prefix, consumer_group)?;
        self.ask(Call::get(format!("{group}/consumption"))).await
    }

    /// The latest mutations that were asked for, newest first, refused ones included.
    ///
    /// # Errors
    /// [`ClientError::Api`] with `INVALID_REQUEST` for a limit that is not 1 to [`protocol::AUDIT_LIMIT_MAX`].
    pub async fn audit_events(&self, query: &AuditQuery) -> Result<AuditEvents, ClientError> {
        self.ask(Call::get(path::audit(query)?)).await
    }
}
