//! The directory of all groups: sets in different slots, written before and cleaned after the records they name.

use std::collections::BTreeSet;

use coordinator_core::names::{GroupId, StreamPrefix};
use futures_util::future::try_join_all;
use redis::{Cmd, Value};
use store::{Page, PageCursor, StoreError};

use super::RedisStore;
use crate::keys::{DIRECTORIES, GroupKeys, parse_entry};

/// About how many groups a page has.
const PAGE: u32 = 100;
/// How many names Redis looks through for one answer where few of them are told.
const LOOKED_THROUGH: u32 = 1_000;

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
        let mut command = self.scan(number, from, PAGE);
        let (next, groups) = self.scanned(&mut command).await?;
        let next = match next {
            0 if number + 1 < DIRECTORIES => Some(to_cursor(number + 1, 0)),
            0 => None,
            next => Some(to_cursor(number, next)),
        };
        Ok(Page { groups, next })
    }

    /// The groups of a stream, of all sets at once. Redis looks through all of their names, and answers with those of the stream.
    pub(super) async fn list_groups_of(
        &self,
        stream: &StreamPrefix,
    ) -> Result<BTreeSet<GroupId>, StoreError> {
        let pattern = pattern_of(stream);
        let of_sets = (0..DIRECTORIES).map(|number| self.list_in(number, &pattern));
        let found = try_join_all(of_sets).await?;
        // Names of other streams look alike: `a:*` is that of `a:b`, too.
        let of_stream = |group: &GroupId| group.stream == *stream;
        Ok(found.into_iter().flatten().filter(of_stream).collect())
    }

    async fn list_in(&self, number: u16, pattern: &str) -> Result<Vec<GroupId>, StoreError> {
        let mut found = Vec::new();
        let mut from = 0;
        loop {
            let mut command = self.scan(number, from, LOOKED_THROUGH);
            let (next, groups) = self.scanned(command.arg("MATCH").arg(pattern)).await?;
            found.extend(groups);
            from = match next {
                0 => return Ok(found),
                next => next,
            };
        }
    }

    fn scan(&self, number: u16, from: u64, count: u32) -> Cmd {
        let mut command = redis::cmd("SSCAN");
        let key = self.keys.directory(number);
        command.arg(key).arg(from).arg("COUNT").arg(count);
        command
    }

    /// Where it goes on, and the groups that were named.
    async fn scanned(&self, command: &mut Cmd) -> Result<(u64, Vec<GroupId>), StoreError> {
        let value: Value = self.redis.send_again(command).await?;
        let (next, entries): (u64, Vec<String>) =
            redis::from_redis_value(value).map_err(|error| StoreError::Refused {
                reason: "SSCAN returned something unexpected".to_owned(),
                source: Some(std::sync::Arc::new(error)),
            })?;
        let parse = |entry: &String| {
            let group = parse_entry(entry);
            if group.is_none() {
                tracing::warn!(entry, "the directory has an entry that names no group");
            }
            group
        };
        Ok((next, entries.iter().filter_map(parse).collect()))
    }
}

/// What the entries of a stream's groups match, and some others.
fn pattern_of(stream: &StreamPrefix) -> String {
    let mut pattern = String::new();
    for letter in stream.as_str().chars() {
        if matches!(letter, '*' | '?' | '[' | ']' | '^' | '\\') {
            pattern.push('\\');
        }
        pattern.push(letter);
    }
    pattern.push_str(":*");
    pattern
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
