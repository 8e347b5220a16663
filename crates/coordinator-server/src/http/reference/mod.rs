//! The reference page: it shows the OpenAPI document, from nothing but this server.

use axum::http::HeaderValue;
use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::response::{IntoResponse, Response};

use super::openapi;

/// Scripts, styles and data come from this server; nothing is framed, sent elsewhere or run in place.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

pub(super) async fn document() -> Response {
    asset("application/json", openapi::json())
}

pub(super) async fn page() -> Response {
    asset("text/html; charset=utf-8", include_str!("page.html"))
}

pub(super) async fn script() -> Response {
    asset(
        "text/javascript; charset=utf-8",
        include_str!("reference.js"),
    )
}

pub(super) async fn style() -> Response {
    asset("text/css; charset=utf-8", include_str!("reference.css"))
}

fn asset(content_type: &'static str, body: impl IntoResponse) -> Response {
    let headers = [
        (CONTENT_TYPE, content_type),
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        // Another release may say something else.
        (CACHE_CONTROL, "no-cache"),
    ];
    let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
    (headers, body).into_response()
}
