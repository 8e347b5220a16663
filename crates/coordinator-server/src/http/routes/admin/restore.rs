//! The metadata from a file: all of it is looked at before the first record is written, then it is put back group by group.

use axum::Json;
use axum::extract::{Request, State};
use coordinator_core::numbers::StoreRevision;
use protocol::{
    ErrorCode, RestoreOutcome, RestoreQuery, Restored, RestoredGroup, SNAPSHOT_FORMAT,
    SNAPSHOT_FORMAT_VERSION, SnapshotGroup, SnapshotHeader, SnapshotLine,
};

use super::hex_digest;
use super::lines::Lines;
use super::spool::{Kept, Spool};
use crate::convert;
use crate::engine::{Before, Engine, EngineError, RestoreError};
use crate::http::access::Administrator;
use crate::http::audit::note_put_back;
use crate::http::values::Values;
use crate::http::{ApiError, App};

pub(in crate::http) async fn restore(
    State(app): State<App>,
    _: Administrator,
    Values(query): Values<RestoreQuery>,
    request: Request,
) -> Result<Json<Restored>, ApiError> {
    let (head, body) = request.into_parts();
    let mut lines = Lines::of(body);
    begin(&mut lines).await?;
    if !query.force {
        check_empty(&app).await?;
    }
    let mut groups = whole(&mut lines).await?.read().await?;
    if !query.force {
        // Meanwhile somebody may have made a group.
        check_empty(&app).await?;
    }
    let mut restored = Restored::default();
    let outcome = restore_all(&app, &mut groups, query.force, &mut restored).await;
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

async fn check_empty(app: &App) -> Result<(), ApiError> {
    let Some(there) = app.engine().any_group().await? else {
        return Ok(());
    };
    let message = format!(
        "the store is not empty: {there} is there. A snapshot is restored into an empty store, or with force"
    );
    Err(ApiError::new(ErrorCode::GroupAlreadyExists, message))
}

async fn begin(lines: &mut Lines) -> Result<(), ApiError> {
    match lines.next().await? {
        Some((SnapshotLine::Header(header), _)) => check(&header),
        Some(_) => Err(lines.wrong("a snapshot begins with its header")),
        None => Err(ApiError::invalid(
            "the body is empty, a snapshot is expected",
        )),
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

/// Looks at all that stands between the header and the end, the end included, and keeps the lines of groups.
async fn whole(lines: &mut Lines) -> Result<Spool, ApiError> {
    let mut spool = Spool::new();
    let mut count = 0;
    loop {
        match lines.next().await? {
            Some((SnapshotLine::Group(group), text)) => {
                check_group(&group).map_err(|error| lines.wrong(&error))?;
                spool.add(&text).await?;
                count += 1;
            }
            Some((SnapshotLine::Unreadable(_), _)) => {}
            Some((SnapshotLine::Header(_), _)) => return Err(lines.wrong("a second header")),
            Some((SnapshotLine::End(end), _)) => {
                if end.groups != count {
                    return Err(lines.wrong("the number of groups is another one"));
                }
                if lines.next().await?.is_some() {
                    return Err(lines.wrong("there is something after the end"));
                }
                return Ok(spool);
            }
            None => {
                return Err(ApiError::invalid(
                    "the snapshot has no end: a part of the file is missing",
                ));
            }
        }
    }
}

fn check_group(group: &SnapshotGroup) -> Result<(), String> {
    if hex_digest(group.record.as_bytes()) != group.sha256 {
        return Err("the digest is not that of the record".to_owned());
    }
    let id = convert::group_id(&group.stream_prefix, &group.consumer_group);
    let id = id.map_err(|error| error.to_string())?;
    let revision = StoreRevision::new(group.revision);
    let usable = Engine::check_restorable(&id, &group.record, revision);
    usable.map_err(|error| error.to_string())
}

async fn restore_all(
    app: &App,
    groups: &mut Kept,
    force: bool,
    restored: &mut Restored,
) -> Result<(), ApiError> {
    while let Some(text) = groups.next().await? {
        let line: SnapshotLine = protocol::decode(&text)
            .map_err(|error| ApiError::invalid(format!("a line changed meanwhile: {error}")))?;
        if let SnapshotLine::Group(group) = line {
            restored
                .groups
                .push(restore_group(app, &group, force).await?);
        }
    }
    Ok(())
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
