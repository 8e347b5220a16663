//! Who may ask what: each method of each route, the role that it demands, and with what it is counted. What a route does is not said here.

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

/// What changes by people are counted together, so that nobody changes it too often.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Counted {
    /// Those of one group.
    Group,
    /// Those of a whole stream.
    Stream,
    /// Those of everything there is.
    Fleet,
}

/// One method of one route.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) method: Method,
    /// As the router has it, names of path parameters included.
    pub(super) path: &'static str,
    pub(super) access: Access,
    /// Of a change asked for by people: with what it is counted. Heartbeats and reads are not counted.
    pub(super) counted: Option<Counted>,
}

impl Row {
    /// Whether it is a change asked for by people: limited in its rate.
    pub(super) const fn is_change(&self) -> bool {
        self.counted.is_some()
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
        counted: None,
    }
}

const fn change(method: Method, path: &'static str, access: Access, counted: Counted) -> Row {
    Row {
        method,
        path,
        access,
        counted: Some(counted),
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
    change(Method::POST, "/coord/v1/admin/snapshot/restore", ADMIN, Counted::Fleet),
    change(Method::POST, "/coord/v1/streams/{streamPrefix}", WRITE, Counted::Stream),
    change(Method::POST, "/coord/v1/streams/{streamPrefix}/scale", WRITE, Counted::Stream),
    change(Method::POST, "/coord/v1/streams/{streamPrefix}/groups/{consumerGroup}", WRITE, Counted::Group),
    row(Method::GET, "/coord/v1/streams/{streamPrefix}/groups/{consumerGroup}", READ),
    change(Method::DELETE, "/coord/v1/streams/{streamPrefix}/groups/{consumerGroup}", WRITE, Counted::Group),
    change(Method::POST, "/coord/v1/streams/{streamPrefix}/groups/{consumerGroup}/scale", WRITE, Counted::Stream),
    row(Method::GET, "/coord/v1/streams/{streamPrefix}/groups/{consumerGroup}/migrations/{reshardingId}", READ),
    change(Method::POST, "/coord/v1/streams/{streamPrefix}/groups/{consumerGroup}/migrations/{reshardingId}/rollback", WRITE, Counted::Stream),
    row(Method::GET, "/coord/v1/streams/{streamPrefix}/groups/{consumerGroup}/producer-routing", READ),
    row(Method::POST, "/coord/v1/streams/{streamPrefix}/groups/{consumerGroup}/members/{memberId}/heartbeat", MEMBER),
    row(Method::GET, "/coord/v1/streams/{streamPrefix}/groups/{consumerGroup}/watch", MEMBER),
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
    row(Method::GET, "/coord/v1/monitoring/streams/{streamPrefix}/groups/{consumerGroup}", READ),
    row(Method::GET, "/coord/v1/monitoring/streams/{streamPrefix}/groups/{consumerGroup}/members", READ),
    row(Method::GET, "/coord/v1/monitoring/streams/{streamPrefix}/groups/{consumerGroup}/assignments", READ),
    row(Method::GET, "/coord/v1/monitoring/streams/{streamPrefix}/groups/{consumerGroup}/migrations", READ),
    row(Method::GET, "/coord/v1/monitoring/streams/{streamPrefix}/groups/{consumerGroup}/consumption", READ),
    row(Method::GET, "/coord/v1/monitoring/streams/{streamPrefix}/groups/{consumerGroup}/offsets", READ),
    row(Method::GET, "/coord/v1/monitoring/streams/{streamPrefix}/groups/{consumerGroup}/shards/{shardIndex}/messages", READ),
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
