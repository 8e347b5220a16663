//! The directory of all groups: sets in different slots, written before and cleaned after the records they name.

use coordinator_core::names::GroupId;
use redis::Value;
use store::{Page, PageCursor, StoreError};

use super::RedisStore;
use crate::keys::{DIRECTORIES, GroupKeys, parse_entry};

/// About how many groups a page has.
const PAGE: u32 = 100;

impl RedisStore {
    /// Names a group before its record is written.
    pub(super) async fn enter_in_directory(&self, keys: &GroupKeys) -> Result<(), StoreError> {
        let mut command = redis::cmd("SADD");
        command.arg(&keys.directory).arg(&keys.entry);
        self.redis.send_again(&command).await?;
        Ok(())
    }

    /// Cleans the directory of a group whose record was removed, under the right to it. What stays in it by a failure names no group.
    pub(super) async fn clear_directory(&self, group: &GroupId, keys: &GroupKeys) {
        let mut command = redis::cmd("SREM");
        command.arg(&keys.directory).arg(&keys.entry);
        if let Err(failure) = self.redis.send_again(&command).await {
            tracing::warn!(%group, error = %failure.error, "a removed group is still named in the directory");
            return;
        }
        // If the right had run out meanwhile, a successor may have created the group again.
        if !matches!(self.load_group(group, None).await, Ok(None)) {
            let entered = self.enter_in_directory(keys).await;
            if let Err(error) = entered {
                tracing::warn!(%group, %error, "the directory may lack a group");
            }
        }
    }

    /// One part of one of the sets. A set that is replaced by a failover meanwhile may be listed with gaps; the next listing has all of it.
    pub(super) async fn list_groups(&self, cursor: &PageCursor) -> Result<Page, StoreError> {
        let (number, from) = parse_cursor(&cursor.0)?;
        let mut command = redis::cmd("SSCAN");
        command
            .arg(self.keys.directory(number))
            .arg(from)
            .arg("COUNT")
            .arg(PAGE);
        let value: Value = self.redis.send_again(&command).await?;
        let (next, entries): (u64, Vec<String>) =
            redis::from_redis_value(value).map_err(|error| StoreError::Refused {
                reason: "SSCAN returned something unexpected".to_owned(),
                source: Some(std::sync::Arc::new(error)),
            })?;
        let next = match next {
            0 if number + 1 < DIRECTORIES => Some(to_cursor(number + 1, 0)),
            0 => None,
            next => Some(to_cursor(number, next)),
        };
        let parse = |entry: &String| {
            let group = parse_entry(entry);
            if group.is_none() {
                tracing::warn!(entry, "the directory has an entry that names no group");
            }
            group
        };
        Ok(Page {
            groups: entries.iter().filter_map(parse).collect(),
            next,
        })
    }
}

fn to_cursor(number: u16, next: u64) -> PageCursor {
    PageCursor(format!("{number}:{next}"))
}

fn parse_cursor(text: &str) -> Result<(u16, u64), StoreError> {
    if text.is_empty() {
        return Ok((0, 0));
    }
    let parsed = text
        .split_once(':')
        .and_then(|(number, next)| Some((number.parse().ok()?, next.parse().ok()?)))
        .filter(|(number, _)| *number < DIRECTORIES);
    parsed.ok_or_else(|| StoreError::Refused {
        reason: format!("{text:?} is no cursor of the directory"),
        source: None,
    })
}
