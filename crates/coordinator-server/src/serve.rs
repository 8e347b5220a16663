//! Serving connections, and ending well: what was begun is finished, within a limit.

use std::future::Future;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tower::ServiceExt as _;

use crate::config::{ConfigError, ServerConfig};
use crate::engine::{Deps, Engine};
use crate::http::Peer;
use crate::{http, metrics};

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
    let app = http::app(engine.clone(), Arc::clone(&config));
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
    let left = timeout.saturating_sub(started.elapsed()).max(LAST_WORDS);
    if tokio::time::timeout(left, graceful.shutdown())
        .await
        .is_err()
    {
        tracing::warn!("connections are cut");
    }
    tracing::info!(took = ?started.elapsed(), "terminated");
    Ok(())
}

/// What connections get at the least to end in, however long changes took.
const LAST_WORDS: Duration = Duration::from_millis(100);

/// Takes connections for as long as it is polled.
async fn accept(
    listener: &TcpListener,
    app: &axum::Router,
    config: &ServerConfig,
    graceful: &GracefulShutdown,
) {
    let connections = Arc::new(Semaphore::new(config.limits.connections));
    while let Ok(permit) = Arc::clone(&connections).acquire_owned().await {
        let (stream, address) = match listener.accept().await {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, mostly: they come back when connections end.
                tracing::warn!(%error, "could not accept a connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let peer = Peer::new(address);
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(peer = %address, %error, "answers may be delayed");
        }
        let of_request = peer.clone();
        let service = app
            .clone()
            .map_request(move |mut request: Request<Incoming>| {
                request.extensions_mut().insert(of_request.clone());
                request.map(Body::new)
            });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(config.limits.header_timeout)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            tokio::select! {
                ended = connection => if let Err(error) = ended {
                    tracing::debug!(peer = %address, %error, "connection ended");
                },
                () = peer.is_cut() => tracing::debug!(peer = %address, "connection cut"),
            }
            peer.note_end();
            drop(permit);
        });
    }
}
