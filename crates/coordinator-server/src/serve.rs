//! Serving connections, and ending well: what was begun is finished, within a limit.

mod accept;
mod tls;

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;

use crate::audit::Auditor;
use crate::config::{ConfigError, ServerConfig};
use crate::engine::{Deps, Engine};
use crate::{http, metrics};
use accept::accept;
pub use tls::{ClientAuth, Tls, TlsError, TlsFiles};

/// Why a server did not start.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The setup is refused.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The listener has no address.
    #[error("the listener does not work")]
    Listener(#[source] std::io::Error),
}

/// Runs a coordinator on a listener until `shutdown` resolves, then finishes what was begun, for at most
/// [`ServerConfig::shutdown_timeout`].
///
/// While it ends, `/readyz` answers 503 and new changes are refused with `COORDINATOR_TERMINATING`; reads go on.
///
/// # Errors
/// [`ServeError`] if the server may not, or can't, listen there.
pub async fn serve(
    listener: TcpListener,
    deps: Deps,
    config: ServerConfig,
    shutdown: impl Future<Output = ()> + Send,
) -> Result<(), ServeError> {
    let address = listener.local_addr().map_err(ServeError::Listener)?;
    config.check_address(address)?;
    metrics::install();
    let timeout = config.shutdown_timeout;
    let config = Arc::new(config);
    let engine = Engine::start(
        deps,
        config.settings,
        config.resharding_times(),
        config.watching_times(),
    );
    let auditor = Arc::new(Auditor::new(engine.audit()));
    let app = http::app(engine.clone(), Arc::clone(&config), Arc::clone(&auditor));
    let graceful = GracefulShutdown::new();
    tracing::info!(%address, coordinator = %config.coordinator_id, "listening");
    let started = {
        let mut accepting = std::pin::pin!(accept(&listener, &app, &config, &graceful));
        tokio::select! {
            () = &mut accepting => {}
            () = shutdown => {}
        }
        let started = Instant::now();
        tracing::info!(?timeout, "terminating: finishing what was begun");
        engine.terminate();
        // Connections are still taken, so that whoever asks learns that this coordinator is terminating.
        tokio::select! {
            () = &mut accepting => {}
            outcome = tokio::time::timeout(timeout, engine.wait_for_changes()) => if outcome.is_err() {
                tracing::warn!(?timeout, "changes that had begun are given up");
            },
        }
        started
    };
    drop(listener);
    engine.stop();
    let left = || timeout.saturating_sub(started.elapsed()).max(LAST_WORDS);
    if tokio::time::timeout(left(), graceful.shutdown())
        .await
        .is_err()
    {
        tracing::warn!("connections are cut");
    }
    // Also those of whom nobody waits any more for an answer.
    auditor.finish(left()).await;
    tracing::info!(took = ?started.elapsed(), "terminated");
    Ok(())
}

/// What connections, and then audit events, get at the least to end in, however long changes took.
const LAST_WORDS: Duration = Duration::from_millis(100);
