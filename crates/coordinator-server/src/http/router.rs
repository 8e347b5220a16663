//! Which path leads where, and what every answer has in common.

use std::any::Any;
use std::time::Instant;

use axum::Router;
use axum::extract::{MatchedPath, Request};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use axum::routing::{MethodRouter, get, post};
use protocol::ErrorCode;
use tower_http::catch_panic::CatchPanicLayer;

use super::audit as auditing;
use super::routes::{
    admin, audit, auth, events, grafana, groups, listing, members, migrations, monitoring, probes,
    shards, streams,
};
use super::{ApiError, App, access, reference};
use crate::metrics;

/// The routes, each behind the guard, and their paths.
pub(super) struct Routes {
    app: App,
    router: Router<App>,
    paths: Vec<String>,
}

impl Routes {
    pub(super) fn new(app: &App) -> Self {
        Self {
            app: app.clone(),
            router: Router::new(),
            paths: Vec::new(),
        }
    }

    pub(super) fn route(mut self, path: &str, methods: MethodRouter<App>) -> Self {
        let guard = middleware::from_fn_with_state(self.app.clone(), access::guard);
        self.router = self.router.route(path, methods.route_layer(guard));
        self.paths.push(path.to_owned());
        self
    }

    fn nest(mut self, prefix: &str, inner: Self) -> Self {
        self.router = self.router.nest(prefix, inner.router);
        let paths = inner.paths.iter();
        self.paths
            .extend(paths.map(|path| format!("{prefix}{path}")));
        self
    }

    /// The paths as the router has them.
    #[cfg(test)]
    pub(super) fn paths(&self) -> &[String] {
        &self.paths
    }

    /// The router, with what every answer has in common.
    pub(super) fn into_router(self) -> Router {
        let router = self
            .router
            .fallback(unknown_route)
            .method_not_allowed_fallback(wrong_method)
            .layer(CatchPanicLayer::custom(panicked))
            .layer(middleware::from_fn_with_state(
                self.app.clone(),
                auditing::audit,
            ))
            .layer(middleware::from_fn(measure));
        #[cfg(feature = "testing")]
        let router = match self.app.config().witness.clone() {
            Some(witness) => router.layer(middleware::from_fn(move |request, next| {
                super::witness::show(witness.clone(), request, next)
            })),
            None => router,
        };
        router.with_state(self.app)
    }
}

pub(super) fn router(app: &App) -> Routes {
    let api = Routes::new(app)
        .route("/openapi.json", get(reference::document))
        .route("/auth/login", post(auth::login))
        .route("/admin/snapshot", get(admin::save))
        .route("/admin/snapshot/restore", post(admin::restore))
        .route("/streams/{streamPrefix}", post(streams::create))
        .route(
            "/streams/{streamPrefix}/groups/{consumerGroup}",
            post(groups::create).get(groups::get).delete(groups::delete),
        )
        .route("/streams/{streamPrefix}/scale", post(migrations::scale_stream))
        .route(
            "/streams/{streamPrefix}/groups/{consumerGroup}/scale",
            post(migrations::scale_group),
        )
        .route(
            "/streams/{streamPrefix}/groups/{consumerGroup}/migrations/{reshardingId}",
            get(migrations::get),
        )
        .route(
            "/streams/{streamPrefix}/groups/{consumerGroup}/migrations/{reshardingId}/rollback",
            post(migrations::roll_back),
        )
        .route(
            "/streams/{streamPrefix}/groups/{consumerGroup}/producer-routing",
            get(groups::producer_routing),
        )
        .route(
            "/streams/{streamPrefix}/groups/{consumerGroup}/members/{memberId}/heartbeat",
            post(members::heartbeat),
        )
        .route(
            "/streams/{streamPrefix}/groups/{consumerGroup}/watch",
            get(members::watch),
        )
        .route("/monitoring/health", get(monitoring::health))
        .route("/monitoring/session", get(monitoring::session))
        .route("/monitoring/compatibility", get(monitoring::compatibility))
        .route("/monitoring/audit", get(audit::list))
        .route("/monitoring/events", get(events::listen))
        .route("/monitoring/groups", get(listing::groups))
        .route("/monitoring/grafana/groups", get(grafana::groups))
        .route("/monitoring/grafana/members", get(grafana::members))
        .route("/monitoring/grafana/shards", get(grafana::shards))
        .route("/monitoring/grafana/assignments", get(grafana::assignments))
        .route("/monitoring/grafana/messages", get(grafana::messages))
        .route(
            "/monitoring/grafana/options/streams",
            get(grafana::stream_options),
        )
        .route(
            "/monitoring/grafana/options/consumer-groups",
            get(grafana::group_options),
        )
        .route(
            "/monitoring/grafana/options/shards",
            get(grafana::shard_options),
        )
        .route(
            "/monitoring/streams/{streamPrefix}/groups/{consumerGroup}",
            get(groups::get),
        )
        .route(
            "/monitoring/streams/{streamPrefix}/groups/{consumerGroup}/members",
            get(monitoring::members),
        )
        .route(
            "/monitoring/streams/{streamPrefix}/groups/{consumerGroup}/consumption",
            get(monitoring::consumption),
        )
        .route(
            "/monitoring/streams/{streamPrefix}/groups/{consumerGroup}/assignments",
            get(monitoring::assignments),
        )
        .route(
            "/monitoring/streams/{streamPrefix}/groups/{consumerGroup}/migrations",
            get(migrations::list),
        )
        .route(
            "/monitoring/streams/{streamPrefix}/groups/{consumerGroup}/offsets",
            get(shards::offsets),
        )
        .route(
            "/monitoring/streams/{streamPrefix}/groups/{consumerGroup}/shards/{shardIndex}/messages",
            get(shards::messages),
        );
    Routes::new(app)
        .nest("/coord/v1", api)
        .route("/healthz", get(probes::healthz))
        .route("/readyz", get(probes::readyz))
        .route("/metrics", get(probes::metrics))
        .route("/docs", get(reference::page))
        .route("/docs/reference.js", get(reference::script))
        .route("/docs/reference.css", get(reference::style))
}

async fn unknown_route(request: Request) -> ApiError {
    ApiError::new(
        ErrorCode::NotFound,
        format!("there is nothing at {}", request.uri().path()),
    )
}

async fn wrong_method(request: Request) -> ApiError {
    let message = format!(
        "{} is not allowed at {}",
        request.method(),
        request.uri().path()
    );
    ApiError::new(ErrorCode::MethodNotAllowed, message)
}

// The layer hands the panic over whole.
#[allow(clippy::needless_pass_by_value)]
fn panicked(panic: Box<dyn Any + Send>) -> Response {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    tracing::error!(panic = text.unwrap_or("unknown"), "a request failed");
    ApiError::new(
        ErrorCode::InternalError,
        "the coordinator failed; its log says more",
    )
    .into_response()
}

async fn measure(request: Request, next: Next) -> Response {
    let started = Instant::now();
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map(|path| path.as_str().to_owned());
    let method = request.method().clone();
    let response = next.run(request).await;
    let route = route.as_deref().unwrap_or("unknown");
    metrics::api_request(
        method.as_str(),
        route,
        response.status().as_u16(),
        started.elapsed(),
    );
    response
}
