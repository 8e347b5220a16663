//! Reading what members last reported of their work.

use std::collections::BTreeMap;

use coordinator_core::names::{GroupId, MemberId};
use store::{MemberProgress, StoreError};

use super::RedisStore;
use store::records::decode_progress;

/// About how many members are read at once.
const PAGE: u32 = 500;

impl RedisStore {
    pub(super) async fn read_progress(
        &self,
        group: &GroupId,
    ) -> Result<BTreeMap<MemberId, MemberProgress>, StoreError> {
        let key = self.keys.of(group).progress;
        let mut found = BTreeMap::new();
        let mut cursor = 0_u64;
        loop {
            let mut command = redis::cmd("HSCAN");
            command.arg(&key).arg(cursor).arg("COUNT").arg(PAGE);
            let value = self.redis.send_again(&command).await?;
            let (next, rows): (u64, Vec<(String, String)>) = redis::from_redis_value(value)
                .map_err(|error| StoreError::Refused {
                    reason: "HSCAN returned something unexpected".to_owned(),
                    source: Some(std::sync::Arc::new(error)),
                })?;
            for (member, text) in &rows {
                match (MemberId::parse(member), decode_progress(text)) {
                    (Ok(member), Ok(progress)) => {
                        found.insert(member, progress);
                    }
                    _ => tracing::warn!(%group, member, "progress that can't be read is left out"),
                }
            }
            if next == 0 {
                return Ok(found);
            }
            cursor = next;
        }
    }
}
