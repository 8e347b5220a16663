//! The HTTP face: routes, access, bodies and errors. Decides nothing about groups.

mod access;
mod body;
mod error;
mod path;
mod router;
mod routes;

use std::sync::Arc;

use axum::Router;

use crate::auth::Authenticator;
use crate::config::ServerConfig;
use crate::engine::Engine;

pub(crate) use error::ApiError;

/// What every route works with.
#[derive(Clone)]
pub(crate) struct App(Arc<Parts>);

struct Parts {
    engine: Engine,
    config: Arc<ServerConfig>,
    authenticator: Authenticator,
}

/// The router of a coordinator.
pub(crate) fn app(engine: Engine, config: Arc<ServerConfig>) -> Router {
    let authenticator = Authenticator::new(&config);
    router::router(App(Arc::new(Parts {
        engine,
        config,
        authenticator,
    })))
}

impl App {
    fn engine(&self) -> &Engine {
        &self.0.engine
    }

    fn config(&self) -> &ServerConfig {
        &self.0.config
    }

    fn authenticator(&self) -> &Authenticator {
        &self.0.authenticator
    }
}
