//! The stream of events: what changes, for whoever shows it. A hint, like a watch; a reader that is too slow is let go, and none holds up the end.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::{Extension, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderName};
use axum::response::IntoResponse;
use futures_util::stream::{self, Stream};

use crate::convert;
use crate::engine::{Engine, GroupNews, Missed};
use crate::http::access::Reader;
use crate::http::{App, Peer};

/// How often something is sent while nothing happens, so that connections are not taken for dead.
const KEEP_ALIVE: Duration = Duration::from_secs(15);
/// For how long the last event of a connection may take to be sent.
const LAST_WORD: Duration = Duration::from_secs(1);
/// Tells proxies not to hold back what is sent.
const NO_BUFFER: (HeaderName, &str) = (HeaderName::from_static("x-accel-buffering"), "no");

pub(in crate::http) async fn listen(
    State(app): State<App>,
    _: Reader,
    Extension(peer): Extension<Peer>,
    headers: HeaderMap,
) -> impl IntoResponse {
    let engine = app.engine().clone();
    cut_at_the_end(engine.clone(), peer);
    let last = headers.get("last-event-id");
    let known = last.and_then(|id| engine.event_number(id.to_str().ok()?));
    let told = stream::unfold(Some(Listener::new(engine, known)), |listener| async {
        let mut listener = listener?;
        let text = listener.next().await?;
        let next = (!listener.is_over).then_some(listener);
        Some((Ok::<_, Infallible>(Bytes::from(text)), next))
    });
    (
        [
            (CONTENT_TYPE, "text/event-stream"),
            (CACHE_CONTROL, "no-store"),
            NO_BUFFER,
        ],
        streamed(told),
    )
}

fn streamed(told: impl Stream<Item = Result<Bytes, Infallible>> + Send + 'static) -> Body {
    Body::from_stream(told)
}

/// Whoever does not take its last event either is cut off: the end is not for it to hold up.
fn cut_at_the_end(engine: Engine, peer: Peer) {
    tokio::spawn(async move {
        tokio::select! {
            () = engine.stopped() => {}
            () = peer.is_gone() => return,
        }
        tokio::time::sleep(LAST_WORD).await;
        peer.cut();
    });
}

/// Somebody who listens.
struct Listener {
    engine: Engine,
    /// The number of the last event that was told.
    at: u64,
    /// What is to be told first: the state of all groups.
    first: VecDeque<GroupNews>,
    /// Whether all is to be told anew.
    is_new: bool,
    is_over: bool,
}

impl Listener {
    fn new(engine: Engine, known: Option<u64>) -> Self {
        let known = known.filter(|number| engine.event_after(*number).is_ok());
        Self {
            engine,
            at: known.unwrap_or_default(),
            first: VecDeque::new(),
            is_new: known.is_none(),
            is_over: false,
        }
    }

    /// What is sent next; none once this reader has fallen too far behind.
    async fn next(&mut self) -> Option<String> {
        if self.is_new {
            self.is_new = false;
            let (at, present) = self.engine.present_groups();
            self.at = at;
            self.first = present.into();
            let data = format!("{{\"groups\":{}}}", self.first.len());
            return Some(self.event("reset", &data));
        }
        if let Some(news) = self.first.pop_front() {
            return Some(self.event("group", &text_of(&news)));
        }
        loop {
            match self.engine.event_after(self.at) {
                Err(Missed) => {
                    tracing::debug!("a listener to events was too slow and is let go");
                    return None;
                }
                Ok(Some((number, news))) => {
                    self.at = number;
                    return Some(self.event("group", &text_of(&news)));
                }
                Ok(None) => {}
            }
            tokio::select! {
                () = self.engine.wait_for_event(self.at) => {}
                () = tokio::time::sleep(KEEP_ALIVE) => return Some(": still there\n\n".to_owned()),
                () = self.engine.stopped() => {
                    self.is_over = true;
                    return Some(self.event("end", "{}"));
                }
            }
        }
    }

    fn event(&self, name: &str, data: &str) -> String {
        let id = self.engine.event_id(self.at);
        format!("id: {id}\nevent: {name}\ndata: {data}\n\n")
    }
}

fn text_of(news: &GroupNews) -> String {
    // Names and numbers can always be written.
    serde_json::to_string(&convert::group_changed(news)).unwrap_or_default()
}
