//! Who goes on with a stream's change: one task for each stream that has one, as long as it has one. It looks again with every tick, and as soon as something
//! was recorded.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use coordinator_core::names::StreamPrefix;
use tokio::sync::Notify;

use super::Progress;
use crate::engine::{Engine, EngineError};

/// After a failure it is looked again after this long at least.
const PAUSE: Duration = Duration::from_millis(500);

/// The streams that have a change under way, as far as this coordinator has seen.
#[derive(Default)]
pub(in crate::engine) struct Drivers(Mutex<HashMap<StreamPrefix, Arc<Wake>>>);

/// How a driver is told that something was recorded.
#[derive(Default)]
struct Wake {
    news: Notify,
    /// Whether something was recorded since the driver last began to look.
    is_due: AtomicBool,
}

impl Engine {
    /// Sees to it that somebody goes on with the stream's change, and looks at it anew.
    pub(in crate::engine) fn drive(&self, stream: &StreamPrefix) {
        let mut drivers = self
            .0
            .resharding
            .drivers
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(wake) = drivers.get(stream) {
            wake.is_due.store(true, Ordering::SeqCst);
            wake.news.notify_one();
            return;
        }
        let wake = Arc::new(Wake::default());
        drivers.insert(stream.clone(), Arc::clone(&wake));
        let (engine, stream) = (self.clone(), stream.clone());
        tokio::spawn(async move {
            tokio::select! {
                () = engine.drive_on(&stream, &wake) => {}
                () = engine.stopped() => {}
            }
        });
    }

    async fn drive_on(&self, stream: &StreamPrefix, wake: &Wake) {
        let tick = self.0.watchtower.tick();
        let mut told: Option<String> = None;
        loop {
            wake.is_due.store(false, Ordering::SeqCst);
            let pause = match self.reshard(stream).await {
                Ok(Progress::Went) => {
                    told = None;
                    continue;
                }
                Ok(Progress::Waits) => tick,
                Ok(Progress::Nothing) => {
                    if self.forget_driver(stream, wake) {
                        return;
                    }
                    tick
                }
                Err(error) => {
                    tell_once(stream, &error, &mut told);
                    tick.max(PAUSE)
                }
            };
            tokio::select! {
                () = wake.news.notified() => {
                    // Members report one after the other: what they record is looked at together.
                    tokio::time::sleep(Duration::from_millis(5)).await;
                }
                () = tokio::time::sleep(pause) => {}
            }
        }
    }

    /// Ends the driver, unless something was recorded since it looked. Whoever records a change from now on starts another one.
    fn forget_driver(&self, stream: &StreamPrefix, wake: &Wake) -> bool {
        let mut drivers = self
            .0
            .resharding
            .drivers
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let is_over = !wake.is_due.load(Ordering::SeqCst);
        if is_over {
            drivers.remove(stream);
        }
        is_over
    }
}

/// Said once, not with every attempt.
fn tell_once(stream: &StreamPrefix, error: &EngineError, told: &mut Option<String>) {
    let text = error.to_string();
    if told.as_ref() != Some(&text) {
        tracing::warn!(%stream, %error, "the change of the shard count does not go on; trying again");
        *told = Some(text);
    }
}
