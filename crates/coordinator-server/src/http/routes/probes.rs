//! What machines ask: alive, ready, and the numbers. Open to everybody.

use std::convert::Infallible;

use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use futures_util::stream;
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

pub(in crate::http) async fn metrics(State(app): State<App>) -> impl IntoResponse {
    let of_process = std::iter::once(crate::metrics::render());
    let parts = of_process.chain(crate::metrics::families(app.engine()));
    // A part at a time: with many groups the whole is large.
    let body = Body::from_stream(stream::iter(parts.map(Ok::<_, Infallible>)));
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    (StatusCode::OK, [(CONTENT_TYPE, kind)], body)
}
