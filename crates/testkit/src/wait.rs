//! Waiting for a condition with a deadline, instead of sleeping and hoping. It does not say what to do when time is up.

use std::future::Future;
use std::time::{Duration, Instant};

const POLL: Duration = Duration::from_millis(5);

/// The condition did not hold within the time allowed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the condition did not hold within {limit:?}")]
pub struct TimedOut {
    /// How long it was waited for.
    pub limit: Duration,
}

/// Asks `condition` every few milliseconds until it holds.
///
/// # Errors
///
/// [`TimedOut`] if it does not hold within `limit`. It is asked at least once.
pub async fn wait_until(
    limit: Duration,
    mut condition: impl FnMut() -> bool,
) -> Result<(), TimedOut> {
    wait_until_async(limit, || std::future::ready(condition())).await
}

/// [`wait_until`] for a condition that itself has to await something.
///
/// # Errors
///
/// [`TimedOut`] if it does not hold within `limit`. It is asked at least once.
pub async fn wait_until_async<F, Fut>(limit: Duration, mut condition: F) -> Result<(), TimedOut>
where
    F: FnMut() -> Fut,
    Fut: Future<Output = bool>,
{
    let end = Instant::now() + limit;
    while !condition().await {
        if Instant::now() >= end {
            return Err(TimedOut { limit });
        }
        // waits: the interval between two looks at the condition
        tokio::time::sleep(POLL).await;
    }
    Ok(())
}

/// The blocking form, for what happens before any runtime exists. `Ok(None)` from `attempt` means "not yet".
pub(crate) fn poll_blocking<T, E>(
    limit: Duration,
    mut attempt: impl FnMut() -> Result<Option<T>, E>,
) -> Result<Option<T>, E> {
    let end = Instant::now() + limit;
    loop {
        if let Some(value) = attempt()? {
            return Ok(Some(value));
        }
        if Instant::now() >= end {
            return Ok(None);
        }
        // waits: the interval between two attempts
        std::thread::sleep(POLL);
    }
}
