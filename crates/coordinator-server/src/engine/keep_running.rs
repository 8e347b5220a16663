//! Periodic work is started again when it panics: a coordinator whose work has silently ended would answer as if all were well. Knows nothing of what the
//! work is.

use std::future::Future;
use std::time::Duration;

use super::Engine;

/// For how long work that broke is left alone, so that one that breaks at once does not fill the log.
const PAUSE: Duration = Duration::from_secs(1);

/// Starts work that runs until the engine is stopped.
pub(super) fn keep_running<F>(engine: &Engine, part: &'static str, work: fn(Engine) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let engine = engine.clone();
    tokio::spawn(async move {
        while let Some(panic) = panic_of(work(engine.clone())).await {
            tracing::error!(part, panic, "periodic work broke and is started again");
            engine.0.status.note_break(part);
            tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                () = engine.stopped() => return,
            }
        }
    });
}

/// Runs work, and says by which panic it ended; none where it came to its end.
async fn panic_of(work: impl Future<Output = ()> + Send + 'static) -> Option<String> {
    let error = tokio::spawn(work).await.err()?;
    let panic = error.try_into_panic().ok()?;
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    Some(text.unwrap_or_else(|| "unknown".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_is_told_from_an_end() {
        assert_eq!(panic_of(async {}).await, None);
        let panic = panic_of(async { panic!("on purpose") }).await;
        assert_eq!(panic.as_deref(), Some("on purpose"));
    }
}
