//! Sees to it that every mutation leaves one event, refused ones included. It changes no answer, and decides nothing.

mod asked;
mod body;
mod caller;
mod event;
mod put_back;

use std::time::Instant;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::http::Method;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use protocol::{AuditAction, ErrorCode};

use super::{ApiError, App};
use crate::audit::Owed;
use crate::convert;
use asked::Asked;
use caller::Caller;
pub(super) use caller::note_caller;
use event::Answered;
pub(super) use event::Resharding;
use futures_util::{StreamExt, stream};
use put_back::PutBack;
pub(super) use put_back::note_put_back;

/// Of how many groups it is told at a time what became of them.
const AT_ONCE: usize = 16;

/// The layer: outside of everything that may refuse a mutation.
pub(super) async fn audit(State(app): State<App>, request: Request, next: Next) -> Response {
    let Some(action) = action(&request) else {
        return next.run(request).await;
    };
    // Whoever asked may go away meanwhile: what was begun is finished and written down all the same, and the end of the process waits for it.
    let owed = app.auditor().owe();
    let carried_out = tokio::spawn(carry_out(app, owed, action, request, next));
    carried_out.await.unwrap_or_else(|error| {
        tracing::error!(%error, "a mutation failed");
        let message = "the coordinator failed; its log says more";
        ApiError::new(ErrorCode::InternalError, message).into_response()
    })
}

async fn carry_out(
    app: App,
    owed: Owed,
    action: AuditAction,
    request: Request,
    next: Next,
) -> Response {
    let started = Instant::now();
    let (mut parts, body) = request.into_parts();
    let asked = Asked::read(&mut parts, action).await;
    let caller = Caller::default();
    parts.extensions.insert(caller.clone());
    let put_back = PutBack::default();
    parts.extensions.insert(put_back.clone());
    let (body, mut seen) = body::watched(body);
    let request = Request::from_parts(parts, Body::new(body));
    let response = next.run(request).await;
    let took = started.elapsed();
    seen.read_rest(app.config().limits.body_bytes).await;
    let answered = Answered::of(&response, took);
    let principal = caller.known();
    if matches!(action, AuditAction::ScaleStream | AuditAction::ScaleGroup) && principal.is_some() {
        let group = asked.group();
        app.engine().count_asked(group.as_ref(), |asked| {
            asked.scales += 1;
            asked.scales_failed += u64::from(answered.is_refused());
        });
    }
    let coordinator = &app.config().coordinator_id;
    let event = event::event(coordinator, &asked, principal, &seen, &answered);
    let groups = put_back.groups().iter();
    // All are owed from here on, also those that have to wait for their turn.
    let groups: Vec<_> = groups.map(|group| (app.auditor().owe(), group)).collect();
    app.auditor().keep(owed, &event, asked.group()).await;
    let of_groups = groups.into_iter().map(async |(owed, group)| {
        let id = convert::group_id(&group.stream_prefix, &group.consumer_group).ok();
        let event = event::of_put_back(&event, group);
        app.auditor().keep(owed, &event, id).await;
    });
    stream::iter(of_groups)
        .for_each_concurrent(AT_ONCE, |telling| telling)
        .await;
    response
}

/// Which mutation a request asks for; none if it asks for something else.
fn action(request: &Request) -> Option<AuditAction> {
    let route = request.extensions().get::<MatchedPath>()?;
    let method = request.method();
    let route = route.as_str().strip_prefix("/coord/v1")?;
    if route == "/admin/snapshot/restore" && method == Method::POST {
        return Some(AuditAction::RestoreSnapshot);
    }
    let route = route.strip_prefix("/streams/{streamPrefix}")?;
    match route {
        "" if method == Method::POST => Some(AuditAction::CreateStream),
        "/scale" if method == Method::POST => Some(AuditAction::ScaleStream),
        "/groups/{consumerGroup}" if method == Method::POST => Some(AuditAction::CreateGroup),
        "/groups/{consumerGroup}" if method == Method::DELETE => Some(AuditAction::DeleteGroup),
        "/groups/{consumerGroup}/scale" if method == Method::POST => Some(AuditAction::ScaleGroup),
        "/groups/{consumerGroup}/migrations/{reshardingId}/rollback" if method == Method::POST => {
            Some(AuditAction::RollbackMigration)
        }
        _ => None,
    }
}
