//! Lets requests in, by what the table demands, before any route sees them. Routes take what was found out by an extractor.

use axum::extract::{FromRequestParts, MatchedPath, RawPathParams, Request, State};
use axum::http::request::Parts;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use protocol::{ErrorCode, Role};

use super::audit::note_caller;
use super::limit::{Key, Of};
use super::table::{self, Access, Counted, Row};
use super::{ApiError, App};
use crate::auth::{AuthError, Principal};

/// A request that was let in.
#[derive(Clone)]
struct Admitted {
    row: &'static Row,
    principal: Option<Principal>,
}

/// Somebody who may read.
pub(super) struct Reader(pub(super) Principal);

/// Somebody who may create and delete.
pub(super) struct Writer;

/// Somebody who may do everything.
pub(super) struct Administrator;

/// A member; anybody, unless members are authenticated.
pub(super) struct MemberAccess;

/// Asks each request that has a route for what the table demands.
pub(super) async fn guard(State(app): State<App>, request: Request, next: Next) -> Response {
    let (mut parts, body) = request.into_parts();
    match admit(&app, &mut parts).await {
        Ok(admitted) => {
            parts.extensions.insert(admitted);
            next.run(Request::from_parts(parts, body)).await
        }
        Err(error) => error.into_response(),
    }
}

async fn admit(app: &App, parts: &mut Parts) -> Result<Admitted, ApiError> {
    let path = parts.extensions.get::<MatchedPath>().cloned();
    let path = path.as_ref().map_or("", MatchedPath::as_str);
    let row = table::row_of(&parts.method, path).ok_or_else(|| no_row(parts, path))?;
    let role = match row.access {
        Access::Open => None,
        Access::Member => app.config().authenticate_members.then_some(Role::Member),
        Access::Role(role) => Some(role),
    };
    let principal = match role {
        Some(role) => Some(demand(parts, app, role).await?),
        None => None,
    };
    if let (Some(principal), Some(counted)) = (&principal, row.counted) {
        let key = key(parts, app, principal, counted).await;
        app.changes().check(key)?;
    }
    Ok(Admitted { row, principal })
}

fn no_row(parts: &Parts, path: &str) -> ApiError {
    tracing::error!(method = %parts.method, path, "a route has no row in the table of access");
    ApiError::new(
        ErrorCode::InternalError,
        "nobody is let in here; this is a defect of the coordinator",
    )
}

async fn demand(parts: &Parts, app: &App, role: Role) -> Result<Principal, ApiError> {
    let principal = app
        .authenticator()
        .principal(&parts.headers)
        .await?
        .ok_or(AuthError::Missing)?;
    note_caller(parts, &principal);
    if principal.may(role) {
        return Ok(principal);
    }
    let message = format!(
        "this needs the role {role}; {} has it not",
        principal.username
    );
    Err(ApiError::new(ErrorCode::Forbidden, message))
}

/// Whose changes of what are counted together. The group that is named like its stream is counted with the stream, by whichever path.
async fn key(parts: &mut Parts, app: &App, principal: &Principal, counted: Counted) -> Key {
    let names = RawPathParams::from_request_parts(parts, app).await.ok();
    let named = |name: &str| {
        let mut names = names.iter().flatten();
        let found = names.find(|(key, _)| *key == name);
        found.map(|(_, value)| value.to_owned()).unwrap_or_default()
    };
    Key {
        principal: principal.username.clone(),
        of: match counted {
            Counted::Fleet => Of::Fleet,
            Counted::Stream => Of::Stream(named("streamPrefix")),
            Counted::Group => {
                let (stream, group) = (named("streamPrefix"), named("consumerGroup"));
                match stream == group {
                    true => Of::Stream(stream),
                    false => Of::Group(stream, group),
                }
            }
        },
    }
}

/// What was found out about a request, if the table demands what the route expects.
fn admitted(parts: &Parts, expected: Access) -> Result<&Admitted, ApiError> {
    let admitted = parts.extensions.get::<Admitted>();
    admitted
        .filter(|admitted| admitted.row.access == expected)
        .ok_or_else(|| no_row(parts, parts.uri.path()))
}

impl FromRequestParts<App> for Reader {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, ApiError> {
        let principal = admitted(parts, Access::Role(Role::Read))?.principal.clone();
        principal.map(Self).ok_or_else(|| AuthError::Missing.into())
    }
}

impl FromRequestParts<App> for Writer {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, ApiError> {
        admitted(parts, Access::Role(Role::Write)).map(|_| Self)
    }
}

impl FromRequestParts<App> for Administrator {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, ApiError> {
        admitted(parts, Access::Role(Role::Admin)).map(|_| Self)
    }
}

impl FromRequestParts<App> for MemberAccess {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, ApiError> {
        admitted(parts, Access::Member).map(|_| Self)
    }
}
