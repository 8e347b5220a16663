//! What machines ask: alive, ready, and the numbers. Open to everybody.

use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use protocol::ErrorCode;

use crate::http::{ApiError, App};

pub(in crate::http) async fn healthz() -> &'static str {
    "ok\n"
}

pub(in crate::http) async fn readyz(State(app): State<App>) -> Result<&'static str, ApiError> {
    if app.engine().is_terminating() {
        return Err(ApiError::new(
            ErrorCode::CoordinatorTerminating,
            "the coordinator is terminating",
        ));
    }
    app.engine().check_ready().await?;
    Ok("ready\n")
}

pub(in crate::http) async fn metrics() -> impl IntoResponse {
    (
        StatusCode::OK,
        [(CONTENT_TYPE, "text/plain; version=0.0.4")],
        crate::metrics::render(),
    )
}
