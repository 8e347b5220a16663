//! What is in the shard streams of a group, and how far it has come in them. Read from Redis when it is asked for; nothing is delivered to anyone.

use axum::Json;
use axum::extract::State;
use coordinator_core::numbers::ShardIndex;
use protocol::{ErrorCode, MESSAGE_LIMIT_MAX, MessagePage, MessageQuery, Offsets, PageDirection};
use store::{EntryId, MessageRange, PAGE_BYTES};

use super::monitoring::age_ms;
use crate::convert;
use crate::engine::seen;
use crate::http::access::Reader;
use crate::http::path::{GroupPath, ShardPath};
use crate::http::values::Values;
use crate::http::{ApiError, App};

pub(in crate::http) async fn offsets(
    State(app): State<App>,
    _: Reader,
    GroupPath(group): GroupPath,
) -> Result<Json<Offsets>, ApiError> {
    let look = app.engine().standing(&group).await;
    let standing = seen(&look)?;
    Ok(Json(Offsets {
        as_of: Some(convert::of_clock(look.at)),
        age_ms: Some(age_ms(&look)),
        ..convert::offsets(&standing.group, &standing.shards)
    }))
}

pub(in crate::http) async fn messages(
    State(app): State<App>,
    _: Reader,
    ShardPath(group, shard): ShardPath,
    Values(query): Values<MessageQuery>,
) -> Result<Json<MessagePage>, ApiError> {
    let range = range(shard, &query)?;
    let group = app.engine().group(&group).await?;
    if !app.engine().has_stream(&group, shard) {
        let message = format!("the stream has no shard {shard}");
        return Err(ApiError::new(ErrorCode::NotFound, message));
    }
    let _room = app.room_for_records().await;
    let page = app.engine().messages(&group, &range).await?;
    Ok(Json(convert::messages(&group, shard, &query, &page)))
}

fn range(shard: ShardIndex, query: &MessageQuery) -> Result<MessageRange, ApiError> {
    if query.limit == 0 || query.limit > MESSAGE_LIMIT_MAX {
        return Err(ApiError::invalid(format!(
            "limit must be 1 to {MESSAGE_LIMIT_MAX}, not {}",
            query.limit
        )));
    }
    let cursor = query.cursor.as_deref().filter(|cursor| !cursor.is_empty());
    let after = cursor.map(|cursor| {
        EntryId::parse(cursor).ok_or_else(|| {
            ApiError::invalid(
                "cursor must be the nextCursor of the page before, like 1700000000000-0",
            )
        })
    });
    Ok(MessageRange {
        shard,
        is_backward: query.direction == PageDirection::Backward,
        after: after.transpose()?,
        limit: query.limit,
        max_bytes: PAGE_BYTES,
        with_fields: true,
    })
}
