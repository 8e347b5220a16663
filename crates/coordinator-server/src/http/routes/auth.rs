//! Logging in.

use axum::Json;
use axum::extract::State;
use protocol::{IsoTimestamp, LoginRequest, LoginResponse, TOKEN_TYPE};

use crate::http::body::Decoded;
use crate::http::{ApiError, App};

pub(in crate::http) async fn login(
    State(app): State<App>,
    Decoded(request): Decoded<LoginRequest>,
) -> Result<Json<LoginResponse>, ApiError> {
    let (principal, issued) = app
        .authenticator()
        .log_in(&request.username, &request.password)
        .await?;
    Ok(Json(LoginResponse {
        access_token: issued.token,
        token_type: TOKEN_TYPE.to_owned(),
        expires_at: IsoTimestamp::from_millis(issued.expires_at_ms),
        expires_in_seconds: issued.expires_in.as_secs(),
        roles: principal.roles,
    }))
}
