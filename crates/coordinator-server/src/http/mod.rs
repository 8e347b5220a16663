//! The HTTP face: routes, access, bodies and errors. Decides nothing about groups.

mod access;
mod audit;
mod body;
mod cursor;
mod error;
mod limit;
mod openapi;
mod path;
mod peer;
mod reference;
mod router;
mod routes;
mod table;
mod values;
#[cfg(feature = "testing")]
mod witness;

#[cfg(test)]
mod access_tests;

use std::sync::Arc;

use axum::Router;
use tokio::sync::{Semaphore, SemaphorePermit};

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
    auditor: Arc<Auditor>,
    /// The right to read records.
    records: Semaphore,
    scrapes: Scrapes,
}

/// How many pages of records are read at once, for all who ask: each may have some megabytes.
const PAGES_AT_ONCE: usize = 8;

/// The router of a coordinator.
pub(crate) fn app(engine: Engine, config: Arc<ServerConfig>, auditor: Arc<Auditor>) -> Router {
    router::router(&App::new(engine, config, auditor)).into_router()
}

impl App {
    fn new(engine: Engine, config: Arc<ServerConfig>, auditor: Arc<Auditor>) -> Self {
        Self(Arc::new(Parts {
            auditor,
            engine,
            authenticator: Authenticator::new(&config),
            changes: ChangeLimit::new(config.change_rate),
            scrapes: Scrapes::default(),
            config,
            records: Semaphore::new(PAGES_AT_ONCE),
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

    /// The right to read a page of records; waits for its turn.
    async fn room_for_records(&self) -> Option<SemaphorePermit<'_>> {
        // Nobody closes it: there is a right to be had in the end.
        self.0.records.acquire().await.ok()
    }

    fn authenticator(&self) -> &Authenticator {
        &self.0.authenticator
    }
}
