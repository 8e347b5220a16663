//! What was answered to what, as far as a document can say something of it.

use std::collections::HashMap;

use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};

/// What was answered to what.
#[derive(Debug, Clone)]
pub struct Answer {
    /// Of the request.
    pub method: Method,
    /// Of the request, without the query, as it was sent.
    pub path: String,
    /// Of the answer.
    pub status: StatusCode,
    /// Those that are text; names in small letters.
    pub headers: HashMap<String, String>,
    /// None where it never ends.
    pub body: Option<Bytes>,
}

impl Answer {
    /// From the parts that servers and clients have. What follows a question mark in `path` is left out.
    #[must_use]
    pub fn new(
        method: &Method,
        path: &str,
        status: StatusCode,
        headers: &HeaderMap,
        body: Option<Bytes>,
    ) -> Self {
        let text = headers.iter().filter_map(|(name, value)| {
            let value = value.to_str().ok()?.to_owned();
            Some((name.as_str().to_owned(), value))
        });
        Self {
            method: method.clone(),
            path: path.split('?').next().unwrap_or_default().to_owned(),
            status,
            headers: text.collect(),
            body,
        }
    }
}
