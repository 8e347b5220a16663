//! The HTTP face: routes, access, bodies and errors. Decides nothing about groups.

mod access;
mod body;
mod error;
mod limit;
mod openapi;
mod path;
mod reference;
mod router;
mod routes;
mod table;
#[cfg(feature = "testing")]
mod witness;

#[cfg(test)]
mod access_tests;
#[cfg(test)]
#[path = "../../tests/support/contract.rs"]
mod contract;

use std::sync::Arc;

use axum::Router;

use crate::auth::Authenticator;
use crate::config::ServerConfig;
use crate::engine::Engine;

pub(crate) use error::ApiError;
use limit::ChangeLimit;
#[cfg(feature = "testing")]
pub use witness::{Exchange, Witness};

/// What every route works with.
#[derive(Clone)]
pub(crate) struct App(Arc<Parts>);

struct Parts {
    engine: Engine,
    config: Arc<ServerConfig>,
    authenticator: Authenticator,
    changes: ChangeLimit,
}

/// The router of a coordinator.
pub(crate) fn app(engine: Engine, config: Arc<ServerConfig>) -> Router {
    router::router(&App::new(engine, config)).into_router()
}

impl App {
    fn new(engine: Engine, config: Arc<ServerConfig>) -> Self {
        Self(Arc::new(Parts {
            engine,
            authenticator: Authenticator::new(&config),
            changes: ChangeLimit::new(config.change_rate),
            config,
        }))
    }

    fn changes(&self) -> &ChangeLimit {
        &self.0.changes
    }

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
