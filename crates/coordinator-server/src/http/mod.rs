//! The HTTP face: routes, access, bodies and errors. Decides nothing about groups.

mod access;
mod audit;
mod body;
mod error;
mod limit;
mod openapi;
mod path;
mod peer;
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

use crate::audit::Auditor;
use crate::auth::Authenticator;
use crate::config::ServerConfig;
use crate::engine::Engine;
use crate::metrics::Scrapes;

pub(crate) use error::ApiError;
use limit::ChangeLimit;
pub(crate) use peer::Peer;
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
    auditor: Auditor,
    scrapes: Scrapes,
}

/// The router of a coordinator.
pub(crate) fn app(engine: Engine, config: Arc<ServerConfig>) -> Router {
    router::router(&App::new(engine, config)).into_router()
}

impl App {
    fn new(engine: Engine, config: Arc<ServerConfig>) -> Self {
        Self(Arc::new(Parts {
            auditor: Auditor::new(engine.audit()),
            engine,
            authenticator: Authenticator::new(&config),
            changes: ChangeLimit::new(config.change_rate),
            scrapes: Scrapes::default(),
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

    fn scrapes(&self) -> &Scrapes {
        &self.0.scrapes
    }

    fn auditor(&self) -> &Auditor {
        &self.0.auditor
    }

    fn authenticator(&self) -> &Authenticator {
        &self.0.authenticator
    }
}
