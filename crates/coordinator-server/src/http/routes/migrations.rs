//! Changes of the shard count: asked for, looked at, taken back.

use axum::extract::State;
use axum::http::StatusCode;
use axum::{Extension, Json};
use coordinator_core::names::ReshardingId;
use coordinator_core::numbers::ShardCount;
use protocol::{
    ErrorCode, Migration, Migrations, NOOP_RESHARDING_ID, RollbackRequest, ScaleRequest,
    StreamScaled,
};

use crate::config::MAX_STREAM_SHARDS;
use crate::convert;
use crate::engine::Scaled;
use crate::http::access::{Reader, Writer};
use crate::http::audit::Resharding;
use crate::http::body::Decoded;
use crate::http::path::{GroupPath, MigrationPath, StreamPath};
use crate::http::{ApiError, App};

/// What is answered to a change that was taken on, and which one it is.
type Accepted<T> = (StatusCode, Extension<Resharding>, Json<T>);

pub(in crate::http) async fn scale_stream(
    State(app): State<App>,
    _: Writer,
    StreamPath(stream): StreamPath,
    Decoded(request): Decoded<ScaleRequest>,
) -> Result<Accepted<StreamScaled>, ApiError> {
    let target = target(&request)?;
    let scaled = app.engine().scale(&stream, target).await?;
    let groups = scaled.records.iter();
    let answer = StreamScaled {
        stream_prefix: stream.as_str().to_owned(),
        target_shard_count: target.get(),
        affected_consumer_groups: groups
            .clone()
            .map(|record| record.id.group.as_str().to_owned())
            .collect(),
        migrations: groups.map(|record| change(&scaled, record)).collect(),
    };
    Ok((
        StatusCode::ACCEPTED,
        Extension(id_of(&scaled)),
        Json(answer),
    ))
}

pub(in crate::http) async fn scale_group(
    State(app): State<App>,
    _: Writer,
    GroupPath(group): GroupPath,
    Decoded(request): Decoded<ScaleRequest>,
) -> Result<Accepted<Migration>, ApiError> {
    let target = target(&request)?;
    // The answer speaks of this group: it must be there.
    app.engine().ready_group(&group).await?;
    let scaled = app.engine().scale(&group.stream, target).await?;
    let record = scaled.records.iter().find(|record| record.id == group);
    let record = record.ok_or_else(|| {
        ApiError::new(
            ErrorCode::GroupNotFound,
            "the consumer group was deleted meanwhile",
        )
        .of_change(id_of(&scaled).0)
    })?;
    let change = change(&scaled, record);
    Ok((
        StatusCode::ACCEPTED,
        Extension(id_of(&scaled)),
        Json(change),
    ))
}

pub(in crate::http) async fn list(
    State(app): State<App>,
    _: Reader,
    GroupPath(group): GroupPath,
) -> Result<Json<Migrations>, ApiError> {
    let group = app.engine().group(&group).await?;
    Ok(Json(convert::migrations(group.record())))
}

pub(in crate::http) async fn get(
    State(app): State<App>,
    _: Reader,
    MigrationPath(group, id): MigrationPath,
) -> Result<Json<Migration>, ApiError> {
    let group = app.engine().group(&group).await?;
    convert::migration_of(group.record(), &id)
        .map(Json)
        .ok_or_else(|| {
            let message = format!("no change of the shard count is called {id}");
            ApiError::new(ErrorCode::MigrationNotFound, message)
        })
}

pub(in crate::http) async fn roll_back(
    State(app): State<App>,
    _: Writer,
    MigrationPath(group, id): MigrationPath,
    Decoded(request): Decoded<RollbackRequest>,
) -> Result<(StatusCode, Json<Migration>), ApiError> {
    asked_by(&request.requested_by)?;
    let record = app.engine().roll_back(&group, &id).await?;
    let change = convert::migration_of(&record, &id).ok_or_else(|| {
        ApiError::new(
            ErrorCode::MigrationNotFound,
            "the change is not recorded any more",
        )
    })?;
    Ok((StatusCode::ACCEPTED, Json(change)))
}

fn id_of(scaled: &Scaled) -> Resharding {
    let id = scaled.resharding.as_ref();
    Resharding(
        id.map_or(NOOP_RESHARDING_ID, ReshardingId::as_str)
            .to_owned(),
    )
}

fn change(scaled: &Scaled, record: &coordinator_core::record::GroupRecord) -> Migration {
    let change = scaled.resharding.as_ref();
    change
        .and_then(|id| convert::migration_of(record, id))
        .unwrap_or_else(|| convert::nothing_to_change(record, scaled.at))
}

fn target(request: &ScaleRequest) -> Result<ShardCount, ApiError> {
    asked_by(&request.requested_by)?;
    let target = request.target_shard_count;
    if target > MAX_STREAM_SHARDS {
        return Err(ApiError::invalid(format!(
            "targetShardCount must be 0 to {MAX_STREAM_SHARDS}, not {target}"
        )));
    }
    Ok(ShardCount::new(target))
}

pub(super) fn asked_by(requested_by: &str) -> Result<(), ApiError> {
    if requested_by.trim().is_empty() {
        return Err(ApiError::invalid("requestedBy must say who asks"));
    }
    Ok(())
}
