//! Who is shown what coordinators answer. Nothing can be changed here, and what is never answered is not shown.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use reqwest::header::HeaderMap;
use reqwest::{Method, StatusCode};

/// What a coordinator answered to one request, see [`ClientBuilder::observer`](crate::ClientBuilder::observer).
///
/// Method, status and headers are those of the crate `http`, the body is a `Bytes` of the crate `bytes`. The answer to a log-in holds a token: mind where
/// bodies are written to.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub struct Exchange<'a> {
    /// Base URL of the coordinator that answered.
    pub coordinator: &'a str,
    /// Method of the request.
    pub method: &'a Method,
    /// Path and query of the request, behind the base URL, encoded as it was sent.
    pub target: &'a str,
    /// Status of the answer.
    pub status: StatusCode,
    /// Headers of the answer.
    pub headers: &'a HeaderMap,
    /// Body of the answer, as it came; none for a stream of events, which has no end.
    pub body: Option<&'a Bytes>,
    /// From sending the request until the whole answer was there; for a stream of events, until it was opened.
    pub took: Duration,
}

impl Exchange<'_> {
    /// The target without its query.
    #[must_use]
    pub fn path(&self) -> &str {
        self.target.split('?').next().unwrap_or_default()
    }
}

impl std::fmt::Debug for Exchange<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // A body may hold a token.
        f.debug_struct("Exchange")
            .field("coordinator", &self.coordinator)
            .field("method", &self.method)
            .field("target", &self.target)
            .field("status", &self.status)
            .field("body_bytes", &self.body.map(Bytes::len))
            .field("took", &self.took)
            .finish_non_exhaustive()
    }
}

/// Who looks on.
#[derive(Clone)]
pub(crate) struct Observer(Arc<dyn Fn(&Exchange<'_>) + Send + Sync>);

impl Observer {
    pub(crate) fn new(look: impl Fn(&Exchange<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(look))
    }

    pub(crate) fn show(&self, exchange: &Exchange<'_>) {
        (self.0)(exchange);
    }
}
