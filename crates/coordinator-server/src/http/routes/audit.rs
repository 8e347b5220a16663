//! What was asked of coordinators, and what became of it. What is read for an answer is bounded, however many groups there are.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use axum::Json;
use axum::extract::State;
use coordinator_core::names::{GroupId, StreamPrefix};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use protocol::{AUDIT_LIMIT_DEFAULT, AUDIT_LIMIT_MAX, AuditEvent, AuditEvents, AuditQuery};
use store::{AUDIT_CAP, AuditFilter};

use crate::convert::{self, BadName};
use crate::engine::EngineError;
use crate::http::access::Reader;
use crate::http::values::Values;
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
    let subject = Subject::of(query)?;
    let places = places(&app, &subject).await?;
    let Some(sink) = app.engine().audit() else {
        return Ok(Json(AuditEvents::default()));
    };
    let limit = limit as usize;
    let reading = places.into_iter().map(|place| {
        let most = subject.most(&place, limit);
        let (sink, subject) = (&*sink, &subject);
        async move {
            let texts = sink.latest(&place, most).await.map_err(EngineError::from)?;
            // What is not asked for goes before the next place is read.
            let parsed = texts.iter().filter_map(|text| event(text));
            let wanted = parsed.filter(|event| subject.is_of(event)).take(limit);
            Ok::<Vec<_>, ApiError>(wanted.collect())
        }
    });
    let mut reading = std::pin::pin!(stream::iter(reading).buffered(AT_ONCE));
    let mut events = Vec::new();
    while let Some(found) = reading.try_next().await? {
        events = latest(events, found, limit);
    }
    Ok(Json(AuditEvents { events }))
}

/// Of whom events are asked for.
enum Subject {
    Fleet,
    Stream(StreamPrefix),
    Group(GroupId),
}

impl Subject {
    fn of(query: AuditQuery) -> Result<Self, BadName> {
        let named = |name: Option<String>| name.filter(|name| !name.is_empty());
        let stream = named(query.stream_prefix);
        match (stream, named(query.consumer_group)) {
            (None, None) => Ok(Self::Fleet),
            (Some(stream), None) => convert::stream_prefix(&stream).map(Self::Stream),
            // Without a stream the group is of none: the name that is missing is told.
            (stream, Some(group)) => {
                convert::group_id(&stream.unwrap_or_default(), &group).map(Self::Group)
            }
        }
    }

    /// How many events of a place are read: in the fleet's only some are of the subject.
    fn most(&self, place: &AuditFilter, limit: usize) -> usize {
        match (self, place) {
            (Self::Fleet, _) | (_, AuditFilter::Group(_)) => limit,
            (_, AuditFilter::Fleet | AuditFilter::Unproved) => AUDIT_CAP,
        }
    }

    /// Whether an event is about it. What concerns a whole stream is about the group named like it.
    fn is_of(&self, event: &AuditEvent) -> bool {
        let stream = event.stream_prefix.as_deref();
        match self {
            Self::Fleet => true,
            Self::Stream(wanted) => stream == Some(wanted.as_str()),
            Self::Group(wanted) => {
                let group = event.consumer_group.as_deref().or(stream);
                stream == Some(wanted.stream.as_str()) && group == Some(wanted.group.as_str())
            }
        }
    }
}

/// Where events of a subject are. Those of a group that is gone stay in its own place, however many others come after.
async fn places(app: &App, subject: &Subject) -> Result<Vec<AuditFilter>, ApiError> {
    let mut places = vec![AuditFilter::Fleet, AuditFilter::Unproved];
    match subject {
        Subject::Fleet => {}
        Subject::Group(group) => places.push(AuditFilter::Group(group.clone())),
        Subject::Stream(stream) => {
            let own = stream.own_group();
            let groups = app.engine().groups_of_stream(stream).await?;
            let others = groups.into_iter().filter(|group| *group != own);
            let groups = std::iter::once(own.clone()).chain(others);
            places.extend(groups.take(GROUPS).map(AuditFilter::Group));
        }
    }
    Ok(places)
}

fn event(text: &str) -> Option<AuditEvent> {
    let event = serde_json::from_str(text);
    event
        .inspect_err(|error| tracing::warn!(%error, "an audit event can't be read"))
        .ok()
}

/// The latest of what is known and what was found, each once. Newest first; those of the same millisecond stay as they were found.
fn latest(known: Vec<AuditEvent>, found: Vec<AuditEvent>, limit: usize) -> Vec<AuditEvent> {
    let mut all = known;
    all.extend(found);
    all.sort_by_key(|event| Reverse(event.timestamp));
    let mut ids = BTreeSet::new();
    all.retain(|event| event.event_id.is_none() || ids.insert(event.event_id.clone()));
    all.truncate(limit);
    all
}
