//! What was asked of coordinators, and what became of it. What is read for an answer is bounded, however many groups there are.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use axum::Json;
use axum::extract::State;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use protocol::{AUDIT_LIMIT_DEFAULT, AUDIT_LIMIT_MAX, AuditEvent, AuditEvents, AuditQuery};
use store::{AUDIT_CAP, AuditFilter, AuditSink};

use crate::convert;
use crate::engine::EngineError;
use crate::http::access::Reader;
use crate::http::path::Values;
use crate::http::{ApiError, App};

/// How many places are read at once.
const AT_ONCE: usize = 8;
/// The most groups of a stream whose own events are read; those of others are found among the fleet's.
const GROUPS: usize = 64;

pub(in crate::http) async fn list(
    State(app): State<App>,
    _: Reader,
    Values(query): Values<AuditQuery>,
) -> Result<Json<AuditEvents>, ApiError> {
    let limit = query.limit.unwrap_or(AUDIT_LIMIT_DEFAULT);
    if limit == 0 || limit > AUDIT_LIMIT_MAX {
        return Err(ApiError::invalid(format!(
            "limit must be 1 to {AUDIT_LIMIT_MAX}, not {limit}"
        )));
    }
    let stream = query.stream_prefix.filter(|stream| !stream.is_empty());
    let mut places = vec![AuditFilter::Fleet, AuditFilter::Unproved];
    // Of the fleet's events only some are the stream's.
    let mut most = limit as usize;
    if let Some(stream) = &stream {
        let stream = convert::stream_prefix(stream)?;
        let groups = app.engine().groups_of_stream(&stream).await?;
        places.extend(groups.into_iter().take(GROUPS).map(AuditFilter::Group));
        most = AUDIT_CAP;
    }
    let Some(sink) = app.engine().audit() else {
        return Ok(Json(AuditEvents::default()));
    };
    let mut events = read(&*sink, places, most).await?;
    events.retain(|event| stream.is_none() || event.stream_prefix == stream);
    // Newest first; those of the same millisecond stay as they were found.
    events.sort_by_key(|event| Reverse(event.timestamp));
    let mut known = BTreeSet::new();
    events.retain(|event| event.event_id.is_none() || known.insert(event.event_id.clone()));
    events.truncate(limit as usize);
    Ok(Json(AuditEvents { events }))
}

async fn read(
    sink: &dyn AuditSink,
    places: Vec<AuditFilter>,
    most: usize,
) -> Result<Vec<AuditEvent>, ApiError> {
    let reading = stream::iter(places)
        .map(|place| async move { sink.latest(&place, most).await })
        .buffered(AT_ONCE);
    let found: Vec<Vec<String>> = reading.try_collect().await.map_err(EngineError::from)?;
    let parsed = found.iter().flatten().filter_map(|text| {
        let event = serde_json::from_str(text);
        event
            .inspect_err(|error| tracing::warn!(%error, "an audit event can't be read"))
            .ok()
    });
    Ok(parsed.collect())
}
