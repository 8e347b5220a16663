//! Names in paths, checked.

use axum::extract::{FromRequestParts, Path};
use axum::http::request::Parts;
use coordinator_core::names::{GroupId, MemberId, ReshardingId, StreamPrefix};
use coordinator_core::numbers::ShardIndex;
use serde::de::DeserializeOwned;

use super::{ApiError, App};
use crate::convert;

/// The stream that a path names.
pub(super) struct StreamPath(pub(super) StreamPrefix);

/// The group that a path names.
pub(super) struct GroupPath(pub(super) GroupId);

/// The member that a path names, and its group.
pub(super) struct MemberPath(pub(super) GroupId, pub(super) MemberId);

/// The change of a shard count that a path names, and its group.
pub(super) struct MigrationPath(pub(super) GroupId, pub(super) ReshardingId);

/// The shard that a path names, and its group.
pub(super) struct ShardPath(pub(super) GroupId, pub(super) ShardIndex);

async fn names<T: DeserializeOwned + Send>(parts: &mut Parts, app: &App) -> Result<T, ApiError> {
    let path = Path::<T>::from_request_parts(parts, app).await;
    path.map(|Path(names)| names)
        .map_err(|error| ApiError::invalid(format!("the path can't be read: {error}")))
}

impl FromRequestParts<App> for StreamPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let stream: String = names(parts, app).await?;
        Ok(Self(convert::stream_prefix(&stream)?))
    }
}

impl FromRequestParts<App> for GroupPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let (stream, group): (String, String) = names(parts, app).await?;
        Ok(Self(convert::group_id(&stream, &group)?))
    }
}

impl FromRequestParts<App> for MemberPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let (stream, group, member): (String, String, String) = names(parts, app).await?;
        Ok(Self(
            convert::group_id(&stream, &group)?,
            convert::member_id(&member)?,
        ))
    }
}

impl FromRequestParts<App> for MigrationPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let (stream, group, id): (String, String, String) = names(parts, app).await?;
        Ok(Self(
            convert::group_id(&stream, &group)?,
            ReshardingId::new(&id),
        ))
    }
}

impl FromRequestParts<App> for ShardPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        let (stream, group, shard): (String, String, String) = names(parts, app).await?;
        let index = shard.parse().map_err(|_| {
            ApiError::invalid(format!(
                "the shard in the path must be a number from 0 on, not {shard:?}"
            ))
        })?;
        Ok(Self(
            convert::group_id(&stream, &group)?,
            ShardIndex::new(index),
        ))
    }
}
