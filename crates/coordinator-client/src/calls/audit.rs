//! The call that reads what was changed, and by whom.

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use protocol::{AuditEvents, AuditQuery};

use crate::client::CoordinatorClient;
use crate::error::ClientError;
use crate::transport::Call;

impl CoordinatorClient {
    /// The latest mutations, newest first; refused ones too.
    ///
    /// ```no_run
    /// use protocol::AuditQuery;
    ///
    /// # async fn example(client: coordinator_client::CoordinatorClient) -> Result<(), coordinator_client::ClientError> {
    /// let query = AuditQuery { stream_prefix: Some("orders".to_owned()), limit: Some(20) };
    /// for event in client.audit(&query).await?.events {
    ///     println!("{} {:?} {:?} by {:?}", event.timestamp, event.action, event.outcome, event.principal);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ClientError::Api`] with `INVALID_REQUEST` for a limit that the coordinator does not allow; with `NOT_FOUND` where it is too old to keep an audit.
    pub async fn audit(&self, query: &AuditQuery) -> Result<AuditEvents, ClientError> {
        let stream = query.stream_prefix.as_deref().map(|prefix| {
            format!(
                "streamPrefix={}",
                utf8_percent_encode(prefix, NON_ALPHANUMERIC)
            )
        });
        let limit = query.limit.map(|limit| format!("limit={limit}"));
        let asked: Vec<String> = stream.into_iter().chain(limit).collect();
        let mut path = "/coord/v1/monitoring/audit".to_owned();
        if !asked.is_empty() {
            path.push('?');
            path.push_str(&asked.join("&"));
        }
        self.ask(Call::get(path)).await
    }
}
