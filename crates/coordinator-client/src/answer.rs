//! Reads one answer, shows it to who looks on, and says which refusal it is. Whom is asked next is not decided here.

use std::time::{Duration, Instant};

use bytes::Bytes;
use protocol::{ErrorBody, ErrorCode, decode};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use reqwest::{Method, Response, StatusCode};

use crate::client::CoordinatorClient;
use crate::error::ClientError;
use crate::observer::Exchange;

/// How much of a body that is not the coordinator's is shown.
const FOREIGN_BODY_CHARS: usize = 200;

/// A request that is on its way.
pub(crate) struct Sent<'a> {
    pub(crate) url: &'a str,
    pub(crate) method: &'a Method,
    pub(crate) target: &'a str,
    pub(crate) begun: Instant,
}

/// What a coordinator answered, good or bad.
pub(crate) struct Answer {
    pub(crate) url: String,
    pub(crate) status: u16,
    retry_after: Option<Duration>,
    pub(crate) body: Bytes,
}

impl Answer {
    pub(crate) const fn is_success(&self) -> bool {
        self.status >= 200 && self.status < 300
    }

    /// The refusal that this answer is.
    pub(crate) fn into_error(self) -> ClientError {
        let (code, message) = match decode::<ErrorBody>(&self.body) {
            Ok(body) => (body.error_code, body.message),
            Err(_) => {
                let start = String::from_utf8_lossy(&self.body)
                    .chars()
                    .take(FOREIGN_BODY_CHARS)
                    .collect();
                (ErrorCode::Unknown(format!("HTTP_{}", self.status)), start)
            }
        };
        ClientError::Api {
            status: self.status,
            code,
            message,
            retry_after: self.retry_after,
        }
    }
}

impl CoordinatorClient {
    /// Reads an answer to its end.
    pub(crate) async fn receive(
        &self,
        sent: &Sent<'_>,
        response: Response,
    ) -> reqwest::Result<Answer> {
        let (status, headers) = (response.status(), response.headers().clone());
        let body = response.bytes().await?;
        self.show(sent, status, &headers, Some(&body));
        Ok(Answer {
            url: sent.url.to_owned(),
            status: status.as_u16(),
            retry_after: retry_after(&headers),
            body,
        })
    }

    pub(crate) fn show(
        &self,
        sent: &Sent<'_>,
        status: StatusCode,
        headers: &HeaderMap,
        body: Option<&Bytes>,
    ) {
        if let Some(observer) = &self.shared.observer {
            observer.show(&Exchange {
                coordinator: sent.url,
                method: sent.method,
                target: sent.target,
                status,
                headers,
                body,
                took: sent.begun.elapsed(),
            });
        }
    }
}

/// Whole seconds; the other form of the header, a date, is not used by the coordinator.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers
        .get(RETRY_AFTER)?
        .to_str()
        .ok()?
        .trim()
        .parse()
        .ok()?;
    Some(Duration::from_secs(seconds))
}
