//! Who may ask what: each method of each route, and the role that it demands. What a route does is not said here.

use axum::http::Method;
use protocol::Role;

/// What a route demands of whoever asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    /// Nothing.
    Open,
    /// The role MEMBER where members are authenticated; else nothing.
    Member,
    /// A role.
    Role(Role),
}

/// One method of one route.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) method: Method,
    /// As the router has it, names of path parameters included.
    pub(super) path: &'static str,
    pub(super) access: Access,
}

impl Row {
    /// Whether it is a change asked for by people: limited in its rate.
    pub(super) fn is_change(&self) -> bool {
        self.access == WRITE
    }
}

const OPEN: Access = Access::Open;
const READ: Access = Access::Role(Role::Read);
const WRITE: Access = Access::Role(Role::Write);
const ADMIN: Access = Access::Role(Role::Admin);
const MEMBER: Access = Access::Member;

const fn row(method: Method, path: &'static str, access: Access) -> Row {
    Row {
        method,
        path,
        access,
    }
}

/// Every method of every route there is; a route without a row lets nobody in.
#[rustfmt::skip]
pub(super) const TABLE: &[Row] = &[
    row(Method::GET, "/healthz", OPEN),
    row(Method::GET, "/readyz", OPEN),
    row(Method::GET, "/metrics", OPEN),
    row(Method::GET, "/docs", OPEN),
    row(Method::GET, "/docs/reference.js", OPEN),
    row(Method::GET, "/docs/reference.css", OPEN),
    row(Method::GET, "/coord/v1/openapi.json", OPEN),
    row(Method::POST, "/coord/v1/auth/login", OPEN),
    row(Method::GET, "/coord/v1/admin/snapshot", ADMIN),
    row(Method::POST, "/coord/v1/admin/snapshot/restore", ADMIN),
    row(Method::POST, "/coord/v1/streams/{stream}", WRITE),
    row(Method::POST, "/coord/v1/streams/{stream}/scale", WRITE),
    row(Method::POST, "/coord/v1/streams/{stream}/groups/{group}", WRITE),
    row(Method::GET, "/coord/v1/streams/{stream}/groups/{group}", READ),
    row(Method::DELETE, "/coord/v1/streams/{stream}/groups/{group}", WRITE),
    row(Method::POST, "/coord/v1/streams/{stream}/groups/{group}/scale", WRITE),
    row(Method::GET, "/coord/v1/streams/{stream}/groups/{group}/migrations/{id}", READ),
    row(Method::POST, "/coord/v1/streams/{stream}/groups/{group}/migrations/{id}/rollback", WRITE),
    row(Method::GET, "/coord/v1/streams/{stream}/groups/{group}/producer-routing", READ),
    row(Method::POST, "/coord/v1/streams/{stream}/groups/{group}/members/{member}/heartbeat", MEMBER),
    row(Method::GET, "/coord/v1/streams/{stream}/groups/{group}/watch", MEMBER),
    row(Method::GET, "/coord/v1/monitoring/health", READ),
    row(Method::GET, "/coord/v1/monitoring/session", READ),
    row(Method::GET, "/coord/v1/monitoring/compatibility", READ),
    row(Method::GET, "/coord/v1/monitoring/groups", READ),
    row(Method::GET, "/coord/v1/monitoring/audit", READ),
    row(Method::GET, "/coord/v1/monitoring/events", READ),
    row(Method::GET, "/coord/v1/monitoring/grafana/groups", READ),
    row(Method::GET, "/coord/v1/monitoring/grafana/members", READ),
    row(Method::GET, "/coord/v1/monitoring/grafana/shards", READ),
    row(Method::GET, "/coord/v1/monitoring/grafana/assignments", READ),
    row(Method::GET, "/coord/v1/monitoring/grafana/messages", READ),
    row(Method::GET, "/coord/v1/monitoring/grafana/options/streams", READ),
    row(Method::GET, "/coord/v1/monitoring/grafana/options/consumer-groups", READ),
    row(Method::GET, "/coord/v1/monitoring/grafana/options/shards", READ),
    row(Method::GET, "/coord/v1/monitoring/streams/{stream}/groups/{group}", READ),
    row(Method::GET, "/coord/v1/monitoring/streams/{stream}/groups/{group}/members", READ),
    row(Method::GET, "/coord/v1/monitoring/streams/{stream}/groups/{group}/assignments", READ),
    row(Method::GET, "/coord/v1/monitoring/streams/{stream}/groups/{group}/migrations", READ),
    row(Method::GET, "/coord/v1/monitoring/streams/{stream}/groups/{group}/consumption", READ),
    row(Method::GET, "/coord/v1/monitoring/streams/{stream}/groups/{group}/offsets", READ),
    row(Method::GET, "/coord/v1/monitoring/streams/{stream}/groups/{group}/shards/{shard}/messages", READ),
];

/// The row of a method at a route. HEAD is a GET whose body nobody wants.
pub(super) fn row_of(method: &Method, path: &str) -> Option<&'static Row> {
    let method = if method == Method::HEAD {
        &Method::GET
    } else {
        method
    };
    TABLE
        .iter()
        .find(|row| row.path == path && row.method == *method)
}
