//! Looks at a body while somebody else reads it: its digest, and its text as far as it is short enough to be told of.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use http_body_util::{BodyExt, Limited};
use hyper::body::{Frame, SizeHint};
use sha2::{Digest, Sha256};

/// The longest text that is kept to be told of: the limit of a body by default.
const KEPT: usize = 256 * 1024;
/// For how long it is waited for the rest of a body that was refused unread: it has arrived with its head, mostly.
const PATIENCE: Duration = Duration::from_millis(50);

/// A body that is looked at.
pub(super) struct Watched {
    inner: Option<Body>,
    shared: Arc<Mutex<Shared>>,
}

/// What was seen of it.
pub(super) struct Seen(Arc<Mutex<Shared>>);

#[derive(Default)]
struct Shared {
    digest: Sha256,
    text: Vec<u8>,
    length: usize,
    /// What nobody has read.
    rest: Option<Body>,
}

pub(super) fn watched(body: Body) -> (Watched, Seen) {
    let shared = Arc::new(Mutex::new(Shared::default()));
    let seen = Seen(Arc::clone(&shared));
    let inner = Some(body);
    (Watched { inner, shared }, seen)
}

impl Shared {
    fn take_in(&mut self, data: &[u8]) {
        self.digest.update(data);
        let room = KEPT.saturating_sub(self.text.len());
        self.text.extend_from_slice(&data[..data.len().min(room)]);
        self.length += data.len();
    }
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Seen {
    /// Reads what nobody has read, within limits: what was refused for want of a permission is to be told of, too.
    pub(super) async fn read_rest(&mut self, limit: usize) {
        let Some(rest) = lock(&self.0).rest.take() else {
            return;
        };
        if rest.size_hint().lower() > limit as u64 {
            return;
        }
        let shared = &self.0;
        let reading = async {
            let mut rest = Limited::new(rest, limit);
            while let Some(Ok(frame)) = rest.frame().await {
                if let Some(data) = frame.data_ref() {
                    lock(shared).take_in(data);
                }
            }
        };
        // What arrives later is not told of.
        let _ = tokio::time::timeout(PATIENCE, reading).await;
    }

    /// The digest of the bytes that were received, in hex; none if there were none.
    pub(super) fn sha256(&self) -> Option<String> {
        let seen = lock(&self.0);
        if seen.length == 0 {
            return None;
        }
        let digest = seen.digest.clone().finalize();
        Some(digest.iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// What was received, as JSON; null if it is none.
    pub(super) fn json(&self) -> serde_json::Value {
        let seen = lock(&self.0);
        serde_json::from_slice(&seen.text).unwrap_or_default()
    }
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let Some(inner) = &mut self.inner else {
            return Poll::Ready(None);
        };
        let polled = Pin::new(inner).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &polled
            && let Some(data) = frame.data_ref()
        {
            lock(&self.shared).take_in(data);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.inner.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        let inner = self.inner.as_ref();
        inner.map(HttpBody::size_hint).unwrap_or_default()
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let mut seen = lock(&self.shared);
        // What somebody read in part was at fault, or too much.
        seen.rest = self.inner.take().filter(|_| seen.length == 0);
    }
}
