//! Groups: created, shown, deleted, and how keys are routed to their stream.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use coordinator_core::Group as CoreGroup;
use coordinator_core::record::GroupRecord;
use protocol::{CreateGroupRequest, DeleteGroupRequest, Group, Routing};

use super::migrations::asked_by;
use super::streams::creation;
use crate::convert;
use crate::http::access::{Reader, Writer};
use crate::http::body::Decoded;
use crate::http::path::GroupPath;
use crate::http::{ApiError, App};

pub(in crate::http) async fn create(
    State(app): State<App>,
    _: Writer,
    GroupPath(group): GroupPath,
    Decoded(request): Decoded<CreateGroupRequest>,
) -> Result<(StatusCode, Json<Group>), ApiError> {
    let creation = creation(&app, &group, &request, false)?;
    let record = app.engine().create(&creation).await?;
    Ok((StatusCode::CREATED, Json(view(&app, &record)?)))
}

pub(in crate::http) async fn get(
    State(app): State<App>,
    _: Reader,
    GroupPath(group): GroupPath,
) -> Result<Json<Group>, ApiError> {
    Ok(Json(convert::group(&app.engine().group(&group).await?)))
}

pub(in crate::http) async fn delete(
    State(app): State<App>,
    _: Writer,
    GroupPath(group): GroupPath,
    Decoded(request): Decoded<DeleteGroupRequest>,
) -> Result<Json<Group>, ApiError> {
    asked_by(&request.requested_by)?;
    let record = app.engine().delete(&group, request.force).await?;
    Ok(Json(view(&app, &record)?))
}

pub(in crate::http) async fn producer_routing(
    State(app): State<App>,
    _: Reader,
    GroupPath(group): GroupPath,
) -> Result<Json<Routing>, ApiError> {
    let outcome = app
        .engine()
        .ready_group(&group)
        .await
        .map_err(ApiError::from);
    let status = outcome
        .as_ref()
        .map_or_else(|error| error.status().as_u16(), |_| 200);
    app.engine().count_asked(Some(&group), |asked| {
        *asked.routings.entry(status).or_default() += 1;
    });
    Ok(Json(convert::routing(
        &outcome?,
        app.config().routing_lease,
    )))
}

fn view(app: &App, record: &GroupRecord) -> Result<Group, ApiError> {
    let group = CoreGroup::restore(record.clone(), *app.engine().settings());
    let group = group.map_err(|error| {
        ApiError::new(
            protocol::ErrorCode::MetadataCorrupt,
            format!("the record can't be trusted: {error}"),
        )
    })?;
    Ok(convert::group(&group))
}
