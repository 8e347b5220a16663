//! Writing a record in the place of one that can't be read. What can be read is left alone.

use coordinator_core::names::GroupId;
use coordinator_core::numbers::StoreRevision;
use coordinator_core::record::GroupRecord;
use store::{CreateError, Etag, GroupLock, Stamp, StoreError};

use super::RedisStore;
use super::calls::{all_of, create_call};
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
            Err(StoreError::Corrupt { .. }) => self.write_over(&lock, record).await,
            Err(error) => Err(error.into()),
            Ok(Some(_)) => Err(CreateError::AlreadyExists),
            Ok(None) => self.create_group(&lock, record).await,
        };
        self.release_right(&lock).await;
        outcome
    }

    async fn write_over(
        &self,
        lock: &GroupLock,
        record: &GroupRecord,
    ) -> Result<Stamp, CreateError> {
        let stamp = Stamp {
            revision: StoreRevision::new(1),
            etag: Etag::fresh(),
        };
        let keys = self.keys.of(&lock.group);
        self.enter_in_directory(&keys).await?;
        let names = all_of(&keys);
        let call = create_call(&script::REPLACE, &names, lock, record, &stamp, &keys);
        self.first_record(&call, lock, stamp).await
    }
}
