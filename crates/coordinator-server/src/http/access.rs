//! What a route demands of whoever asks. A route says it by the extractor that it takes first.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use protocol::{ErrorCode, Role};

use super::audit::note_caller;
use super::{ApiError, App};
use crate::auth::{AuthError, Principal};

/// Somebody who may read.
pub(super) struct Reader(pub(super) Principal);

/// Somebody who may create and delete.
pub(super) struct Writer;

/// A member; anybody, unless members are authenticated.
pub(super) struct MemberAccess;

fn demand(parts: &Parts, app: &App, role: Role) -> Result<Principal, ApiError> {
    let principal = app
        .authenticator()
        .principal(&parts.headers)?
        .ok_or(AuthError::Missing)?;
    note_caller(parts, &principal);
    if principal.may(role) {
        return Ok(principal);
    }
    let message = format!(
        "this needs the role {role}; {} has it not",
        principal.username
    );
    Err(ApiError::new(ErrorCode::Forbidden, message))
}

impl FromRequestParts<App> for Reader {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        demand(parts, app, Role::Read).map(Self)
    }
}

impl FromRequestParts<App> for Writer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        demand(parts, app, Role::Write).map(|_| Self)
    }
}

impl FromRequestParts<App> for MemberAccess {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, ApiError> {
        if app.config().authenticate_members {
            demand(parts, app, Role::Member)?;
        }
        Ok(Self)
    }
}
