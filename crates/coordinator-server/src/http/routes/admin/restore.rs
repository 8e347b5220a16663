//! The metadata from a file: line by line, each record checked before it is written.

use axum::Json;
use axum::extract::{Request, State};
use coordinator_core::numbers::StoreRevision;
use protocol::{
    ErrorCode, RestoreOutcome, RestoreQuery, Restored, RestoredGroup, SNAPSHOT_FORMAT,
    SNAPSHOT_FORMAT_VERSION, SnapshotGroup, SnapshotHeader, SnapshotLine,
};

use super::hex_digest;
use super::lines::Lines;
use crate::convert;
use crate::engine::{Before, EngineError, RestoreError};
use crate::http::access::Administrator;
use crate::http::audit::note_put_back;
use crate::http::path::Values;
use crate::http::{ApiError, App};

pub(in crate::http) async fn restore(
    State(app): State<App>,
    _: Administrator,
    Values(query): Values<RestoreQuery>,
    request: Request,
) -> Result<Json<Restored>, ApiError> {
    let (head, body) = request.into_parts();
    let mut lines = Lines::of(body);
    match lines.next().await? {
        Some(SnapshotLine::Header(header)) => check(&header)?,
        Some(_) => return Err(lines.wrong("a snapshot begins with its header")),
        None => {
            return Err(ApiError::invalid(
                "the body is empty, a snapshot is expected",
            ));
        }
    }
    if !query.force
        && let Some(there) = app.engine().any_group().await?
    {
        let message = format!(
            "the store is not empty: {there} is there. A snapshot is restored into an empty store, or with force"
        );
        return Err(ApiError::new(ErrorCode::GroupAlreadyExists, message));
    }
    let mut restored = Restored::default();
    let outcome = restore_lines(&app, &mut lines, query.force, &mut restored).await;
    note_put_back(&head.extensions, &restored.groups);
    let done = restored.groups.len();
    match outcome {
        Ok(()) => Ok(Json(restored)),
        Err(error) if done == 0 => Err(error),
        Err(error) => Err(error.after(&format!(
            "{done} groups were restored before this; with force the same can be repeated"
        ))),
    }
}

fn check(header: &SnapshotHeader) -> Result<(), ApiError> {
    if header.format != SNAPSHOT_FORMAT {
        let found = &header.format;
        let message = format!("this is no snapshot: its format is {found:?}");
        return Err(ApiError::invalid(message));
    }
    if header.format_version != SNAPSHOT_FORMAT_VERSION {
        return Err(ApiError::invalid(format!(
            "the snapshot has format version {}, this coordinator reads {SNAPSHOT_FORMAT_VERSION}",
            header.format_version
        )));
    }
    Ok(())
}

/// Restores what stands between the header and the end, the end included.
async fn restore_lines(
    app: &App,
    lines: &mut Lines,
    force: bool,
    restored: &mut Restored,
) -> Result<(), ApiError> {
    loop {
        match lines.next().await? {
            Some(SnapshotLine::Group(group)) => {
                if hex_digest(group.record.as_bytes()) != group.sha256 {
                    return Err(lines.wrong("the digest is not that of the record"));
                }
                restored
                    .groups
                    .push(restore_group(app, &group, force).await?);
            }
            Some(SnapshotLine::Unreadable(_)) => {}
            Some(SnapshotLine::Header(_)) => return Err(lines.wrong("a second header")),
            Some(SnapshotLine::End(end)) => {
                if end.groups != u64::try_from(restored.groups.len()).unwrap_or(u64::MAX) {
                    return Err(lines.wrong("the number of groups is another one"));
                }
                if lines.next().await?.is_some() {
                    return Err(lines.wrong("there is something after the end"));
                }
                return Ok(());
            }
            None => {
                return Err(ApiError::invalid(
                    "the snapshot has no end: a part of the file is missing",
                ));
            }
        }
    }
}

async fn restore_group(
    app: &App,
    group: &SnapshotGroup,
    force: bool,
) -> Result<RestoredGroup, ApiError> {
    let id = convert::group_id(&group.stream_prefix, &group.consumer_group)?;
    let revision = StoreRevision::new(group.revision);
    let restoring = app.engine().restore(id, &group.record, revision, force);
    let (before, record) = restoring.await?;
    Ok(RestoredGroup {
        stream_prefix: group.stream_prefix.clone(),
        consumer_group: group.consumer_group.clone(),
        outcome: match before {
            Before::Nothing => RestoreOutcome::Created,
            Before::Record => RestoreOutcome::Replaced,
            Before::Unreadable => RestoreOutcome::Repaired,
        },
        metadata_version: record.metadata_version.get(),
        group_epoch: record.group_epoch.get(),
    })
}

impl From<RestoreError> for ApiError {
    fn from(error: RestoreError) -> Self {
        match error {
            RestoreError::Unusable { .. } => Self::invalid(error.to_string()),
            RestoreError::Exists { .. } => {
                Self::new(ErrorCode::GroupAlreadyExists, error.to_string())
            }
            RestoreError::Engine(error) => EngineError::into(error),
        }
    }
}
