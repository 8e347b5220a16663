//! The calls of administrators about the metadata as a file. What stands in it is in `protocol`.

use std::time::Duration;

use bytes::Bytes;
use protocol::{RestoreQuery, Restored, SNAPSHOT_MEDIA_TYPE};

use crate::client::CoordinatorClient;
use crate::error::ClientError;
use crate::path;
use crate::transport::Call;

/// For how long a store of many groups may be read or written, beyond the client's request timeout.
const LONG: Duration = Duration::from_secs(600);

impl CoordinatorClient {
    /// The metadata of all groups as a file of lines, see [`protocol::SnapshotLine`]. Whether it is whole is for the caller to check: it is if its last line is an
    /// end whose digest is right.
    ///
    /// ```no_run
    /// # async fn example(client: coordinator_client::CoordinatorClient) -> Result<(), Box<dyn std::error::Error>> {
    /// std::fs::write("metadata.snapshot", client.snapshot().await?)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ClientError::Api`] with 403 without the role `ADMIN`; [`ClientError::Transport`] where the answer breaks off.
    pub async fn snapshot(&self) -> Result<Bytes, ClientError> {
        let call = Call::get("/coord/v1/admin/snapshot".to_owned()).lasting(LONG);
        self.ask_for_bytes(call).await
    }

    /// Puts the metadata of a snapshot back: into a store without groups, or with `force` in the place of the groups that are there. Others stay.
    ///
    /// ```no_run
    /// use protocol::RestoreQuery;
    ///
    /// # async fn example(client: coordinator_client::CoordinatorClient) -> Result<(), Box<dyn std::error::Error>> {
    /// let file = std::fs::read("metadata.snapshot")?;
    /// let query = RestoreQuery { requested_by: Some("ops".to_owned()), ..RestoreQuery::default() };
    /// let restored = client.restore_snapshot(file.into(), &query).await?;
    /// println!("{} groups", restored.groups.len());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ClientError::Api`] with `GROUP_ALREADY_EXISTS` where the store is not empty, with `INVALID_REQUEST` where the file is cut or changed.
    pub async fn restore_snapshot(
        &self,
        file: Bytes,
        query: &RestoreQuery,
    ) -> Result<Restored, ClientError> {
        let call = Call::upload(path::restore(query), SNAPSHOT_MEDIA_TYPE, file).lasting(LONG);
        self.ask(call).await
    }
}
