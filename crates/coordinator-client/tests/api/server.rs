//! A server that answers as the test says and remembers what it was asked. It knows nothing of the API.

use std::future::Future;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;
use serde_json::Value;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

/// One request as it arrived.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Seen {
    pub(crate) method: String,
    /// Path and query, still encoded.
    pub(crate) target: String,
    pub(crate) authorization: Option<String>,
    /// Null where there was no body.
    pub(crate) body: Value,
}

/// A server on a free port of the loopback; it ends with the test.
pub(crate) struct Server {
    pub(crate) url: String,
    seen: Arc<Mutex<Vec<Seen>>>,
    task: JoinHandle<()>,
}

impl Server {
    /// Answers every request with `status` and `body`.
    pub(crate) async fn answering(status: u16, body: impl Into<String>) -> Self {
        let body = body.into();
        Self::start(move |_| {
            let answer = answer(status, body.clone());
            async move { answer }
        })
        .await
    }

    /// Answers every request with what `respond` makes of it.
    pub(crate) async fn start<R, F>(respond: R) -> Self
    where
        R: Fn(Seen) -> F + Clone + Send + Sync + 'static,
        F: Future<Output = Response> + Send,
    {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let memory = Arc::clone(&seen);
        let handler = move |request: Request| {
            let (memory, respond) = (Arc::clone(&memory), respond.clone());
            async move {
                let arrived = read(request).await;
                memory.lock().expect("not poisoned").push(arrived.clone());
                respond(arrived).await
            }
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let task = tokio::spawn(async move {
            axum::serve(listener, Router::new().fallback(handler))
                .await
                .expect("serves");
        });
        Self { url, seen, task }
    }

    /// What arrived so far.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.seen.lock().expect("not poisoned").clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// An answer in JSON, or in whatever the body is.
pub(crate) fn answer(status: u16, body: String) -> Response {
    let mut response = Response::new(Body::from(body));
    *response.status_mut() = StatusCode::from_u16(status).expect("a status");
    response
}

async fn read(request: Request) -> Seen {
    let (parts, body) = request.into_parts();
    let bytes = to_bytes(body, 1 << 20).await.expect("a whole body");
    Seen {
        method: parts.method.to_string(),
        target: parts.uri.to_string(),
        authorization: parts
            .headers
            .get("authorization")
            .map(|value| value.to_str().expect("text").to_owned()),
        body: if bytes.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&bytes).expect("JSON")
        },
    }
}

/// The base URL of a server that takes every request and hangs up without an answer.
pub(crate) async fn hanging_up() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}", listener.local_addr().expect("bound"));
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut some = [0; 1024];
            let _request = stream.read(&mut some).await;
        }
    });
    url
}

/// The base URL of nobody: the port was free a moment ago.
pub(crate) async fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    format!("http://{}", listener.local_addr().expect("bound"))
}

/// A golden answer of the protocol.
pub(crate) fn fixture(name: &str) -> String {
    let path = format!(
        "{}/../../fixtures/protocol/v1/{name}.json",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}
