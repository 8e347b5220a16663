//! What machines ask: alive, ready, and the numbers. Open to everybody.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, State};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use futures_util::stream;
use protocol::ErrorCode;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::http::{ApiError, App, Peer};

/// For how long the numbers of one scrape may be under way.
const SENDING: Duration = Duration::from_secs(30);

pub(in crate::http) async fn healthz() -> &'static str {
    "ok\n"
}

/// A server that is full is ready all the same: leases are renewed and reads answered, here as well as by any other coordinator.
pub(in crate::http) async fn readyz(State(app): State<App>) -> Result<&'static str, ApiError> {
    if app.engine().is_terminating() {
        return Err(ApiError::new(
            ErrorCode::CoordinatorTerminating,
            "the coordinator is terminating",
        ));
    }
    app.engine().check_ready().await?;
    Ok("ready\n")
}

pub(in crate::http) async fn metrics(
    State(app): State<App>,
    Extension(peer): Extension<Peer>,
) -> impl IntoResponse {
    let parts = Parts {
        text: app.scrapes().text(app.engine()).await,
        next: 0,
        _sending: cut_if_slow(peer, SENDING),
    };
    let body = Body::from_stream(stream::iter(parts.map(Ok::<_, Infallible>)));
    let kind = "text/plain; version=0.0.4; charset=utf-8";
    (StatusCode::OK, [(CONTENT_TYPE, kind)], body)
}

/// A text that others are sent, too, a part at a time.
struct Parts {
    text: Arc<Vec<Bytes>>,
    next: usize,
    _sending: DropGuard,
}

impl Iterator for Parts {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let part = self.text.get(self.next)?;
        self.next += 1;
        Some(part.clone())
    }
}

/// Cuts the connection of one who has not taken everything in time, so that nobody keeps a text by reading slowly. To be dropped when it is sent.
fn cut_if_slow(peer: Peer, patience: Duration) -> DropGuard {
    let sent = CancellationToken::new();
    let guard = sent.clone().drop_guard();
    tokio::spawn(async move {
        tokio::select! {
            () = sent.cancelled() => {}
            () = tokio::time::sleep(patience) => peer.cut(),
        }
    });
    guard
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn is_cut(peer: &Peer) -> bool {
        let patience = tokio::time::timeout(SENDING * 2, peer.is_cut());
        patience.await.is_ok()
    }

    #[tokio::test(start_paused = true)]
    async fn only_who_reads_too_slowly_is_cut_off() {
        let address = ([127, 0, 0, 1], 1).into();
        let slow = Peer::new(address);
        let _sending = cut_if_slow(slow.clone(), SENDING);
        assert!(is_cut(&slow).await);
        let quick = Peer::new(address);
        drop(cut_if_slow(quick.clone(), SENDING));
        assert!(!is_cut(&quick).await);
    }
}
