//! A server that gives one answer to everything, or one after the other, and remembers what it was asked: for answers that a sound coordinator does not give on demand.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::response::Response;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// The line of a request, and who it said to be from.
type Asked = (String, Option<String>);

/// A server with one answer; it ends with this value.
pub(crate) struct Fake {
    pub(crate) url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
    running: JoinHandle<()>,
}

impl Fake {
    pub(crate) async fn answering(status: u16, body: impl Into<String>) -> Self {
        Self::with_headers(status, body, &[]).await
    }

    pub(crate) async fn with_headers(
        status: u16,
        body: impl Into<String>,
        headers: &[(&'static str, &'static str)],
    ) -> Self {
        Self::start(status, vec![body.into()], headers, "nowhere").await
    }

    /// Gives one answer after the other, and the last one from then on.
    pub(crate) async fn in_turn(bodies: impl IntoIterator<Item = String>) -> Self {
        Self::start(200, bodies.into_iter().collect(), &[], "nowhere").await
    }

    /// Answers everything, and forbids the paths with `forbidden` in them.
    pub(crate) async fn forbidding(body: impl Into<String>, forbidden: &'static str) -> Self {
        Self::start(200, vec![body.into()], &[], forbidden).await
    }

    async fn start(
        status: u16,
        bodies: Vec<String>,
        headers: &[(&'static str, &'static str)],
        forbidden: &'static str,
    ) -> Self {
        let headers = headers.to_vec();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let memory = Arc::clone(&asked);
        let handler = move |request: Request| {
            let authorization = request.headers().get("authorization");
            let authorization = authorization.map(|value| value.to_str().unwrap().to_owned());
            let line = format!("{} {}", request.method(), request.uri());
            let mut asked = memory.lock().unwrap();
            let body = bodies.get(asked.len()).or(bodies.last()).unwrap().clone();
            asked.push((line, authorization));
            let is_forbidden = request.uri().path().contains(forbidden);
            let status = if is_forbidden { 403 } else { status };
            let mut answer = Response::builder().status(status);
            for (name, value) in &headers {
                answer = answer.header(*name, *value);
            }
            let answer = answer.body(Body::from(body)).unwrap();
            async { answer }
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let running = tokio::spawn(async move {
            axum::serve(listener, Router::new().fallback(handler))
                .await
                .unwrap();
        });
        Self {
            url,
            asked,
            running,
        }
    }

    /// A golden answer of the protocol.
    pub(crate) async fn fixture(name: &str) -> (Self, String) {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/protocol/v1");
        let body = std::fs::read_to_string(format!("{folder}/{name}.json")).unwrap();
        (Self::answering(200, body.clone()).await, body)
    }

    /// The lines of all requests.
    pub(crate) fn asked(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().map(|(line, _)| line.clone()).collect()
    }

    /// Who the requests said to be from.
    pub(crate) fn authorizations(&self) -> Vec<Option<String>> {
        let asked = self.asked.lock().unwrap();
        asked.iter().map(|(_, who)| who.clone()).collect()
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        self.running.abort();
    }
}
