//! When the process is told to end: SIGTERM or SIGINT.

use tokio::signal::unix::{SignalKind, signal};

/// Resolves with the first signal to end.
pub(crate) async fn shutdown() -> std::io::Result<()> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::select! {
        _ = terminate.recv() => tracing::info!("told to end by SIGTERM"),
        _ = interrupt.recv() => tracing::info!("told to end by SIGINT"),
    }
    Ok(())
}
