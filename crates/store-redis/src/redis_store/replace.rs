//! Writing a record in the place of one that can't be read. What can be read is left alone.

use coordinator_core::names::GroupId;
use coordinator_core::record::GroupRecord;
use store::{CreateError, Etag, GroupLock, Stamp, StoreError};

use super::RedisStore;
use crate::script;

impl RedisStore {
    pub(super) async fn replace_group(
        &self,
        group: &GroupId,
        record: &GroupRecord,
    ) -> Result<Stamp, CreateError> {
        let lock = GroupLock {
            group: group.clone(),
            token: Etag::fresh(),
        };
        let (_, found) = self.take_right(&lock, None).await?;
        let outcome = match found {
            Err(StoreError::Corrupt { .. }) => {
                self.write_first(&script::REPLACE, &lock, record).await
            }
            Err(error) => Err(error.into()),
            Ok(Some(_)) => Err(CreateError::AlreadyExists),
            Ok(None) => self.create_group(&lock, record).await,
        };
        self.release_right(&lock).await;
        outcome
    }
}
