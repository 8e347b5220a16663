//! Indexes beside the records of groups, on the same connection and with names of their own for each control plane. What is in them, and what for, is for
//! others to say.

use std::sync::Arc;

use projection::{Index, InvalidInput, ProjectionName, RedisIndex};

use super::RedisStore;
use crate::link::SharedLink;

/// An index can't be called so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the key prefix is too long for the name of an index: {0}")]
pub struct IndexNameError(InvalidInput);

impl RedisStore {
    /// An index of the control plane of this store. Its keys begin with `{pj:<what>@<key prefix>:`. It may be lost at any time.
    ///
    /// # Errors
    /// [`IndexNameError`]: the name would be too long.
    pub fn index(&self, what: &str) -> Result<Arc<dyn Index>, IndexNameError> {
        let name = ProjectionName::new(format!("{what}@{}", self.keys.prefix()));
        let link = SharedLink(Arc::clone(&self.redis));
        Ok(Arc::new(RedisIndex::new(
            name.map_err(IndexNameError)?,
            link,
        )))
    }
}
