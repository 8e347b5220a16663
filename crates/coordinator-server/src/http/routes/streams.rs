//! Creating streams.

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use coordinator_core::numbers::ShardCount;
use protocol::{CreateStreamRequest, ErrorCode, StreamCreated};

use super::migrations::asked_by;
use crate::config::MAX_STREAM_SHARDS;
use crate::engine::{Creation, EngineError};
use crate::http::access::Writer;
use crate::http::body::Decoded;
use crate::http::path::StreamPath;
use crate::http::{ApiError, App};

pub(in crate::http) async fn create(
    State(app): State<App>,
    _: Writer,
    StreamPath(stream): StreamPath,
    Decoded(request): Decoded<CreateStreamRequest>,
) -> Result<(StatusCode, Json<StreamCreated>), ApiError> {
    let creation = creation(&app, &stream.own_group(), &request, true)?;
    let record = app
        .engine()
        .create(&creation)
        .await
        .map_err(|error| match error {
            EngineError::GroupExists => ApiError::new(
                ErrorCode::StreamPrefixAlreadyExists,
                "the stream exists already",
            ),
            error => error.into(),
        })?;
    let created = StreamCreated {
        stream_prefix: record.id.stream.as_str().to_owned(),
        shard_count: record.shard_count.get(),
        metadata_version: record.metadata_version.get(),
    };
    Ok((StatusCode::CREATED, Json(created)))
}

/// What a request to create means.
pub(super) fn creation(
    app: &App,
    group: &coordinator_core::names::GroupId,
    request: &CreateStreamRequest,
    new_stream: bool,
) -> Result<Creation, ApiError> {
    asked_by(&request.requested_by)?;
    let requested = match request.initial_shard_count {
        Some(count) if count == 0 || count > MAX_STREAM_SHARDS => {
            return Err(ApiError::invalid(format!(
                "initialShardCount must be 1 to {MAX_STREAM_SHARDS}, not {count}"
            )));
        }
        count => count.map(ShardCount::new),
    };
    Ok(Creation {
        group: group.clone(),
        requested,
        default: app.config().default_shard_count,
        new_stream,
    })
}
