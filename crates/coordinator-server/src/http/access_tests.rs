//! The table of access against the router and against what is answered, row by row.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::body::Body;
use axum::http::header::{AUTHORIZATION, CONTENT_TYPE, WWW_AUTHENTICATE};
use axum::http::{Method, Request, Response, StatusCode};
use axum::routing::get;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http_body_util::BodyExt as _;
use openapi_check::{Answer, Contract};
use protocol::{ErrorBody, ErrorCode, Role};
use store::MemoryStore;
use tower::ServiceExt as _;

use super::access::Writer;
use super::router::Routes;
use super::table::{Access, Row, TABLE, row_of};
use super::{App, Peer, openapi, router};
use crate::audit::Auditor;
use crate::auth::{PasswordHash, User};
use crate::config::ServerConfig;
use crate::engine::{Deps, Engine};

const ROLES: [Role; 4] = [Role::Read, Role::Write, Role::Member, Role::Admin];

/// An app with a user for each role, named like it, and `secret` as the password of all.
fn app(authenticate_members: bool) -> App {
    let store = Arc::new(MemoryStore::new());
    let deps = Deps::new(store);
    let mut config = ServerConfig::new("test");
    config.authenticate_members = authenticate_members;
    config.change_rate = None;
    let hash = PasswordHash::of("secret").to_phc();
    let user = |role: &Role| User::new(role.as_str(), &hash, &[role.to_string()]);
    let users = ROLES.iter().map(user).collect::<Result<_, _>>();
    let users = users.expect("users that are taken");
    config.users.replace(users).expect("names that differ");
    let engine = Engine::start(
        deps,
        config.settings,
        config.resharding_times(),
        config.watching_times(),
    );
    let auditor = Arc::new(Auditor::new(engine.audit()));
    App::new(engine, Arc::new(config), auditor)
}

/// A path that the route leads to, whatever it names.
fn filled(path: &str) -> String {
    let parts = path.split('/').map(|part| match part {
        "{shardIndex}" => "0",
        part if part.starts_with('{') => "x",
        part => part,
    });
    parts.collect::<Vec<_>>().join("/")
}

async fn ask(router: &Router, method: &Method, path: &str, role: Option<Role>) -> Response<Body> {
    let mut request = Request::builder().method(method).uri(filled(path));
    if let Some(role) = role {
        let basic = STANDARD.encode(format!("{role}:secret"));
        request = request.header(AUTHORIZATION, format!("Basic {basic}"));
    }
    let peer = Peer::new(SocketAddr::from(([127, 0, 0, 1], 1)));
    let request = request.extension(peer).body(Body::empty());
    let request = request.expect("a request");
    let response = router
        .clone()
        .oneshot(request)
        .await
        .unwrap_or_else(|never| match never {});
    if TABLE.iter().any(|row| row.path == path) {
        return described(method, path, response).await;
    }
    response
}

static CONTRACT: LazyLock<Contract> = LazyLock::new(openapi::contract);

/// The response, which has to be what the OpenAPI document says.
async fn described(method: &Method, path: &str, response: Response<Body>) -> Response<Body> {
    let (parts, mut body) = response.into_parts();
    let kind = parts.headers.get(CONTENT_TYPE);
    let body = if kind.is_some_and(|kind| kind == "text/event-stream") {
        // It has no end: how it begins has to do.
        let frame = body.frame().await.expect("a frame").expect("no failure");
        frame.into_data().expect("data")
    } else {
        body.collect().await.expect("a whole body").to_bytes()
    };
    let (path, shown) = (filled(path), Some(body.clone()));
    let answer = Answer::new(method, &path, parts.status, &parts.headers, shown);
    CONTRACT
        .check(&answer)
        .unwrap_or_else(|fault| panic!("{fault}"));
    Response::from_parts(parts, Body::from(body))
}

async fn code(response: Response<Body>) -> ErrorCode {
    let body = response.into_body().collect().await.expect("a whole body");
    let body: ErrorBody = protocol::decode(&body.to_bytes()).expect("the shape of refusals");
    body.error_code
}

#[tokio::test]
async fn every_method_of_every_route_has_a_row_and_every_row_a_route() {
    let routes = router::router(&app(true));
    let paths = routes.paths().to_vec();
    let router = routes.into_router();
    let mut there = BTreeSet::new();
    for path in &paths {
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"] {
            let asked: Method = method.parse().expect("a method");
            let response = ask(&router, &asked, path, None).await;
            if response.status() != StatusCode::METHOD_NOT_ALLOWED {
                there.insert((method.to_owned(), path.clone()));
            }
        }
    }
    let rows = TABLE
        .iter()
        .map(|row| (row.method.to_string(), row.path.to_owned()));
    assert_eq!(there, rows.collect::<BTreeSet<_>>());
    assert_eq!(there.len(), TABLE.len(), "a row is there twice");
}

#[tokio::test]
async fn a_route_without_a_row_lets_nobody_in() {
    let app = app(true);
    let routes = router::router(&app);
    let router = routes
        .route("/forgotten", get(async || "secrets"))
        .into_router();
    for role in ROLES {
        let response = ask(&router, &Method::GET, "/forgotten", Some(role)).await;
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
    }
}

#[tokio::test]
async fn a_route_that_expects_more_than_its_row_demands_lets_nobody_in() {
    let routes = Routes::new(&app(true));
    let router = routes
        .route("/healthz", get(async |_: Writer| "changes"))
        .into_router();
    for role in ROLES {
        let response = ask(&router, &Method::GET, "/healthz", Some(role)).await;
        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
    }
}

#[tokio::test]
async fn every_row_asks_for_credentials_where_it_demands_a_role() {
    let router = router::router(&app(true)).into_router();
    for Row {
        method,
        path,
        access,
        ..
    } in TABLE
    {
        let response = ask(&router, method, path, None).await;
        if *access == Access::Open {
            assert_ne!(
                response.status(),
                StatusCode::UNAUTHORIZED,
                "{method} {path}"
            );
            continue;
        }
        assert_eq!(
            response.status(),
            StatusCode::UNAUTHORIZED,
            "{method} {path}"
        );
        let schemes = response.headers()[WWW_AUTHENTICATE].to_str();
        assert!(schemes.expect("text").contains("Bearer"), "{method} {path}");
        assert_eq!(code(response).await, ErrorCode::Unauthorized);
    }
}

#[tokio::test]
async fn every_row_lets_in_who_has_the_role_and_nobody_else() {
    let router = router::router(&app(true)).into_router();
    for Row {
        method,
        path,
        access,
        ..
    } in TABLE
    {
        let needed = match access {
            Access::Open => continue,
            Access::Member => Role::Member,
            Access::Role(role) => *role,
        };
        for role in ROLES {
            let response = ask(&router, method, path, Some(role)).await;
            let status = response.status();
            let what = format!("{method} {path} as {role}: {status}");
            if role.allows(needed) {
                let refused = [StatusCode::UNAUTHORIZED, StatusCode::FORBIDDEN];
                assert!(!refused.contains(&status), "{what}");
                assert_ne!(status, StatusCode::INTERNAL_SERVER_ERROR, "{what}");
            } else {
                assert_eq!(status, StatusCode::FORBIDDEN, "{what}");
                assert_eq!(code(response).await, ErrorCode::Forbidden, "{what}");
            }
        }
    }
}

#[tokio::test]
async fn members_are_asked_for_nothing_unless_that_is_configured() {
    let router = router::router(&app(false)).into_router();
    let members = TABLE.iter().filter(|row| row.access == Access::Member);
    let statuses =
        members.map(async |row| ask(&router, &row.method, row.path, None).await.status());
    let statuses = futures_util::future::join_all(statuses).await;
    assert_eq!(statuses.len(), 2);
    assert!(
        !statuses.contains(&StatusCode::UNAUTHORIZED),
        "{statuses:?}"
    );
}

#[test]
fn reads_are_for_readers_changes_for_writers() {
    for row in TABLE {
        let (method, path, access) = (&row.method, row.path, &row.access);
        let is_change = *method != Method::GET && matches!(access, Access::Role(_));
        assert_eq!(
            row.is_change(),
            is_change,
            "{method} {path}: limited in its rate"
        );
        let is_api = path.starts_with("/coord/v1/")
            && !path.contains("/auth/")
            && !path.ends_with("/openapi.json");
        let (reads, changes) = (Access::Role(Role::Read), Access::Role(Role::Write));
        match *method {
            _ if !is_api => assert_eq!(*access, Access::Open, "{path}"),
            _ if *access == Access::Member => {
                assert!(
                    path.ends_with("/heartbeat") || path.ends_with("/watch"),
                    "{path}"
                );
            }
            _ if path.contains("/admin/") => {
                assert_eq!(*access, Access::Role(Role::Admin), "{path}");
            }
            Method::GET => assert_eq!(*access, reads, "{path}"),
            _ => assert_eq!(*access, changes, "{path}"),
        }
    }
    let head = row_of(&Method::HEAD, "/coord/v1/monitoring/groups");
    assert_eq!(head.map(|row| row.access), Some(Access::Role(Role::Read)));
}
