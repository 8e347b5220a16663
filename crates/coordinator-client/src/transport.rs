//! Sends one call, to the next coordinator where the first cannot be had. What the calls mean is not known here.

use std::time::{Duration, Instant};

use bytes::Bytes;
use protocol::decode;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Method, Response};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::answer::{Answer, Sent};
use crate::client::CoordinatorClient;
use crate::error::ClientError;

/// One call, ready to be sent any number of times.
pub(crate) struct Call {
    method: Method,
    path: String,
    body: Option<Bytes>,
    content_type: &'static str,
    /// Beyond the client's request timeout.
    extra_time: Duration,
    repeatable: bool,
    /// What is answered counts, also where it is a 503: a part of it may be done by then.
    is_final: bool,
    anonymous: bool,
}

impl Call {
    /// Reads something.
    pub(crate) fn get(path: String) -> Self {
        Self {
            method: Method::GET,
            path,
            body: None,
            content_type: "application/json",
            extra_time: Duration::ZERO,
            repeatable: true,
            is_final: false,
            anonymous: false,
        }
    }

    /// Changes something.
    pub(crate) fn post<B: Serialize>(path: String, body: &B) -> Self {
        Self::with_body(Method::POST, path, body)
    }

    /// Removes something.
    pub(crate) fn delete<B: Serialize>(path: String, body: &B) -> Self {
        Self::with_body(Method::DELETE, path, body)
    }

    fn with_body<B: Serialize>(method: Method, path: String, body: &B) -> Self {
        let json = serde_json::to_vec(body)
            .expect("types of the protocol have text keys and nothing that refuses to be written");
        Self {
            method,
            body: Some(Bytes::from(json)),
            repeatable: false,
            ..Self::get(path)
        }
    }

    /// Sends something that is not JSON, and may be done in part: no second coordinator is asked once one has answered.
    pub(crate) fn upload(path: String, content_type: &'static str, body: Bytes) -> Self {
        Self {
            method: Method::POST,
            body: Some(body),
            content_type,
            repeatable: false,
            is_final: true,
            ..Self::get(path)
        }
    }

    /// Sending it twice does no harm.
    pub(crate) fn repeatable(self) -> Self {
        Self {
            repeatable: true,
            ..self
        }
    }

    /// The answer is expected to take this long.
    pub(crate) fn lasting(self, extra_time: Duration) -> Self {
        Self { extra_time, ..self }
    }

    /// Without the client's credentials.
    pub(crate) fn anonymous(self) -> Self {
        Self {
            anonymous: true,
            ..self
        }
    }
}

impl CoordinatorClient {
    /// Sends `call` and reads its answer as a `T`.
    pub(crate) async fn ask<T: DeserializeOwned>(&self, call: Call) -> Result<T, ClientError> {
        let answer = self.send(&call).await?;
        if !answer.is_success() {
            return Err(answer.into_error());
        }
        decode(&answer.body).map_err(|source| ClientError::Decode {
            url: answer.url,
            source,
        })
    }

    /// Sends `call` and gives its answer as it is.
    pub(crate) async fn ask_for_bytes(&self, call: Call) -> Result<Bytes, ClientError> {
        let answer = self.send(&call).await?;
        if !answer.is_success() {
            return Err(answer.into_error());
        }
        Ok(answer.body)
    }

    /// Sends `call` to one coordinator after the other until one answers other than 503, or at all if its answer is final.
    async fn send(&self, call: &Call) -> Result<Answer, ClientError> {
        let limit = self.shared.request_timeout.saturating_add(call.extra_time);
        let begun = Instant::now();
        let mut last = None;
        for (position, url) in self.shared.endpoints.in_order() {
            let left = limit.saturating_sub(begun.elapsed());
            if left.is_zero() {
                break;
            }
            match self.send_to(url, call, left).await {
                Ok(answer) if answer.status == 503 => {
                    self.shared.endpoints.failed(position);
                    if call.is_final {
                        return Ok(answer);
                    }
                    last = Some(Ok(answer));
                }
                Ok(answer) => {
                    self.shared.endpoints.answered(position);
                    return Ok(answer);
                }
                Err(error) => {
                    self.shared.endpoints.failed(position);
                    let elsewhere = error.is_connect() || (call.repeatable && !error.is_timeout());
                    let error = failure(url, limit, error);
                    if !elsewhere {
                        return Err(error);
                    }
                    // A refusal says more than a broken connection.
                    last = last.or(Some(Err(error)));
                }
            }
        }
        last.unwrap_or_else(|| {
            Err(ClientError::Timeout {
                url: String::new(),
                limit,
            })
        })
    }

    /// Sends `call` to the coordinator that would be asked first, and to no other.
    pub(crate) async fn send_to_one(&self, call: &Call) -> Result<Answer, ClientError> {
        let limit = self.shared.request_timeout;
        let (position, url) = self.shared.endpoints.first();
        self.send_to(url, call, limit).await.map_err(|error| {
            self.shared.endpoints.failed(position);
            failure(url, limit, error)
        })
    }

    /// Opens an answer that is read as it comes, at the coordinator that would be asked first. `after` is the last event that is known.
    pub(crate) async fn open(
        &self,
        path: &str,
        after: Option<&str>,
    ) -> Result<(String, Response), ClientError> {
        let limit = self.shared.request_timeout;
        let (position, url) = self.shared.endpoints.first();
        let mut request = self.shared.http.get(format!("{url}{path}"));
        if let Some(id) = after {
            request = request.header("last-event-id", id);
        }
        if let Some(credentials) = &self.credentials {
            request = credentials.apply(request);
        }
        let sent = Sent {
            url,
            method: &Method::GET,
            target: path,
            begun: Instant::now(),
        };
        let failed = |error| {
            self.shared.endpoints.failed(position);
            failure(url, limit, error)
        };
        let response = request.send().await.map_err(failed)?;
        if !response.status().is_success() {
            let answer = self.receive(&sent, response).await.map_err(failed)?;
            return Err(answer.into_error());
        }
        self.show(&sent, response.status(), response.headers(), None);
        self.shared.endpoints.answered(position);
        Ok((url.to_owned(), response))
    }

    async fn send_to(
        &self,
        url: &str,
        call: &Call,
        limit: Duration,
    ) -> Result<Answer, reqwest::Error> {
        let mut request = self
            .shared
            .http
            .request(call.method.clone(), format!("{url}{}", call.path))
            .timeout(limit);
        if let Some(body) = &call.body {
            request = request
                .header(CONTENT_TYPE, call.content_type)
                .body(body.clone());
        }
        if let Some(credentials) = self.credentials.as_ref().filter(|_| !call.anonymous) {
            request = credentials.apply(request);
        }
        let sent = Sent {
            url,
            method: &call.method,
            target: &call.path,
            begun: Instant::now(),
        };
        let response = request.send().await?;
        self.receive(&sent, response).await
    }
}

fn failure(url: &str, limit: Duration, error: reqwest::Error) -> ClientError {
    let url = url.to_owned();
    if error.is_timeout() && !error.is_connect() {
        return ClientError::Timeout { url, limit };
    }
    ClientError::Transport {
        url,
        source: error.without_url(),
    }
}
