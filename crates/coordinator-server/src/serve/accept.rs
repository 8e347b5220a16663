//! Taking connections, encrypted or not, within their limits. What is asked on them is not known here.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tower::ServiceExt as _;

use crate::config::{Limits, ServerConfig};
use crate::http::Peer;

/// Takes connections for as long as it is polled.
pub(super) async fn accept(
    listener: &TcpListener,
    app: &Router,
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
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(peer = %address, %error, "answers may be delayed");
        }
        let connection = Connection {
            peer: Peer::new(address),
            app: app.clone(),
            limits: config.limits,
            watcher: graceful.watcher(),
        };
        // The certificate of this moment: one that is replaced is so for connections to come.
        let acceptor = config.tls.as_ref().map(super::Tls::acceptor);
        tokio::spawn(async move {
            match acceptor {
                None => connection.serve(stream).await,
                Some(acceptor) => connection.serve_encrypted(acceptor, stream).await,
            }
            drop(permit);
        });
    }
}

struct Connection {
    peer: Peer,
    app: Router,
    limits: Limits,
    watcher: Watcher,
}

impl Connection {
    async fn serve_encrypted(self, acceptor: tokio_rustls::TlsAcceptor, stream: TcpStream) {
        let peer = self.peer.address();
        let shaking = acceptor.accept(stream);
        match tokio::time::timeout(self.limits.handshake_timeout, shaking).await {
            Ok(Ok(stream)) => self.serve(stream).await,
            Ok(Err(error)) => tracing::debug!(%peer, %error, "no TLS with this client"),
            Err(_) => tracing::debug!(%peer, "the TLS handshake took too long"),
        }
    }

    async fn serve(self, stream: impl AsyncRead + AsyncWrite + Unpin + Send + 'static) {
        let (peer, of_request) = (self.peer.clone(), self.peer);
        let address = peer.address();
        let service = self.app.map_request(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(of_request.clone());
            request.map(Body::new)
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.header_timeout)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(service));
        tokio::select! {
            ended = self.watcher.watch(connection) => if let Err(error) = ended {
                tracing::debug!(peer = %address, %error, "connection ended");
            },
            () = peer.is_cut() => tracing::debug!(peer = %address, "connection cut"),
        }
        peer.note_end();
    }
}
