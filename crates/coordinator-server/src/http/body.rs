//! Bodies of requests: read within a limit of bytes and time, then decoded.

use axum::extract::{FromRequest, Request};
use axum::http::header::CONTENT_LENGTH;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use protocol::ErrorCode;
use serde::de::DeserializeOwned;

use super::{ApiError, App};

/// A decoded body.
pub(super) struct Decoded<T>(pub(super) T);

impl<T: DeserializeOwned> FromRequest<App> for Decoded<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> Result<Self, ApiError> {
        let limits = app.config().limits;
        let announced = request
            .headers()
            .get(CONTENT_LENGTH)
            .and_then(|value| value.to_str().ok()?.parse().ok());
        if announced.is_some_and(|length: usize| length > limits.body_bytes) {
            return Err(too_large(limits.body_bytes));
        }
        let reading = Limited::new(request.into_body(), limits.body_bytes).collect();
        let body = match tokio::time::timeout(limits.body_timeout, reading).await {
            Ok(Ok(body)) => body.to_bytes(),
            Ok(Err(error)) if error.is::<LengthLimitError>() => {
                return Err(too_large(limits.body_bytes));
            }
            Ok(Err(error)) => {
                return Err(ApiError::invalid(format!("the body broke off: {error}")));
            }
            Err(_) => {
                return Err(ApiError::invalid(format!(
                    "the body did not arrive within {:?}",
                    limits.body_timeout
                )));
            }
        };
        if body.is_empty() {
            return Err(ApiError::invalid(
                "the body is empty, a JSON object is expected",
            ));
        }
        protocol::decode(&body)
            .map(Self)
            .map_err(|error| ApiError::invalid(error.to_string()))
    }
}

fn too_large(limit: usize) -> ApiError {
    ApiError::new(
        ErrorCode::PayloadTooLarge,
        format!("the body is larger than {limit} bytes"),
    )
}
