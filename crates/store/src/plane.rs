//! The shard streams themselves, as far as the coordinator makes them. It never reads or acknowledges an entry.

use async_trait::async_trait;
use coordinator_core::names::{ConsumerGroup, StreamPrefix};
use coordinator_core::numbers::ShardCount;

use crate::error::Cause;

/// Why the shard streams could not be made.
#[derive(Clone, Debug, thiserror::Error)]
pub enum PlaneError {
    /// Keys of that name exist and are not ours. Nothing was written.
    #[error("these keys exist already and belong to no recorded stream (they may be what a deleted one left): {}", keys.join(", "))]
    ForeignKeys {
        /// The keys, the first few of them.
        keys: Vec<String>,
    },
    /// Redis did not do it. Repeating it finishes what was half done.
    #[error("provisioning shard streams failed: {reason}")]
    Failed {
        /// What it answered, in short.
        reason: String,
        /// Whether the same call may succeed later.
        retryable: bool,
        /// The driver's error.
        #[source]
        source: Option<Cause>,
    },
}

/// The Redis that holds the shard streams.
#[async_trait]
pub trait ShardPlane: Send + Sync {
    /// Checks that no key of the stream's shards exists yet. Writes nothing.
    ///
    /// # Errors
    /// [`PlaneError::ForeignKeys`] names those that do.
    async fn check_vacant(
        &self,
        stream: &StreamPrefix,
        shards: ShardCount,
    ) -> Result<(), PlaneError>;

    /// Makes every shard stream with the consumer groups, from the first entry on. What exists already is left as it is, so that a half
    /// done provisioning is finished by repeating it.
    ///
    /// # Errors
    /// [`PlaneError::ForeignKeys`] where a key is no stream; [`PlaneError::Failed`] otherwise.
    async fn provision(
        &self,
        stream: &StreamPrefix,
        shards: ShardCount,
        groups: &[ConsumerGroup],
    ) -> Result<(), PlaneError>;

    /// Whether the Redis that holds the streams answers.
    ///
    /// # Errors
    /// [`PlaneError::Failed`] says why not.
    async fn check_ready(&self) -> Result<(), PlaneError>;
}
