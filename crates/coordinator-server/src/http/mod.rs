//! The HTTP face: routes, access, bodies and errors. Decides nothing about groups.

mod access;
mod audit;
mod body;
mod error;
mod path;
mod peer;
mod router;
mod routes;

use std::sync::Arc;

use axum::Router;

use crate::audit::Auditor;
use crate::auth::Authenticator;
use crate::config::ServerConfig;
use crate::engine::Engine;

pub(crate) use error::ApiError;
pub(crate) use peer::Peer;

/// What every route works with.
#[derive(Clone)]
pub(crate) struct App(Arc<Parts>);

struct Parts {
    engine: Engine,
    config: Arc<ServerConfig>,
    authenticator: Authenticator,
    auditor: Auditor,
}

/// The router of a coordinator.
pub(crate) fn app(engine: Engine, config: Arc<ServerConfig>) -> Router {
    let authenticator = Authenticator::new(&config);
    let auditor = Auditor::new(engine.audit());
    router::router(App(Arc::new(Parts {
        engine,
        config,
        authenticator,
        auditor,
    })))
}

impl App {
    fn engine(&self) -> &Engine {
        &self.0.engine
    }

    fn config(&self) -> &ServerConfig {
        &self.0.config
    }

    fn auditor(&self) -> &Auditor {
        &self.0.auditor
    }

    fn authenticator(&self) -> &Authenticator {
        &self.0.authenticator
    }
}
