//! What becomes of a first connection: a configuration that can't work and a Redis that refuses are told at once; one that is away is
//! waited for (case C08).

use store::StoreError;

use crate::config::ConfigError;

/// Why a Redis can't be used.
#[derive(Clone, Debug, thiserror::Error)]
pub enum ConnectError {
    /// The configuration can't work.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// Redis is too old, wants another user, or lacks a permission.
    #[error(transparent)]
    Refused(StoreError),
}

/// Lets a Redis that is merely away pass: every use tries it again.
pub(crate) fn tolerate_absence(outcome: Result<(), StoreError>) -> Result<(), ConnectError> {
    match outcome {
        Err(error @ StoreError::Unavailable { .. }) => {
            tracing::warn!(%error, "Redis is not available yet");
            Ok(())
        }
        Err(error) => Err(ConnectError::Refused(error)),
        Ok(()) => Ok(()),
    }
}
