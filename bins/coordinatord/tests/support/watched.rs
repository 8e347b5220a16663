//! Clients, typed and plain, whose answers are compared with the OpenAPI document.

use bytes::Bytes;
use coordinator_client::{ClientBuilder, CoordinatorClient};
use openapi_check::Judge;
use reqwest::header::HeaderMap;
use reqwest::{Method, Response, StatusCode};

/// A typed client of the coordinators at these URLs.
pub fn watched<U: Into<String>>(urls: impl IntoIterator<Item = U>, judge: Judge) -> ClientBuilder {
    CoordinatorClient::builder(urls).observer(move |seen| {
        let body = seen.body.cloned();
        judge.see(seen.method, seen.target, seen.status, seen.headers, body);
    })
}

/// Reads what a plain client was answered to a request with this method.
pub async fn read(
    judge: &Judge,
    method: &Method,
    response: Response,
) -> reqwest::Result<(StatusCode, HeaderMap, Bytes)> {
    let path = response.url().path().to_owned();
    let (status, headers) = (response.status(), response.headers().clone());
    let body = response.bytes().await?;
    judge.see(method, &path, status, &headers, Some(body.clone()));
    Ok((status, headers, body))
}

/// The beginning of an answer that has no end.
pub fn begun(judge: &Judge, method: &Method, response: &Response) -> StatusCode {
    let (path, status) = (response.url().path(), response.status());
    judge.see(method, path, status, response.headers(), None);
    status
}
