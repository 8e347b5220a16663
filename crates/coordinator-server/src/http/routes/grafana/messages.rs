//! The newest records of some shards as rows. A shard that can't be read is left out (case C04).

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use axum::extract::State;
use coordinator_core::Group;
use coordinator_core::numbers::ShardIndex;
use futures_util::stream::{self, StreamExt};
use protocol::{GrafanaMessageRow, MESSAGE_LIMIT_MAX};
use store::{Message, MessageRange};

use super::query::GrafanaQuery;
use super::{AT_ONCE, Rows, groups_of, rows};
use crate::convert;
use crate::engine::{self, Engine, EngineError};
use crate::http::access::Reader;
use crate::http::{ApiError, App};

/// The most shards of which records are told in one answer.
const SHARDS: usize = 64;

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
    let (groups, age) = groups_of(&app, &query).await?;
    let places = places(groups, &query);
    if places.len() > SHARDS {
        let count = places.len();
        return Err(ApiError::invalid(format!(
            "{count} shards are asked for, at most {SHARDS} are read at once: name streamPrefix or shardIndex"
        )));
    }
    let limit = query.limit.min(MESSAGE_LIMIT_MAX as usize);
    let reading = places
        .into_iter()
        .map(|place| newest(app.engine().clone(), place, limit));
    let read: Vec<_> = stream::iter(reading).buffered(AT_ONCE).collect().await;
    let mut found: Vec<(Place, Message)> = read.into_iter().flatten().collect();
    found.sort_by_key(|(_, message)| Reverse(message.id));
    found.truncate(limit);
    let row = |((group, shard), message): &(Place, Message)| {
        convert::message_row(group, *shard, message, query.with_fields)
    };
    rows(found.iter().map(row).collect(), limit, age)
}

fn places(groups: Vec<Group>, query: &GrafanaQuery) -> Vec<Place> {
    let mut known = BTreeSet::new();
    let mut places = Vec::new();
    for group in groups.into_iter().map(Arc::new) {
        if known.insert(group.record().id.stream.clone()) {
            let shards = engine::streams(&group);
            let wanted = shards
                .iter()
                .filter(|shard| query.shard.allows(&shard.to_string()));
            places.extend(wanted.map(|shard| (Arc::clone(&group), shard)));
        }
    }
    places
}

async fn newest(engine: Engine, place: Place, limit: usize) -> Vec<(Place, Message)> {
    let range = MessageRange {
        shard: place.1,
        is_backward: true,
        after: None,
        limit: u32::try_from(limit).unwrap_or(MESSAGE_LIMIT_MAX),
    };
    match engine.messages(&place.0, &range).await {
        Ok(page) => {
            let messages = page.messages.into_iter();
            messages.map(|message| (place.clone(), message)).collect()
        }
        Err(error) => {
            tracing::debug!(group = %place.0.record().id, shard = %place.1, %error, "a shard is left out of the records");
            Vec::new()
        }
    }
}
