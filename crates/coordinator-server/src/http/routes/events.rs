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
use protocol::Role;
use tokio::time::Instant;

use crate::auth::AuthError;
use crate::convert;
use crate::engine::{Engine, GroupNews, Missed};
use crate::http::access::Reader;
use crate::http::{App, Peer};

/// How often something is sent while nothing happens, so that connections are not taken for dead; and how often it is asked whether whoever listens still may.
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
    let engine = app.engine();
    cut_at_the_end(engine.clone(), peer);
    let last = headers.get("last-event-id");
    let known = last.and_then(|id| engine.event_number(id.to_str().ok()?));
    let told = stream::unfold(Some(Listener::new(app, headers, known)), |listener| async {
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
    app: App,
    /// What the request came with: whether it would still be let in is asked again and again.
    headers: HeaderMap,
    /// When that was found last.
    let_in_at: Instant,
    /// The number of the last event that was told.
    at: u64,
    /// What is to be told first: the state of all groups.
    first: VecDeque<GroupNews>,
    /// Whether all is to be told anew.
    is_new: bool,
    is_over: bool,
}

impl Listener {
    fn new(app: App, headers: HeaderMap, known: Option<u64>) -> Self {
        let known = known.filter(|number| app.engine().event_after(*number).is_ok());
        Self {
            app,
            headers,
            let_in_at: Instant::now(),
            at: known.unwrap_or_default(),
            first: VecDeque::new(),
            is_new: known.is_none(),
            is_over: false,
        }
    }

    /// What is sent next; none once this reader has fallen too far behind, or is not to read any more.
    async fn next(&mut self) -> Option<String> {
        if self.is_new {
            self.is_new = false;
            let (at, present) = self.app.engine().present_groups();
            self.at = at;
            self.first = present.into();
            let data = format!("{{\"groups\":{}}}", self.first.len());
            return Some(self.listed("reset", &data));
        }
        if let Some(news) = self.first.pop_front() {
            return Some(self.listed("group", &text_of(&news)));
        }
        loop {
            if self.let_in_at.elapsed() >= KEEP_ALIVE {
                if !self.is_still_let_in().await {
                    tracing::debug!("a listener to events may not read any more and is let go");
                    return None;
                }
                self.let_in_at = Instant::now();
            }
            match self.app.engine().event_after(self.at) {
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
                () = self.app.engine().wait_for_event(self.at) => {}
                () = tokio::time::sleep(KEEP_ALIVE) => return Some(": still there\n\n".to_owned()),
                () = self.app.engine().stopped() => {
                    self.is_over = true;
                    return Some(self.event("end", "{}"));
                }
            }
        }
    }

    /// Whether the same request would be let in now: its token may be over, its user gone or with other roles.
    async fn is_still_let_in(&self) -> bool {
        match self.app.authenticator().principal(&self.headers).await {
            Ok(Some(principal)) => principal.may(Role::Read),
            // Nothing was found out; it is asked again soon.
            Err(AuthError::Busy) => true,
            Ok(None) | Err(_) => false,
        }
    }

    /// An event of the state of all groups. Only the last has an id: whoever loses the connection before has not been told all, and begins anew.
    fn listed(&self, name: &str, data: &str) -> String {
        match self.first.is_empty() {
            true => self.event(name, data),
            false => format!("event: {name}\ndata: {data}\n\n"),
        }
    }

    fn event(&self, name: &str, data: &str) -> String {
        let id = self.app.engine().event_id(self.at);
        format!("id: {id}\nevent: {name}\ndata: {data}\n\n")
    }
}

fn text_of(news: &GroupNews) -> String {
    // Names and numbers can always be written.
    serde_json::to_string(&convert::group_changed(news)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use axum::http::HeaderValue;
    use axum::http::header::AUTHORIZATION;
    use store::MemoryStore;

    use super::*;
    use crate::audit::Auditor;
    use crate::auth::{PasswordHash, User};
    use crate::config::ServerConfig;
    use crate::engine::Deps;

    fn reader(role: &str) -> User {
        let hash = PasswordHash::of("secret").to_phc();
        User::new("ann", &hash, &[role.to_owned()]).unwrap()
    }

    /// Time goes by itself here: what lies between two steps is the test's to say.
    #[tokio::test(start_paused = true)]
    async fn whoever_may_not_read_any_more_is_let_go_within_the_time_of_a_keep_alive() {
        let store = Arc::new(MemoryStore::new());
        let deps = Deps::new(store);
        let config = ServerConfig::new("test");
        let users = config.users.clone();
        users.replace(vec![reader("READ")]).unwrap();
        let engine = Engine::start(
            deps,
            config.settings,
            config.resharding_times(),
            config.watching_times(),
        );
        let auditor = Arc::new(Auditor::new(engine.audit()));
        let app = App::new(engine, Arc::new(config), auditor);
        let (_, issued) = app.authenticator().log_in("ann", "secret").await.unwrap();
        let bearer = HeaderValue::from_str(&format!("Bearer {}", issued.token)).unwrap();
        let headers = HeaderMap::from_iter([(AUTHORIZATION, bearer)]);
        let mut listener = Listener::new(app, headers, Some(0));
        for _ in 0..3 {
            assert_eq!(listener.next().await.as_deref(), Some(": still there\n\n"));
        }
        users.replace(vec![reader("WRITE")]).unwrap();
        assert_eq!(listener.next().await, None, "the token ended with the user");
    }
}
