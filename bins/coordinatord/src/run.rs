//! Builds what the server works on and runs it until the process is told to end.

use std::net::SocketAddr;
use std::sync::Arc;

use coordinator_server::{Deps, Indexes, ServeError, serve};
use store::MemoryStore;
use store_redis::{ConnectError, RedisConfig, RedisPlane, RedisStore};
use tokio::net::TcpListener;

use crate::secrets::without_password;
use crate::signals;
use crate::validate::{Place, Valid};

/// Why the coordinator does not run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunError {
    #[error("could not start the runtime")]
    Runtime(#[source] std::io::Error),
    #[error("could not listen for signals")]
    Signals(#[source] std::io::Error),
    #[error("could not listen on {address}")]
    Listen {
        address: SocketAddr,
        #[source]
        source: std::io::Error,
    },
    #[error("{what} ({urls})")]
    Redis {
        what: &'static str,
        urls: String,
        #[source]
        source: ConnectError,
    },
    #[error(transparent)]
    Serve(#[from] ServeError),
    #[error("key-prefix: {0}")]
    Index(#[from] store_redis::IndexNameError),
}

/// Runs the coordinator until the process is told to end.
pub(crate) fn run(valid: Valid) -> Result<(), RunError> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build();
    runtime
        .map_err(RunError::Runtime)?
        .block_on(run_in_runtime(valid))
}

async fn run_in_runtime(valid: Valid) -> Result<(), RunError> {
    for warning in valid.server.settings.warnings() {
        tracing::warn!(%warning, "unwise setting");
    }
    let deps = deps(&valid).await?;
    let address = valid.listen;
    let listener = TcpListener::bind(address)
        .await
        .map_err(|source| RunError::Listen { address, source })?;
    if let Ok(bound) = listener.local_addr() {
        // For whoever started the process with port 0.
        let scheme = if valid.server.tls.is_some() {
            "https"
        } else {
            "http"
        };
        println!("coordinatord listening on {scheme}://{bound}");
    }
    if valid.server.tls.is_none() && !address.ip().is_loopback() {
        tracing::warn!(
            "passwords and tokens come in plain HTTP; set tls-cert and tls-key, or put a proxy with TLS in front"
        );
    }
    let hangups = signals::hangups().map_err(RunError::Signals)?;
    let reloading = tokio::spawn(valid.reload.run(hangups));
    let (told, end) = tokio::sync::oneshot::channel();
    let watching = tokio::spawn(async move {
        let outcome = signals::shutdown().await;
        // The server is gone if nobody takes this.
        let _ = told.send(());
        outcome
    });
    serve(listener, deps, valid.server, async {
        let _ = end.await;
    })
    .await?;
    reloading.abort();
    match watching.await {
        Ok(outcome) => outcome.map_err(RunError::Signals),
        Err(_) => Ok(()),
    }
}

async fn deps(valid: &Valid) -> Result<Deps, RunError> {
    match &valid.store {
        Place::Memory => {
            tracing::warn!(
                "groups are kept in memory and are gone with this process; set --store redis://… to keep them"
            );
            let memory = Arc::new(MemoryStore::new());
            let plane = match &valid.streams {
                Some(urls) => Some(plane(urls, valid).await?),
                None => None,
            };
            Ok(Deps {
                plane: plane.map(|plane| plane as _),
                ..Deps::new(memory)
            })
        }
        Place::Redis(urls) => {
            let config = RedisConfig::new(urls.clone()).with_key_prefix(valid.key_prefix.clone());
            let store = RedisStore::connect(config)
                .await
                .map_err(|source| RunError::Redis {
                    what: "could not use the store",
                    urls: shown(urls),
                    source,
                })?;
            let plane = plane(valid.streams.as_ref().unwrap_or(urls), valid).await?;
            Ok(Deps {
                plane: Some(plane),
                indexes: Some(indexes(&store)?),
                ..Deps::new(Arc::new(store))
            })
        }
    }
}

fn indexes(store: &RedisStore) -> Result<Indexes, RunError> {
    Ok(Indexes {
        due: store.index("due")?,
        groups: store.index("groups")?,
    })
}

async fn plane(urls: &[String], valid: &Valid) -> Result<Arc<RedisPlane>, RunError> {
    let config = RedisConfig::new(urls.to_vec()).with_key_prefix(valid.key_prefix.clone());
    let plane = RedisPlane::connect(config)
        .await
        .map_err(|source| RunError::Redis {
            what: "could not use the Redis of the shard streams",
            urls: shown(urls),
            source,
        })?;
    Ok(Arc::new(plane.with_provisioning(valid.provisioning)))
}

fn shown(urls: &[String]) -> String {
    urls.iter()
        .map(|url| without_password(url))
        .collect::<Vec<_>>()
        .join(", ")
}
