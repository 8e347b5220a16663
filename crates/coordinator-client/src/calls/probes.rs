//! Calls of supervisors and scrapers. They ask the coordinator that answered last and no other: its state is what is asked for.

use crate::client::CoordinatorClient;
use crate::error::ClientError;
use crate::transport::Call;

/// ```no_run
/// # async fn example(client: coordinator_client::CoordinatorClient) -> Result<(), coordinator_client::ClientError> {
/// assert!(client.is_live().await?);
/// if client.is_ready().await? {
///     println!("{}", client.metrics().await?);
/// }
/// # Ok(())
/// # }
/// ```
impl CoordinatorClient {
    /// Whether the process is up.
    ///
    /// # Errors
    /// No answer came.
    pub async fn is_live(&self) -> Result<bool, ClientError> {
        self.probe("/healthz").await
    }

    /// Whether the coordinator takes calls: it is not on its way out, and has its store.
    ///
    /// # Errors
    /// No answer came, or one that is neither 2xx nor 503.
    pub async fn is_ready(&self) -> Result<bool, ClientError> {
        self.probe("/readyz").await
    }

    /// Why the coordinator does not take calls, in its own words; nothing where it does.
    ///
    /// ```no_run
    /// # async fn example(client: coordinator_client::CoordinatorClient) -> Result<(), coordinator_client::ClientError> {
    /// if let Some(why) = client.why_not_ready().await? {
    ///     println!("not ready: {why}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// No answer came, or one that is neither 2xx nor 503.
    pub async fn why_not_ready(&self) -> Result<Option<String>, ClientError> {
        let call = Call::get("/readyz".to_owned()).anonymous();
        let answer = self.send_to_one(&call).await?;
        if answer.is_success() {
            return Ok(None);
        }
        match answer.into_error() {
            ClientError::Api {
                status: 503,
                code,
                message,
                ..
            } => Ok(Some(format!("{code}: {message}"))),
            other => Err(other),
        }
    }

    /// The metrics as Prometheus text.
    ///
    /// # Errors
    /// No answer came, or a refusal.
    pub async fn metrics(&self) -> Result<String, ClientError> {
        let answer = self
            .send_to_one(&Call::get("/metrics".to_owned()).anonymous())
            .await?;
        if !answer.is_success() {
            return Err(answer.into_error());
        }
        Ok(String::from_utf8_lossy(&answer.body).into_owned())
    }

    async fn probe(&self, path: &str) -> Result<bool, ClientError> {
        let answer = self
            .send_to_one(&Call::get(path.to_owned()).anonymous())
            .await?;
        match answer.status {
            503 => Ok(false),
            _ if answer.is_success() => Ok(true),
            _ => Err(answer.into_error()),
        }
    }
}
