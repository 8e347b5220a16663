//! Calls of members: heartbeat and watch.

use std::time::Duration;

use protocol::{HeartbeatRequest, HeartbeatResponse, WATCH_WAIT_MAX_MS, WatchResponse};

use crate::client::CoordinatorClient;
use crate::error::ClientError;
use crate::path;
use crate::transport::Call;

impl CoordinatorClient {
    /// Sends a heartbeat for the member it names. Another coordinator may be tried within the call, with the same message:
    /// take the moment before the call as the moment of sending (rule T2).
    ///
    /// ```no_run
    /// use protocol::{HeartbeatRequest, HeartbeatStatus};
    ///
    /// # async fn example(
    /// #     client: coordinator_client::CoordinatorClient,
    /// #     request: HeartbeatRequest,
    /// # ) -> Result<(), coordinator_client::ClientError> {
    /// let answer = client.heartbeat("orders", "orders", &request).await?;
    /// assert_eq!(answer.response_to, request.request_id);
    /// if answer.status == HeartbeatStatus::Ok {
    ///     println!("{:?}", answer.assignment.assigned_shards);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ClientError::Api`] with 400 for a message that is no heartbeat, with 503 when the coordinator cannot use its store.
    pub async fn heartbeat(
        &self,
        stream_prefix: &str,
        consumer_group: &str,
        request: &HeartbeatRequest,
    ) -> Result<HeartbeatResponse, ClientError> {
        let path = path::heartbeat(stream_prefix, consumer_group, &request.member_id)?;
        self.ask(Call::post(path, request).repeatable()).await
    }

    /// Waits until the group's version is above `after`, at most `wait` (cut to 30 s). The call may take the request timeout longer.
    ///
    /// ```no_run
    /// use std::time::Duration;
    ///
    /// # async fn example(client: coordinator_client::CoordinatorClient) -> Result<(), coordinator_client::ClientError> {
    /// let seen = client.watch("orders", "orders", 7, Duration::from_secs(30)).await?;
    /// if seen.changed {
    ///     println!("version {}: heartbeat at once", seen.metadata_version);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As of any call; a watch that failed says nothing about the group.
    pub async fn watch(
        &self,
        stream_prefix: &str,
        consumer_group: &str,
        after: u64,
        wait: Duration,
    ) -> Result<WatchResponse, ClientError> {
        let wait = wait.min(Duration::from_millis(WATCH_WAIT_MAX_MS));
        let group = path::group(stream_prefix, consumer_group)?;
        let path = format!("{group}/watch?after={after}&waitMs={}", wait.as_millis());
        self.ask(Call::get(path).lasting(wait)).await
    }
}
