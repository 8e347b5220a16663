//! What the process is told from outside: to end by SIGTERM or SIGINT, to read files again by SIGHUP.

use tokio::signal::unix::{Signal, SignalKind, signal};

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

/// Each time that files are to be read again.
pub(crate) fn hangups() -> std::io::Result<Signal> {
    signal(SignalKind::hangup())
}
