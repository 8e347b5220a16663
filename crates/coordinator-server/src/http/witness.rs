//! Shows every request and its answer to whoever tests the coordinator. Not in any product.

use std::fmt;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::Response;
use futures_util::stream;
use http_body_util::BodyExt as _;

/// A request and its answer.
#[derive(Debug)]
pub struct Exchange {
    /// Method of the request.
    pub method: Method,
    /// What was asked for.
    pub uri: Uri,
    /// Status of the answer.
    pub status: StatusCode,
    /// Headers of the answer.
    pub headers: HeaderMap,
    /// Body of the answer; none where it never ends.
    pub body: Option<Bytes>,
}

/// Who is shown every exchange before the answer is sent.
#[derive(Clone)]
pub struct Witness(Arc<dyn Fn(&Exchange) + Send + Sync>);

impl Witness {
    /// A witness that does `look`.
    pub fn new(look: impl Fn(&Exchange) + Send + Sync + 'static) -> Self {
        Self(Arc::new(look))
    }
}

impl fmt::Debug for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Witness")
    }
}

/// Lets the witness see what is answered.
pub(super) async fn show(witness: Witness, request: Request, next: Next) -> Response {
    let (method, uri) = (request.method().clone(), request.uri().clone());
    let (parts, body) = next.run(request).await.into_parts();
    let content_type = parts.headers.get(CONTENT_TYPE);
    let never_ends = content_type.is_some_and(|kind| *kind == EVENTS);
    let (seen, body) = if never_ends {
        (None, body)
    } else {
        let whole = body
            .collect()
            .await
            .map(http_body_util::Collected::to_bytes);
        match whole {
            Ok(whole) => (Some(whole.clone()), Body::from(whole)),
            // What broke off is broken for whoever asked, too, and no answer to be judged.
            Err(error) => {
                let broken = stream::once(async { Err::<Bytes, _>(error) });
                return Response::from_parts(parts, Body::from_stream(broken));
            }
        }
    };
    (witness.0)(&Exchange {
        method,
        uri,
        status: parts.status,
        headers: parts.headers.clone(),
        body: seen,
    });
    Response::from_parts(parts, body)
}

const EVENTS: HeaderValue = HeaderValue::from_static("text/event-stream");
