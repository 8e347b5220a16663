//! The newest records of some shards as rows. A shard that can't be read has a row that says why (case C04). What is read for an answer is bounded in bytes.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use coordinator_core::Group;
use coordinator_core::numbers::ShardIndex;
use futures_util::stream::{self, StreamExt};
use protocol::{GrafanaMessageRow, MESSAGE_LIMIT_MAX};
use store::{Message, MessagePage, MessageRange, PAGE_BYTES};

use super::query::GrafanaQuery;
use super::walk::Walk;
use super::{AT_ONCE, Rows, rows, there};
use crate::convert;
use crate::engine::{self, EngineError};
use crate::http::access::Reader;
use crate::http::{ApiError, App};

/// The most shards of which records are told in one answer.
const SHARDS: usize = 64;
/// How many bytes of records are read for one answer, about; each shard may have its part of them, and no more than a page has.
const BYTES: usize = 16 << 20;

/// A shard, and the group for which it is read.
type Place = (Arc<Group>, ShardIndex);

/// Newest first. A stream of several groups is read once, for the first of them that is asked for.
pub(in crate::http) async fn messages(
    State(app): State<App>,
    _: Reader,
    query: GrafanaQuery,
) -> Rows<GrafanaMessageRow> {
    if !app.engine().has_plane() {
        return Err(EngineError::NoPlane.into());
    }
    let mut walk = Walk::begin(&app, &query);
    let (places, age) = places(&app, &mut walk, &query).await?;
    if places.len() > SHARDS {
        return Err(ApiError::invalid(format!(
            "more than {SHARDS} shards are asked for, so many are read at once: name streamPrefix or shardIndex"
        )));
    }
    let limit = query.limit.min(MESSAGE_LIMIT_MAX as usize);
    let max_bytes = (BYTES / places.len().max(1)).min(PAGE_BYTES);
    let reading = places.into_iter().map(async |place: Place| {
        let range = MessageRange {
            shard: place.1,
            is_backward: true,
            after: None,
            limit: u32::try_from(limit).unwrap_or(MESSAGE_LIMIT_MAX),
            max_bytes,
            with_fields: query.with_fields,
        };
        let _room = app.room_for_records().await;
        let page = app.engine().messages(&place.0, &range).await;
        (place, page)
    });
    let mut newest = Newest::new(limit);
    let mut reading = std::pin::pin!(stream::iter(reading).buffered(AT_ONCE));
    while let Some((place, page)) = reading.next().await {
        newest.add(place, page);
    }
    let mut told = newest.into_rows(query.with_fields)?;
    told.truncate(limit);
    rows(told, walk.origin(age, None))
}

/// The shards that are asked for, up to one more than are read, and how old what is known of them is.
async fn places(
    app: &App,
    walk: &mut Walk<'_>,
    query: &GrafanaQuery,
) -> Result<(Vec<Place>, Duration), ApiError> {
    let mut known = BTreeSet::new();
    let (mut places, mut age) = (Vec::new(), Duration::ZERO);
    while let Some(groups) = walk.next().await? {
        for listed in groups {
            let room = SHARDS + 1 - places.len();
            if room == 0 {
                return Ok((places, age));
            }
            if !known.insert(listed.id.stream.clone()) {
                continue;
            }
            let look = app.engine().shared_group(&listed.id).await;
            age = age.max(look.age());
            let Some(group) = there(&look)?.cloned().map(Arc::new) else {
                continue;
            };
            let shards = engine::streams(&group);
            let wanted = shards.iter();
            let wanted = wanted.filter(|shard| query.shard.allows_shard(*shard));
            places.extend(wanted.take(room).map(|shard| (Arc::clone(&group), shard)));
        }
    }
    Ok((places, age))
}

/// What was found so far: no more records than are told in the end.
struct Newest {
    limit: usize,
    /// Whether any shard could be read.
    any: bool,
    found: Vec<(Place, Message)>,
    broken: Vec<(Place, EngineError)>,
}

impl Newest {
    const fn new(limit: usize) -> Self {
        Self {
            limit,
            any: false,
            found: Vec::new(),
            broken: Vec::new(),
        }
    }

    fn add(&mut self, place: Place, page: Result<MessagePage, EngineError>) {
        match page {
            Ok(page) => {
                self.any = true;
                let messages = page.messages.into_iter();
                self.found
                    .extend(messages.map(|message| (place.clone(), message)));
                self.found.sort_by_key(|(_, message)| Reverse(message.id));
                self.found.truncate(self.limit);
            }
            Err(error) => self.broken.push((place, error)),
        }
    }

    /// The shards that can't be read come first, so that no limit hides them; where none can be read, the first error is told.
    fn into_rows(self, with_fields: bool) -> Result<Vec<GrafanaMessageRow>, EngineError> {
        let broken = self.broken.iter().map(|((group, shard), error)| {
            convert::broken_shard_row(group, *shard, error.to_string())
        });
        let found = self.found.iter().map(|((group, shard), message)| {
            convert::message_row(group, *shard, message, with_fields)
        });
        let rows = broken.chain(found).collect();
        match self.broken.into_iter().next() {
            Some((_, error)) if !self.any => Err(error),
            _ => Ok(rows),
        }
    }
}
