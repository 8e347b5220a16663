//! A coordinator that answers producer routing as the test says, and counts. It knows no other route.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::{CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::response::Response;
use coordinator_client::CoordinatorClient;
use openapi_check::Conformity;
use protocol::{ErrorBody, ErrorCode, RoutedShard, Routing};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio::task::JoinHandle;

/// What is answered.
#[derive(Clone)]
pub(crate) enum Answer {
    Routing(Routing),
    Refusal(ErrorCode),
}

struct Shared {
    answer: Mutex<Answer>,
    asked: Mutex<u64>,
    /// Each answer needs a permit.
    gate: Semaphore,
}

/// A coordinator on a free port of the loopback; it ends with the test.
pub(crate) struct Coordinator {
    url: String,
    shared: Arc<Shared>,
    task: JoinHandle<()>,
    /// It answers nothing that the real one can't.
    conformity: Conformity,
}

impl Coordinator {
    pub(crate) async fn start(answer: Answer) -> Self {
        let shared = Arc::new(Shared {
            answer: Mutex::new(answer),
            asked: Mutex::new(0),
            gate: Semaphore::new(Semaphore::MAX_PERMITS),
        });
        let handling = Arc::clone(&shared);
        let handler = move || {
            let shared = Arc::clone(&handling);
            async move {
                *shared.asked.lock().expect("not poisoned") += 1;
                let _open = shared.gate.acquire().await.expect("never closed");
                let answer = shared.answer.lock().expect("not poisoned").clone();
                respond(&answer)
            }
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("bound"));
        let task = tokio::spawn(async move {
            axum::serve(listener, Router::new().fallback(handler))
                .await
                .expect("serves");
        });
        Self {
            url,
            shared,
            task,
            conformity: Conformity::new(),
        }
    }

    pub(crate) fn client(&self) -> CoordinatorClient {
        let judge = self.conformity.judge();
        CoordinatorClient::builder([self.url.as_str()])
            .observer(move |seen| {
                let body = seen.body.cloned();
                judge.see(seen.method, seen.target, seen.status, seen.headers, body);
            })
            .build()
            .expect("settings that work")
    }

    /// How often it was asked.
    pub(crate) fn asked(&self) -> u64 {
        *self.shared.asked.lock().expect("not poisoned")
    }

    pub(crate) fn answer(&self, answer: Answer) {
        *self.shared.answer.lock().expect("not poisoned") = answer;
    }

    /// Questions are counted and not answered until [`Self::release`].
    pub(crate) fn hold(&self) {
        self.shared.gate.forget_permits(Semaphore::MAX_PERMITS);
    }

    pub(crate) fn release(&self) {
        self.shared.gate.add_permits(Semaphore::MAX_PERMITS);
    }
}

impl Drop for Coordinator {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn respond(answer: &Answer) -> Response {
    let (status, body) = match answer {
        Answer::Routing(routing) => (200, serde_json::to_string(routing)),
        Answer::Refusal(code) => (
            code.http_status(),
            serde_json::to_string(&ErrorBody::new(code.clone(), "as told")),
        ),
    };
    let mut response = Response::new(Body::from(body.expect("encodes")));
    let json = HeaderValue::from_static("application/json");
    response.headers_mut().insert(CONTENT_TYPE, json);
    if status == 401 {
        let basic = HeaderValue::from_static("Basic realm=\"coordinator\"");
        response.headers_mut().insert(WWW_AUTHENTICATE, basic);
    }
    *response.status_mut() = status.try_into().expect("a status");
    response
}

/// Routing of `orders` to these stream keys, in generations that are not told.
pub(crate) fn routing(metadata_version: u64, stream_keys: &[&str]) -> Routing {
    let shards: Vec<_> = stream_keys.iter().map(|key| (*key, None)).collect();
    routing_in(metadata_version, &shards)
}

/// Routing of `orders` to these stream keys in these generations.
pub(crate) fn routing_in(metadata_version: u64, shards: &[(&str, Option<u64>)]) -> Routing {
    let shard =
        |(shard_index, (stream_key, generation)): (u32, &(&str, Option<u64>))| RoutedShard {
            shard_index,
            stream_key: (*stream_key).to_owned(),
            redis_slot: 0,
            generation: *generation,
        };
    Routing {
        stream_prefix: "orders".to_owned(),
        consumer_group: "orders".to_owned(),
        metadata_version,
        shard_count: u32::try_from(shards.len()).expect("few"),
        stream_key_pattern: protocol::stream_key_pattern("orders"),
        shards: (0..).zip(shards).map(shard).collect(),
        routing_lease_ms: None,
    }
}
